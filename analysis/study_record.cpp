// Fields between tabs, in one order for both ways.
#include "analysis/study_record.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/base/invariant.h"

namespace analysis {

using sim::scenario::Measure;

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\\\";
    else if (c == '\t')
      result += "\\t";
    else if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result;
}

std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
    } else {
      const char next = text[++i];
      result += next == 't' ? '\t' : next == 'n' ? '\n' : next;
    }
  }
  return result;
}

class Writer {
 public:
  void operator()(std::string& text) { add(escaped(text)); }
  void operator()(std::int64_t& number) { add(fmt::format("{}", number)); }
  void operator()(std::uint64_t& number) { add(fmt::format("{}", number)); }
  // The shortest digits that read back as the same number.
  void operator()(double& number) { add(fmt::format("{}", number)); }
  std::string text;

 private:
  void add(const std::string& field) { text += (text.empty() ? "" : "\t") + field; }
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}
  void operator()(std::string& text) { text = unescaped(next()); }
  template <class Number>
  void operator()(Number& number) {
    const std::string field = next();
    const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), number);
    is_good_ = is_good_ && status == std::errc() && end == field.data() + field.size();
  }
  bool is_done() const { return is_good_ && at_ > text_.size(); }

 private:
  std::string next() {
    if (at_ > text_.size()) {
      is_good_ = false;
      return "";
    }
    const std::size_t end = std::min(text_.find('\t', at_), text_.size());
    std::string field = text_.substr(at_, end - at_);
    at_ = end + 1;
    return field;
  }
  const std::string& text_;
  std::size_t at_ = 0;
  bool is_good_ = true;
};

// REQUIRES of a reader: what it reads may be anything.
template <class Archive, class Items, class Each>
void list(Archive& archive, Items& items, Each each) {
  constexpr std::int64_t items_max = 1'000'000;
  auto count = static_cast<std::int64_t>(items.size());
  archive(count);
  if (count < 0 || count > items_max) return;
  items.resize(static_cast<std::size_t>(count));
  for (auto& item : items) each(item);
}

template <class Archive>
void fields(Archive& archive, StudyRecord& r) {
  auto verdict = static_cast<std::int64_t>(r.verdict);
  archive(r.candidate);
  archive(verdict);
  r.verdict = static_cast<Verdict>(verdict);
  for (std::string* text : {&r.why, &r.hint, &r.plan}) archive(*text);
  archive(r.devices);
  archive(r.iteration_ps);
  for (double* number : {&r.interval.p10_s, &r.interval.p90_s, &r.interval.model,
                         &r.interval.jitter, &r.tokens_per_second, &r.model_flops_utilization,
                         &r.memory_peak, &r.memory_capacity, &r.power_watts, &r.purchase_usd,
                         &r.usd_per_hour, &r.effective_time, &r.effective_time_error}) {
    archive(*number);
  }
  archive(r.interval.device_type);
  archive(r.interval.software);
  archive(r.interval.stack);
  for (double& part : r.interval.families) archive(part);
  for (std::int64_t& part : r.time) archive(part);
  archive(r.fingerprint);
  list(archive, r.found, [&](FoundPlan& found) {
    archive(found.plan);
    archive(found.iteration_ps);
  });
  for (std::int64_t* count : {&r.plans, &r.plans_fitting, &r.plans_simulated}) archive(*count);
  list(archive, r.notes, [&](std::string& note) { archive(note); });
}

std::optional<double> known(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::acceptable:
      return "acceptable";
    case Verdict::over_limit:
      return "over a limit";
    case Verdict::does_not_fit:
      return "does not fit";
    case Verdict::wrong:
      return "impossible";
    case Verdict::stuck:
      return "stuck";
    case Verdict::too_large:
      return "too large";
  }
  sim::bug("unknown verdict");
}

std::optional<double> StudyRecord::value(Measure measure) const {
  constexpr double picoseconds = 1e12, seconds_per_hour = 3600, watts_per_mw = 1e6;
  switch (measure) {
    case Measure::iteration_time:
      return known(static_cast<double>(iteration_ps) / picoseconds);
    case Measure::tokens_per_second:
      return known(tokens_per_second);
    case Measure::tokens_per_dollar:
      if (usd_per_hour <= 0) return std::nullopt;
      return known(tokens_per_second * seconds_per_hour / usd_per_hour);
    case Measure::tokens_per_mwh:
      if (power_watts <= 0) return std::nullopt;
      return known(tokens_per_second * seconds_per_hour / (power_watts / watts_per_mw));
    case Measure::purchase:
      return known(purchase_usd);
    case Measure::cost_per_hour:
      return known(usd_per_hour);
    case Measure::power:
      return known(power_watts);
    case Measure::memory:
      return known(memory_peak);
    case Measure::devices:
      return known(static_cast<double>(devices));
    case Measure::effective_time:
      return known(effective_time);
  }
  sim::bug("unknown measure");
}

std::string encoded(const StudyRecord& record) {
  Writer writer;
  StudyRecord copy = record;
  fields(writer, copy);
  return writer.text;
}

std::optional<StudyRecord> decoded(const std::string& text) {
  Reader reader(text);
  StudyRecord record;
  fields(reader, record);
  const bool is_ours = reader.is_done() && record.candidate >= 0 &&
                       record.verdict >= Verdict::acceptable &&
                       record.verdict <= Verdict::too_large;
  return is_ours ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace analysis
