// A line a fact, and what differs between two such files.
#include "analysis/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <stdexcept>

#include "analysis/json_writer.h"
#include "analysis/svg.h"

namespace analysis {

namespace {

constexpr const char* first_line = "maquette bench 1";

double number_of(const std::string& text, int line) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("line {}: '{}' is no number", line, text));
  }
  return number;
}

// "name\tvalue": both, or an error.
std::pair<std::string, std::string> fields_of(const std::string& text, int line) {
  const std::size_t tab = text.find('\t');
  if (tab == std::string::npos) {
    throw std::runtime_error(fmt::format("line {}: no name, tab and value", line));
  }
  return {text.substr(0, tab), text.substr(tab + 1)};
}

const BenchEntry* find(const BenchRecord& record, const std::string& scenario) {
  const auto found = std::find_if(record.entries.begin(), record.entries.end(),
                                  [&](const BenchEntry& e) { return e.scenario == scenario; });
  return found == record.entries.end() ? nullptr : &*found;
}

double relative(double before, double after) {
  if (before == after) return 0;
  return before == 0 ? std::copysign(INFINITY, after) : (after - before) / std::abs(before);
}

std::string signed_percent(double change) {
  return std::isfinite(change) ? fmt::format("{:+.3g} %", 100 * change) : "from nothing";
}

void compare_entries(const BenchEntry& before, const BenchEntry& after,
                     const Tolerances& tolerances, std::vector<BenchChange>& changes) {
  const std::size_t known = changes.size();
  if (before.error != after.error) {
    changes.push_back({before.scenario, "error", before.error.empty() ? "none" : before.error,
                       after.error.empty() ? "none" : after.error, 0, !after.error.empty()});
  }
  std::set<std::string> names;
  for (const auto& [name, value] : before.quantities) names.insert(name);
  for (const auto& [name, value] : after.quantities) names.insert(name);
  for (const std::string& name : names) {
    const auto a = before.quantities.find(name), b = after.quantities.find(name);
    if (a == before.quantities.end() || b == after.quantities.end()) {
      if (before.error != after.error) continue;  // said already
      const auto text = [](auto found, auto end) {
        return found == end ? std::string("none") : fmt::format("{:.9g}", found->second);
      };
      changes.push_back({before.scenario, name, text(a, before.quantities.end()),
                         text(b, after.quantities.end()), 0, true});
    } else if (const double change = relative(a->second, b->second); change != 0) {
      changes.push_back({before.scenario, name, fmt::format("{:.9g}", a->second),
                         fmt::format("{:.9g}", b->second), change,
                         std::abs(change) > tolerances.of(name)});
    }
  }
  if (changes.size() == known && before.fingerprint != after.fingerprint) {
    changes.push_back(
        {before.scenario, "fingerprint", before.fingerprint, after.fingerprint, 0, false});
  }
}

}  // namespace

double Tolerances::of(const std::string& quantity) const {
  const auto found = by_quantity.find(quantity);
  return found == by_quantity.end() ? usual : found->second;
}

bool BenchComparison::is_regression() const {
  return std::any_of(changes.begin(), changes.end(),
                     [](const BenchChange& c) { return c.is_regression; });
}

std::string bench_text(const BenchRecord& record) {
  std::string text = fmt::format("{}\nsuite\t{}\n", first_line, record.suite);
  for (const BenchEntry& entry : record.entries) {
    text += fmt::format("\nscenario\t{}\n", entry.scenario);
    if (!entry.error.empty()) text += fmt::format("error\t{}\n", entry.error);
    for (const auto& [name, value] : entry.quantities) text += fmt::format("{}\t{}\n", name, value);
    if (!entry.fingerprint.empty()) text += fmt::format("fingerprint\t{}\n", entry.fingerprint);
    text += fmt::format("cpu time [s]\t{:.6f}\n", entry.cpu_time_s);
  }
  return text;
}

BenchRecord read_bench(const std::string& text) {
  BenchRecord record;
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != first_line) {
    throw std::runtime_error(fmt::format("the first line is not '{}'", first_line));
  }
  for (int number = 2; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto [name, value] = fields_of(line, number);
    if (name == "suite") {
      record.suite = value;
    } else if (name == "scenario") {
      record.entries.push_back({value, "", {}, "", 0});
    } else if (record.entries.empty()) {
      throw std::runtime_error(fmt::format("line {}: '{}' before any scenario", number, name));
    } else if (name == "error") {
      record.entries.back().error = value;
    } else if (name == "fingerprint") {
      record.entries.back().fingerprint = value;
    } else if (name == "cpu time [s]") {
      record.entries.back().cpu_time_s = number_of(value, number);
    } else {
      record.entries.back().quantities[name] = number_of(value, number);
    }
  }
  return record;
}

