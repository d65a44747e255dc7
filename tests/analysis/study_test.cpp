// What a study says of its candidates, and what survives in its logs.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "analysis/bench.h"
#include "analysis/cost.h"
#include "analysis/study_log.h"
#include "analysis/study_plots.h"
#include "analysis/study_result.h"
#include "tests/approximately.h"

using namespace analysis;
using sim::approximately;
using sim::scenario::Measure;

namespace {

StudyRecord record_of(std::int64_t candidate, double tokens, double usd_per_hour) {
  StudyRecord record;
  record.candidate = candidate;
  record.verdict = Verdict::acceptable;
  record.iteration_ps = 1'500'000'000'000;
  record.tokens_per_second = tokens;
  record.usd_per_hour = usd_per_hour;
  record.why = "a\ttab, a\nline and a \\";
  record.found = {{"plan.tensor=2", 7}, {"", 9}};
  record.notes = {"one", ""};
  return record;
}

StudyResult study_of(const std::vector<std::pair<double, double>>& tokens_and_costs) {
  StudyResult result;
  result.study.name = "a < b";
  result.study.objectives = {Measure::tokens_per_second, Measure::cost_per_hour};
  result.study.axes = {{{"x"}, {{"1"}, {"2"}}, {{"1"}, {"2"}}, {}, {}},
                       {{"y"}, {{"1"}, {"2"}}, {{"1"}, {"2"}}, {}, {}}};
  for (const auto& [tokens, cost] : tokens_and_costs) {
    const auto n = static_cast<std::int64_t>(result.records.size());
    result.records.push_back(record_of(n, tokens, cost));
    result.candidates.push_back({{{"x", n % 2 ? "2" : "1"}, {"y", n / 2 ? "2" : "1"}},
                                 {n % 2 ? "2" : "1", n / 2 ? "2" : "1"}});
  }
  return result;
}

struct TemporaryFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("study-log" + std::to_string(getpid()));
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("study: one host for 292,000 USD over four years, and its power") {
  // 292000 / (1460 x 24 = 35040 h) = 8.3333 USD/h; (8 x 700 + 3400) W x 1.25 = 11.25 kW,
  // x 0.08 USD/kWh = 0.9 USD/h.
  sim::scenario::Scenario scenario;
  topology::HostType type;
  type.name = "box";
  type.device_type = "gpu";
  type.devices = 8;
  type.power_watts = 3400;
  scenario.cluster.hosts = {{"h", 1, type}};
  scenario.device_types["gpu"].power_watts = 700;
  sim::scenario::Prices prices;
  prices.hosts = {{"box", 292'000.0, std::nullopt, "a quotation", {}}};
  prices.energy = {0.08 / 3.6e6, "a bill"};
  prices.pue = {1.25, "a meter"};
  prices.life = sim::Seconds(1460 * 86400.0);
  const Cost bought = cost_of(scenario, prices);
  CHECK(bought.purchase_usd == 292'000);
  CHECK(bought.power_watts == 11'250);
  CHECK(bought.usd_per_hour == approximately(292'000.0 / 35'040 + 0.9));
  // 6 % of 292,000 USD are 17,520 a year of 8,760 h.
  prices.upkeep = {0.06, "a contract"};
  prices.staff = {5, "a payroll"};
  CHECK(cost_of(scenario, prices).usd_per_hour == approximately(292'000.0 / 35'040 + 0.9 + 2 + 5));
  // Rented by the device, power included: 8 x 2.5 = 20 USD/h.
  prices.hosts.clear();
  prices.devices = {{"gpu", std::nullopt, 2.5, "a list", {}}};
  CHECK(cost_of(scenario, prices).usd_per_hour == 20 + 5);
  prices.devices.clear();
  CHECK(cost_of(scenario, prices).missing ==
        std::vector<std::string>{"no price of host type 'box' or device type 'gpu'"});
}

TEST_CASE("study: tokens per dollar and per MWh from rates") {
  // 1000 /s are 3.6 M/h; over 7.2 USD/h that is 500,000 a dollar; at 0.5 MW, 7.2 M a MWh.
  StudyRecord record = record_of(0, 1000, 7.2);
  record.power_watts = 500'000;
  CHECK(record.value(Measure::tokens_per_dollar) == 500'000.0);
  CHECK(record.value(Measure::tokens_per_mwh) == 7'200'000.0);
  CHECK(record.value(Measure::iteration_time) == 1.5);
  CHECK_FALSE(record.value(Measure::purchase));
}

TEST_CASE("study: a record reads back as it was, and nothing else does") {
  const StudyRecord record = record_of(3, 1.0 / 3, 1e-300);
  const auto back = decoded(encoded(record));
  REQUIRE(back);
  CHECK(encoded(*back) == encoded(record));
  CHECK(back->why == record.why);
  CHECK(back->tokens_per_second == record.tokens_per_second);
  CHECK(back->found.at(1).iteration_ps == 9);
  const std::string text = encoded(record);
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    const auto cut = decoded(text.substr(0, length));
    // Only the last field, a text, may be shorter and still be one.
    CHECK((!cut || encoded(*cut).size() == length));
  }
  CHECK_FALSE(decoded(text + "\tmore"));
}

TEST_CASE("study: logs keep what is whole") {
  const TemporaryFolder folder;
  {
    StudyLog log(folder.path, 7), other(folder.path, 7);
    log.append(record_of(0, 1, 1));
    log.append(record_of(1, 2, 1));
    other.append(record_of(2, 3, 1));
  }
  CHECK(read_logs(folder.path, 7).records.size() == 3);
  CHECK(read_logs(folder.path, 8).foreign.size() == 2);
  CHECK(read_logs(folder.path, 8).records.empty());
  const auto file = log_files(folder.path).front();
  // The end is cut off, as by a kill in the middle of a write.
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  CHECK(read_logs(folder.path, 7).records.size() == 2);
  CHECK(read_logs(folder.path, 7).damaged_lines == 1);
  // One character of the first record changes.
  std::fstream stream(file, std::ios::in | std::ios::out);
  std::string first;
  std::getline(stream, first);
  stream.seekp(static_cast<std::streamoff>(first.size()) + 1 + 20);
  stream.put('~');
  stream.close();
  CHECK(read_logs(folder.path, 7).records.size() == 1);
  CHECK(read_logs(folder.path, 7).damaged_lines == 2);
}

TEST_CASE("study: the Pareto front by hand") {
  // (tokens, cost): 0 is beaten by 1 (as fast, cheaper); 3 by 1 (slower, dearer); 4 equals 2.
  const StudyResult result = study_of({{10, 5}, {10, 4}, {6, 2}, {5, 4.5}, {6, 2}});
  CHECK(ranking(result) == std::vector<std::size_t>{0, 1, 2, 4, 3});
  CHECK(pareto_front(result) == std::vector<std::size_t>{1, 2, 4});
}

TEST_CASE("study: the page stands alone, and text in it is no markup") {
  StudyResult result = study_of({{10, 5}, {10, 4}, {6, 2}, {5, 4.5}});
  result.records[3].verdict = Verdict::wrong;
  result.records[3].why = "<script>";
  const std::string page = study_html(result);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("a &lt; b") != std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("<polyline") != std::string::npos);
  CHECK(heat_map(result).find("none is acceptable") != std::string::npos);
  CHECK(study_csv(result).find("3,2,2,impossible,") != std::string::npos);
  CHECK(study_text(result).find("impossible: <script>") != std::string::npos);
}

TEST_CASE("bench: records read back, and changes are found with their size") {
  BenchRecord before;
  before.suite = "suite";
  before.entries = {{"a.yaml", "", {{"iteration time [s]", 2}, {"memory [byte]", 100}}, "00ff", 1},
                    {"b.yaml", "", {{"iteration time [s]", 1}}, "01", 1},
                    {"c.yaml", "", {{"iteration time [s]", 1}}, "02", 1}};
  CHECK(bench_text(read_bench(bench_text(before))) == bench_text(before));
  CHECK_FALSE(compare(before, before, {}).is_regression());
  CHECK(compare(before, before, {}).changes.empty());
  BenchRecord after = before;
  after.entries[0].quantities["iteration time [s]"] = 2.1;  // + 5 %
  after.entries[0].fingerprint = "0100";
  after.entries[1].fingerprint = "03";
  after.entries[2].error = "stuck";
  after.entries[2].quantities.clear();
  const auto comparison = compare(before, after, {});
  REQUIRE(comparison.changes.size() == 3);
  CHECK(comparison.changes[0].change == approximately(0.05));
  CHECK(comparison.changes[0].is_regression);
  CHECK(comparison.changes[1].quantity == "fingerprint");
  CHECK_FALSE(comparison.changes[1].is_regression);
  CHECK(comparison.changes[2].after == "stuck");
  CHECK(comparison_junit(comparison).find("tests=\"3\" failures=\"2\"") != std::string::npos);
  after.entries.pop_back();
  before.entries.pop_back();
  CHECK(compare(before, after, {}).is_regression());
  CHECK_FALSE(
      compare(before, after, {.by_quantity = {{"iteration time [s]", 0.06}}}).is_regression());
  CHECK(compare(before, after, {.usual = 0.04}).is_regression());
  // Two scenarios of 1 s that take 3 s: + 50 %.
  after.entries[1].cpu_time_s = 2;
  CHECK(compare(before, after, {.usual = 1, .cpu_time = 0.4}).is_regression());
  CHECK_FALSE(compare(before, after, {.usual = 1, .cpu_time = 0.6}).is_regression());
  CHECK_THROWS_WITH(read_bench("maquette bench 1\nscenario\ta\nx\ty\n"),
                    "line 3: 'y' is no number");
}
