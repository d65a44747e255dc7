// The format of a study, but for its axes.
#include "sim/scenario/study.h"

#include <algorithm>

#include "sim/base/invariant.h"
#include "sim/plan/schedule.h"
#include "sim/scenario/document.h"
#include "sim/scenario/encoding.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/study_axes.h"

namespace sim::scenario {

using training::PlanSpace;

namespace {

struct LimitDraft {
  Limit limit;
  std::optional<Value> least, most;
};

// Money for each of a unit: "2.5 USD/h". `units`: with how many base units each has.
Kind<double> money_per(const std::vector<std::pair<std::string, double>>& units) {
  return {[] { return R"({"type":"string"})"; },
          [units](Reader& reader, const Value& value,
                  const std::string& path) -> std::optional<double> {
            std::vector<std::string> names;
            for (const auto& [unit, amount] : units) {
              names.push_back("USD" + unit);
              const auto number =
                  value.kind == Value::Kind::text ? number_text(value.text) : std::nullopt;
              if (number && number->unit == names.back() && number->number >= 0) {
                return number->number / amount;
              }
            }
            report_shape(reader, value, path,
                         fmt::format("a price with its unit ({})", fmt::join(names, ", ")));
            return std::nullopt;
          }};
}

constexpr double joules_per_kwh = 3.6e6;
Kind<double> per_hour() { return money_per({{"/h", 1}, {"/d", 24}}); }

Kind<std::string> source_kind() { return text(); }

template <class Number>
Section<Sourced> sourced_table(const std::string& doc, Kind<Number> kind) {
  Section<Sourced> table(doc);
  table.required("value", kind, &Sourced::value, doc)
      .required("source", source_kind(), &Sourced::source, "where the figure comes from");
  return table;
}

Section<Price> price_table(const std::string& noun) {
  Section<Price> table("what one costs");
  table.required("type", text(), &Price::type, "name of the type of " + noun)
      .optional("purchase", measure(Dimension::money), &Price::purchase, "of one, bought")
      .optional("rent", per_hour(), &Price::rent, "of one, for an hour, power included")
      .required("source", source_kind(), &Price::source, "where the figure comes from")
      .check([](Reader& reader, const Value& section, const std::string& path, Price& price) {
        price.place = section.name_place();
        if (price.purchase.has_value() != price.rent.has_value()) return;
        reader.error(path, section.name_place(),
                     fmt::format("{} needs either purchase or rent", path));
      });
  return table;
}

Section<Prices> prices_table() {
  const auto sourced = [](const std::string& doc, auto kind) {
    return sourced_table(doc, kind).kind();
  };
  Section<Prices> table("what machines and energy cost");
  table.optional("hosts", list(price_table("host").kind()), &Prices::hosts, "by type of host")
      .optional("devices", list(price_table("device").kind()), &Prices::devices,
                "by type of device")
      .optional("network", sourced("for each device, bought", measure(Dimension::money)),
                &Prices::network, "switches and cables for each device")
      .optional("energy",
                sourced("of energy",
                        money_per({{"/kWh", joules_per_kwh}, {"/MWh", 1000 * joules_per_kwh}})),
                &Prices::energy, "of what is bought; rents include it")
      .optional("pue", sourced("facility power : machine power", number(1, 10)), &Prices::pue,
                "power usage effectiveness")
      .optional("other_power", sourced("for each device", measure(Dimension::power)),
                &Prices::other_power, "switches and storage, for each device")
      .optional("staff", sourced("of the whole cluster, for an hour", per_hour()), &Prices::staff,
                "people who run the cluster, however large it is")
      .optional("upkeep", sourced("of what is bought, each year", share()), &Prices::upkeep,
                "maintenance and space; rents include it")
      .optional(
          "life", measure(Dimension::time, Zero::refused),
          [](Prices& prices, double value) { prices.life = Seconds(value); },
          "over which a purchase is written off")
      .check([](Reader& reader, const Value& section, const std::string& path, Prices& prices) {
        const auto is_bought = [](const Price& price) { return price.purchase.has_value(); };
        const bool buys = std::any_of(prices.hosts.begin(), prices.hosts.end(), is_bought) ||
                          std::any_of(prices.devices.begin(), prices.devices.end(), is_bought) ||
                          prices.network;
        if (buys && !prices.life) {
          reader.error(path, section.name_place(), fmt::format("no life in {}", path),
                       "a purchase becomes a cost of each hour only over so many of them",
                       "life: 1460 d");
        }
        if (buys && (!prices.energy || !prices.pue)) {
          reader.error(path, section.name_place(),
                       fmt::format("no {} in {}", prices.energy ? "pue" : "energy", path),
                       "machines that are bought need power beside");
        }
      });
  return table;
}

Kind<Measure> measure_kind() {
  std::vector<Word<Measure>> words;
  for (const MeasureTraits& one : all_measures()) words.push_back({one.key, one.measure});
  return word<Measure>("quantity", words);
}

Kind<double> bound_kind(Measure measure) {
  switch (measure) {
    case Measure::iteration_time:
      return scenario::measure(Dimension::time);
    case Measure::purchase:
      return scenario::measure(Dimension::money);
    case Measure::cost_per_hour:
      return per_hour();
    case Measure::power:
      return scenario::measure(Dimension::power);
    case Measure::memory:
      return scenario::measure(Dimension::bytes);
    case Measure::effective_time:
      return scenario::measure(Dimension::percent);
    default:
      return scenario::measure(Dimension::count_text);
  }
}

Kind<Value> raw() {
  return {[] { return R"({"type":["string","number"]})"; },
          [](Reader&, const Value& value, const std::string&) { return std::optional(value); }};
}

Kind<Limit> limit_kind() {
  Section<LimitDraft> table("a limit that candidates must keep");
  table
      .required(
          "quantity", measure_kind(), [](LimitDraft& draft, Measure m) { draft.limit.measure = m; },
          "what is limited")
      .optional("least", raw(), &LimitDraft::least, "at least so much")
      .optional("most", raw(), &LimitDraft::most, "at most so much")
      .check([](Reader& reader, const Value& section, const std::string& path, LimitDraft& draft) {
        draft.limit.place = section.name_place();
        const Kind<double> bound = bound_kind(draft.limit.measure);
        if (draft.least) draft.limit.least = bound.read(reader, *draft.least, path + ".least");
        if (draft.most) draft.limit.most = bound.read(reader, *draft.most, path + ".most");
        if (draft.least || draft.most) return;
        reader.error(path, section.name_place(), fmt::format("{} needs least or most", path));
      });
  return converted<Limit>(table.kind(), [](const LimitDraft& draft) { return draft.limit; });
}

// A list, or one alone.
template <class T>
Kind<std::vector<T>> one_or_more(Kind<T> item) {
  const Kind<std::vector<T>> several = list(item, 1);
  return {[item, several] {
            return fmt::format(R"({{"anyOf":[{},{}]}})", item.schema(), several.schema());
          },
          [item, several](Reader& reader, const Value& value,
                          const std::string& path) -> std::optional<std::vector<T>> {
            if (value.kind == Value::Kind::list) return several.read(reader, value, path);
            const auto one = item.read(reader, value, path);
            return one ? std::optional(std::vector<T>{*one}) : std::nullopt;
          }};
}

Kind<Filter> filter_kind() {
  return {[] { return R"({"type":"string"})"; },
          [](Reader& reader, const Value& value, const std::string& path) -> std::optional<Filter> {
            if (value.kind != Value::Kind::text) {
              report_shape(reader, value, path, "a comparison of numbers and fields");
              return std::nullopt;
            }
            auto parsed = parse_comparison(value.text);
            if (const auto* error = std::get_if<ExpressionError>(&parsed)) {
              const std::string before = value.text.substr(0, error->at);
              reader.error(path, value.place(),
                           fmt::format("'{}' is no comparison: {} after '{}'", shown(value.text),
                                       error->message, shown(before)),
                           "", "such as plan.tensor * plan.pipeline.stages <= 16");
              return std::nullopt;
            }
            return Filter{std::get<Comparison>(std::move(parsed)), value.place()};
          }};
}

Kind<plan::ScheduleKind> searched_schedule() {
  std::vector<Word<plan::ScheduleKind>> words;
  for (const plan::ScheduleTraits& one : plan::all_schedules()) {
    words.push_back({one.name, one.flushes ? std::optional(one.kind) : std::nullopt});
  }
  return word<plan::ScheduleKind>("schedule", words);
}

Section<PlanSpace> search_table() {
  const auto degrees = [] { return list(small_count(1), 1); };
  Section<PlanSpace> table("plans that are tried on every candidate");
  table
      .optional("tensor", degrees(), &PlanSpace::tensor,
                "degrees; those that fit the dnn, up to a scale-up domain, unless written")
      .optional("context", degrees(), &PlanSpace::context, "degrees; the base's unless written")
      .optional("stages", degrees(), &PlanSpace::stages, "all that divide unless written")
      .optional("virtual_stages", degrees(), &PlanSpace::virtual_stages,
                "of interleaved-1f1b; all that divide the layers unless written")
      .optional("micro_batch", degrees(), &PlanSpace::micro_batch, "powers of two unless written")
      .optional("schedules", list(searched_schedule(), 1), &PlanSpace::schedules,
                "1f1b and interleaved-1f1b unless written")
      .optional("recompute",
                list(word<dnn::Recompute>("recompute", {{"none", dnn::Recompute::none},
                                                        {"selective", dnn::Recompute::selective},
                                                        {"alternate", dnn::Recompute::alternate},
                                                        {"full", dnn::Recompute::full}}),
                     1),
                &PlanSpace::recompute, "all unless written")
      .optional("sharding",
                list(word<plan::Sharding>("sharding", {{"none", plan::Sharding::none},
                                                       {"zero-1", plan::Sharding::zero1},
                                                       {"zero-2", plan::Sharding::zero2},
                                                       {"zero-3", plan::Sharding::zero3}}),
                     1),
                &PlanSpace::sharding, "the base's unless written")
      .defaulted("top", small_count(1, 1000), &PlanSpace::top, "10", "plans to report");
  return table;
}

Section<Study> study_table() {
  Section<Study> table("many scenarios, compared");
  table.optional("name", text(), &Study::name, "for people; that of the file unless written")
      .required(
          "base", text(), [](Study& study, const std::string& base) { study.base = base; },
          "the scenario that is changed, relative to this file")
      .optional("axes", axes_kind(), &Study::axes, "what changes; crossed with each other")
      .optional("filters", list(filter_kind()), &Study::filters,
                "comparisons that every candidate must meet")
      .required("objective", one_or_more(measure_kind()), &Study::objectives,
                "what is wanted; the first orders the table, all of them span the Pareto front")
      .optional("constraints", list(limit_kind()), &Study::constraints,
                "limits; that the memory fits is always one")
      .optional("prices", prices_table().kind(), &Study::prices, "what machines and energy cost")
      .optional("search", search_table().kind(), &Study::search,
                "plans that are tried on every candidate; the base's plan alone unless written")
      .defaulted("failures", flag(), &Study::counts_failures, "false",
                 "count the scenario's failures, checkpoints and recovery: rates are those of its "
                 "effective training time");
  return table;
}

struct StudyFile {
  Study study;
};

Section<StudyFile> file_table() {
  Section<StudyFile> table("a study of Maquette");
  table
      .required(
          "maquette", small_count(1, 1), [](StudyFile&, int) {}, "1, the version of the format")
      .required(
          "study", study_table().kind(),
          [](StudyFile& file, Study study) { file.study = std::move(study); }, "what is studied");
  return table;
}

void check_prices_are_there(Reader& reader, const Study& study) {
  const auto require = [&](Measure measure) {
    const MeasureTraits& t = traits(measure);
    if (t.needs_prices && !study.prices) {
      reader.error("study.prices", reader.place("study"), fmt::format("{} without prices", t.key),
                   "", "prices: {hosts: ..., life: ...}");
    } else if (t.measure == Measure::tokens_per_mwh && (!study.prices || !study.prices->pue)) {
      reader.error("study.prices", reader.place("study"), fmt::format("{} without a pue", t.key),
                   "energy is that of the facility", "prices: {pue: {value: 1.2, source: ...}}");
    }
  };
  for (const Measure measure : study.objectives) require(measure);
  for (const Limit& limit : study.constraints) require(limit.measure);
}

void check_failures(Reader& reader, const Study& study) {
  const auto wants = [](Measure measure) { return measure == Measure::effective_time; };
  const bool is_wanted = std::any_of(study.objectives.begin(), study.objectives.end(), wants) ||
                         std::any_of(study.constraints.begin(), study.constraints.end(),
                                     [&](const Limit& limit) { return wants(limit.measure); });
  if (is_wanted && !study.counts_failures) {
    reader.error("study.failures", reader.place("study"),
                 fmt::format("{} without failures", traits(Measure::effective_time).key), "",
                 "failures: true");
  }
  if (study.counts_failures && study.search) {
    reader.error("study.search", reader.place("study.search"), "search beside failures",
                 "plans are ranked by their iteration time alone",
                 "search first, then count the failures of the plans found");
  }
}

}  // namespace

const std::vector<MeasureTraits>& all_measures() {
  static const std::vector<MeasureTraits> all = {
      {Measure::iteration_time, "iteration time", "iteration-time", "s", false, false},
      {Measure::tokens_per_second, "tokens per second", "tokens-per-second", "1/s", true, false},
      {Measure::tokens_per_dollar, "tokens per dollar", "tokens-per-dollar", "1/USD", true, true},
      {Measure::tokens_per_mwh, "tokens per MWh", "tokens-per-mwh", "1/MWh", true, false},
      {Measure::purchase, "purchase", "purchase", "USD", false, true},
      {Measure::cost_per_hour, "cost per hour", "cost-per-hour", "USD/h", false, true},
      {Measure::power, "power", "power", "W", false, false},
      {Measure::memory, "memory", "memory", "byte", false, false},
      {Measure::devices, "devices", "devices", "1", false, false},
      {Measure::effective_time, "effective training time", "effective-training-time", "1", true,
       false},
  };
  return all;
}

const MeasureTraits& traits(Measure measure) {
  for (const MeasureTraits& one : all_measures()) {
    if (one.measure == measure) return one;
  }
  bug("a measure has no traits");
}

std::string study_schema() {
  const std::string schema = file_table().schema();
  const std::string head =
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Maquette study\",";
  return json_indented(head + schema.substr(1));
}

std::optional<Study> read_study(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  auto root = read_document(file, {name, 0, 0, 1}, diagnostics);
  if (!root) return std::nullopt;
  if (root->kind != Value::Kind::map) {
    diagnostics.error({name, 0, 0, 1}, "no study: the file holds no map", "",
                      "a study begins with 'maquette: 1' and 'study:'");
    return std::nullopt;
  }
  root->spot = root->named_at = {0, 0, 1};
  Reader reader(diagnostics, "", file.parent_path());
  reader.add_place("", {name, 0, 0, 1});
  StudyFile read;
  file_table().read(reader, *root, "", read);
  if (diagnostics.has_errors()) return std::nullopt;
  check_prices_are_there(reader, read.study);
  check_failures(reader, read.study);
  read.study.file = file;
  if (read.study.name.empty()) read.study.name = file.stem().string();
  std::error_code status;
  const auto base = file.parent_path() / read.study.base;
  if (!std::filesystem::exists(base, status)) {
    reader.error("study.base", reader.place("study.base"),
                 fmt::format("no file '{}' for study.base", read.study.base.generic_string()),
                 "the path is relative to the study's file");
  }
  read.study.base = base.lexically_normal();
  if (diagnostics.has_errors()) return std::nullopt;
  return std::move(read.study);
}

}  // namespace sim::scenario