BenchComparison compare(const BenchRecord& before, const BenchRecord& after,
                        const Tolerances& tolerances) {
  BenchComparison result;
  for (const BenchEntry& entry : before.entries) {
    result.scenarios.push_back(entry.scenario);
    const BenchEntry* other = find(after, entry.scenario);
    if (!other) {
      result.changes.push_back({entry.scenario, "scenario", "there", "missing", 0, true});
      continue;
    }
    compare_entries(entry, *other, tolerances, result.changes);
    result.cpu_before_s += entry.cpu_time_s;
    result.cpu_after_s += other->cpu_time_s;
  }
  for (const BenchEntry& entry : after.entries) {
    if (find(before, entry.scenario)) continue;
    result.scenarios.push_back(entry.scenario);
    result.changes.push_back({entry.scenario, "scenario", "missing", "new", 0, false});
  }
  const double growth = relative(result.cpu_before_s, result.cpu_after_s);
  if (tolerances.cpu_time > 0 && growth > tolerances.cpu_time) {
    result.scenarios.emplace_back("all");
    result.changes.push_back({"all", "cpu time [s]", fmt::format("{:.3g}", result.cpu_before_s),
                              fmt::format("{:.3g}", result.cpu_after_s), growth, true});
  }
  return result;
}

std::string comparison_text(const BenchComparison& comparison) {
  std::string text, scenario;
  for (const BenchChange& c : comparison.changes) {
    if (c.scenario != scenario) text += c.scenario + "\n";
    scenario = c.scenario;
    text += fmt::format("  {:10} {}: {} -> {}{}\n", c.is_regression ? "REGRESSION" : "change",
                        c.quantity, c.before, c.after,
                        c.change == 0 ? "" : fmt::format(" ({})", signed_percent(c.change)));
  }
  const auto beyond = std::count_if(comparison.changes.begin(), comparison.changes.end(),
                                    [](const BenchChange& c) { return c.is_regression; });
  return text + fmt::format(
                    "{} scenarios, {} changes, {} beyond tolerance; processor time {:.3g} s "
                    "-> {:.3g} s\n",
                    comparison.scenarios.size(), comparison.changes.size(), beyond,
                    comparison.cpu_before_s, comparison.cpu_after_s);
}

std::string comparison_markdown(const BenchComparison& comparison) {
  if (comparison.changes.empty()) {
    return fmt::format("**Nothing changed** in {} scenarios.\n", comparison.scenarios.size());
  }
  std::string text =
      "| | scenario | quantity | before | after | change |\n|---|---|---|---|---|---|\n";
  for (const BenchChange& c : comparison.changes) {
    std::string row = fmt::format(
        "| {} | {} | {} | {} | {} | {} |\n", c.is_regression ? "**regression**" : "change",
        c.scenario, c.quantity, c.before, c.after, c.change == 0 ? "" : signed_percent(c.change));
    text += row;
  }
  return text;
}

std::string comparison_junit(const BenchComparison& comparison) {
  std::string cases;
  int failures = 0;
  for (const std::string& scenario : comparison.scenarios) {
    std::string said;
    bool is_regression = false;
    for (const BenchChange& c : comparison.changes) {
      if (c.scenario != scenario) continue;
      is_regression = is_regression || c.is_regression;
      said += fmt::format("{}: {} -> {}{}\n", c.quantity, c.before, c.after,
                          c.change == 0 ? "" : " (" + signed_percent(c.change) + ")");
    }
    failures += is_regression ? 1 : 0;
    cases += fmt::format("  <testcase classname=\"maquette.bench\" name=\"{}\">",
                         escaped_html(scenario));
    if (!said.empty()) {
      const char* tag = is_regression ? "failure" : "system-out";
      cases += fmt::format("<{0}>{1}</{0}>", tag, escaped_html(said));
    }
    cases += "</testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"maquette bench\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      comparison.scenarios.size(), failures, cases);
}

std::string comparison_json(const BenchComparison& comparison) {
  JsonWriter json;
  json.open_object().member("scenarios", comparison.scenarios);
  json.member("regression", comparison.is_regression());
  json.member("cpu_time_before_s", comparison.cpu_before_s);
  json.member("cpu_time_after_s", comparison.cpu_after_s);
  json.key("changes").open_array();
  for (const BenchChange& c : comparison.changes) {
    json.open_object().member("scenario", c.scenario).member("quantity", c.quantity);
    json.member("before", c.before).member("after", c.after).member("change", c.change);
    json.member("regression", c.is_regression).close_object();
  }
  json.close_array().close_object();
  return json.take();
}

}  // namespace analysis
