// Axes: lists, ranges and zipped lists of a field's values.
#include "sim/scenario/study_axes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sim::scenario {
namespace {

constexpr int values_of_axis_max = 100'000;

struct RangeDraft {
  NumberText from, to;
  std::optional<NumberText> step;
  std::optional<double> factor;
  std::optional<int> count;
};
struct AxisDraft {
  std::optional<std::string> path;
  std::optional<std::vector<Value>> values;
  std::optional<RangeDraft> range, log_range;
  std::optional<std::vector<Axis>> zip;
  std::map<std::string, std::vector<std::string>> when;
};

Kind<Value> any_value() {
  return {[] { return "{}"; },
          [](Reader&, const Value& value, const std::string&) { return std::optional(value); }};
}

Kind<NumberText> number_with_unit() {
  return {
      [] { return R"({"type":["number","string"]})"; },
      [](Reader& reader, const Value& value, const std::string& path) -> std::optional<NumberText> {
        auto found = value.kind == Value::Kind::text ? number_text(value.text) : std::nullopt;
        if (!found) report_shape(reader, value, path, "a number, with its unit if it has one");
        return found;
      }};
}

Kind<std::map<std::string, std::vector<std::string>>> condition_kind() {
  using Condition = std::map<std::string, std::vector<std::string>>;
  return {
      [] { return R"({"type":"object"})"; },
      [](Reader& reader, const Value& value, const std::string& path) -> std::optional<Condition> {
        if (value.kind != Value::Kind::map) {
          report_shape(reader, value, path, "a map from fields to the values they may have");
          return std::nullopt;
        }
        Condition result;
        for (const Entry& entry : value.entries) {
          const Value& allowed = entry.value;
          std::vector<Value> items = allowed.items;
          if (allowed.kind == Value::Kind::text) items = {allowed};
          for (const Value& item : items) result[entry.key].push_back(item.text);
          if (items.empty()) report_shape(reader, allowed, path, "a value or a list of them");
        }
        return result;
      }};
}

// As it is written after --set: plain where YAML reads that as one text.
std::string written(const Value& value) {
  const bool is_plain = value.kind == Value::Kind::text && !value.is_quoted &&
                        !value.text.empty() &&
                        value.text.find_first_of("{}[],:#&*!|>'\"%@`\\\n") == std::string::npos;
  return is_plain ? value.text : json_of(value);
}

std::string shown_value(const Value& value) {
  if (value.kind == Value::Kind::text) return value.text;
  std::string text;
  for (const char c : json_of(value)) {
    if (c != '"') text += c;
    if (c == ',' || c == ':') text += ' ';
  }
  return text;
}

std::string number_written(double number, const std::string& unit) {
  return fmt::format("{:.12g}{}{}", number, unit.empty() ? "" : " ", unit);
}

Section<RangeDraft> range_table(bool is_log) {
  Section<RangeDraft> table(is_log ? "values at equal ratios" : "values at equal distances");
  table.required("from", number_with_unit(), &RangeDraft::from, "the first value")
      .required("to", number_with_unit(), &RangeDraft::to, "the last, if the steps meet it")
      .optional("count", small_count(2, values_of_axis_max), &RangeDraft::count,
                "so many values, both ends among them");
  if (is_log) {
    table.optional("factor", number(1.0001, 1e6), &RangeDraft::factor, "from one to the next");
  } else {
    table.optional("step", number_with_unit(), &RangeDraft::step, "from one to the next");
  }
  table.check([is_log](Reader& reader, const Value& section, const std::string& path,
                       RangeDraft& range) {
    const auto fail = [&](const std::string& message, const std::string& hint) {
      reader.error(path, section.name_place(), message, "", hint);
    };
    if (range.from.unit != range.to.unit || (range.step && range.step->unit != range.from.unit)) {
      fail(fmt::format("units of {} that differ", path), "write all in one unit");
    } else if (range.to.number <= range.from.number || (is_log && range.from.number <= 0)) {
      fail(fmt::format("{} does not rise{}", path, is_log ? " from more than 0" : ""), "");
    } else if (range.count.has_value() ==
               (is_log ? range.factor.has_value() : range.step.has_value())) {
      fail(fmt::format("{} needs either count or {}", path, is_log ? "factor" : "step"), "");
    } else if (range.step &&
               (range.step->number <= 0 ||
                (range.to.number - range.from.number) / range.step->number > values_of_axis_max)) {
      fail(fmt::format("the step of {} gives more than {} values", path, values_of_axis_max), "");
    }
  });
  return table;
}

bool is_whole(double number) { return number == std::floor(number) && std::abs(number) < 1e15; }

std::vector<double> numbers_of(const RangeDraft& range, bool is_log) {
  const double from = range.from.number, to = range.to.number;
  constexpr double slack = 1e-9;  // a last step that misses `to` by rounding still counts
  std::vector<double> result;
  if (range.count) {
    const bool is_rounded = is_log && range.from.unit.empty() && is_whole(from) && is_whole(to);
    for (int i = 0; i < *range.count; ++i) {
      const double share = static_cast<double>(i) / (*range.count - 1);
      const double value = is_log ? from * std::pow(to / from, share) : from + (to - from) * share;
      result.push_back(is_rounded ? std::round(value) : value);
    }
  } else if (is_log) {
    for (double v = from; v <= to * (1 + slack); v *= *range.factor) result.push_back(v);
  } else {
    const double step = range.step->number;
    for (int i = 0; from + i * step <= to + step * slack; ++i) result.push_back(from + i * step);
  }
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

void take_values(Axis& axis, std::vector<std::string> written, std::vector<std::string> shown) {
  axis.values.push_back(std::move(written));
  axis.shown.push_back(std::move(shown));
}

// Values that change together, side by side.
bool take_zip(Reader& reader, const Value& section, const std::string& path,
              const std::vector<Axis>& parts, Axis& axis) {
  for (const Axis& part : parts) {
    if (part.values.size() != parts.front().values.size()) {
      reader.error(
          path, section.name_place(),
          fmt::format("{} values of {} beside {} of {}", part.values.size(), part.paths.front(),
                      parts.front().values.size(), parts.front().paths.front()),
          "zipped fields change together, so they have equally many values");
      return false;
    }
    axis.paths.insert(axis.paths.end(), part.paths.begin(), part.paths.end());
  }
  for (std::size_t i = 0; i < parts.front().values.size(); ++i) {
    take_values(axis, {}, {});
    for (const Axis& part : parts) {
      const auto append = [i](auto& to, const auto& from) {
        to.back().insert(to.back().end(), from[i].begin(), from[i].end());
      };
      append(axis.values, part.values);
      append(axis.shown, part.shown);
    }
  }
  return true;
}

std::optional<Axis> axis_of(Reader& reader, const Value& value, const std::string& path,
                            const AxisDraft& draft) {
  Axis axis;
  axis.when = draft.when;
  axis.place = value.name_place();
  const int forms = (draft.values ? 1 : 0) + (draft.range ? 1 : 0) + (draft.log_range ? 1 : 0) +
                    (draft.zip ? 1 : 0);
  if (forms != 1 || draft.path.has_value() == draft.zip.has_value()) {
    reader.error(path, value.name_place(),
                 fmt::format("{} is not one of the forms of an axis", path), "",
                 "write path with values, range or log_range; or zip, a list of such axes");
    return std::nullopt;
  }
  if (draft.zip) {
    if (!take_zip(reader, value, path, *draft.zip, axis)) return std::nullopt;
    return axis;
  }
  axis.paths = {*draft.path};
  if (draft.values) {
    for (const Value& one : *draft.values) take_values(axis, {written(one)}, {shown_value(one)});
    return axis;
  }
  const RangeDraft& range = draft.range ? *draft.range : *draft.log_range;
  for (const double number : numbers_of(range, draft.log_range.has_value())) {
    const std::string text = number_written(number, range.from.unit);
    take_values(axis, {text}, {text});
  }
  return axis;
}

Section<AxisDraft> axis_table(bool may_zip);

Kind<Axis> axis_kind(bool may_zip) {
  const auto table = std::make_shared<const Section<AxisDraft>>(axis_table(may_zip));
  return {
      [table] { return table->schema(); },
      [table](Reader& reader, const Value& value, const std::string& path) -> std::optional<Axis> {
        const auto draft = table->whole(reader, value, path);
        return draft ? axis_of(reader, value, path, *draft) : std::nullopt;
      }};
}

Section<AxisDraft> axis_table(bool may_zip) {
  Section<AxisDraft> table("one field, or several together, and the values to try");
  table.optional("path", text(), &AxisDraft::path, "the field, as after --set")
      .optional("values", list(any_value(), 1), &AxisDraft::values, "as the scenario writes them")
      .optional("range", range_table(false).kind(), &AxisDraft::range, "values at equal distances")
      .optional("log_range", range_table(true).kind(), &AxisDraft::log_range,
                "values at equal ratios");
  if (may_zip) {
    table
        .optional("zip", list(axis_kind(false), 1), &AxisDraft::zip,
                  "axes that change together, with equally many values")
        .optional("when", condition_kind(), &AxisDraft::when,
                  "fields and the values they must have for this axis to be there");
  }
  return table;
}

}  // namespace

std::optional<NumberText> number_text(const std::string& text) {
  NumberText result;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (status != std::errc()) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - text.data());
  if (length == text.size()) return result;
  if (text[length] != ' ' || length + 1 == text.size()) return std::nullopt;
  result.unit = text.substr(length + 1);
  return result;
}

Kind<std::vector<Axis>> axes_kind() { return list(axis_kind(true)); }

}  // namespace sim::scenario
