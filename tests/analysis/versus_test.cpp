// Two predictions against each other, and the axes of a study one at a time.
#include "analysis/versus.h"

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/study_plots.h"
#include "analysis/study_sensitivity.h"
#include "tests/approximately.h"

using namespace analysis;
using sim::approximately;
using sim::scenario::Measure;

namespace {

// Objective: tokens per second, over x = 1, 2 and y = 1, 2, 3.
StudyResult grid_of(const std::vector<double>& tokens) {
  StudyResult result;
  result.study.objectives = {Measure::tokens_per_second};
  result.study.axes = {{{"x"}, {{"1"}, {"2"}}, {{"1"}, {"2"}}, {}, {}},
                       {{"y"}, {{"1"}, {"2"}, {"3"}}, {{"1"}, {"2"}, {"3"}}, {}, {}}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    StudyRecord record;
    record.candidate = static_cast<std::int64_t>(i);
    record.verdict = tokens[i] > 0 ? Verdict::acceptable : Verdict::does_not_fit;
    record.tokens_per_second = tokens[i];
    record.usd_per_hour = 10 + static_cast<double>(i);
    result.records.push_back(record);
    const std::string x = std::to_string(i / 3 + 1), y = std::to_string(i % 3 + 1);
    result.candidates.push_back({{{"x", x}, {"y", y}}, {x, y}});
  }
  return result;
}

}  // namespace

TEST_CASE("versus: errors of one device's timing models hardly change which is faster") {
  // Normal distribution, from tables: Phi(2.086) = 0.98149, Phi(0.6608) = 0.74564.
  const Uncertain a = {100, 0.01, "gpu", {0.03, 0, 0, 0}};
  Uncertain b = {103, 0.01, "gpu", {0.03, 0, 0, 0}};
  CHECK(std::abs(probability_less(a, b) - 0.98149) < 2e-5);
  CHECK(probability_less(a, b) + probability_less(b, a) == approximately(1));
  b.device_type = "another";
  CHECK(std::abs(probability_less(a, b) - 0.74564) < 2e-5);
  // Another family on the same device errs on its own: as on another device.
  const double apart = probability_less(a, b);
  b.device_type = "gpu";
  b.families = {0, 0.03, 0, 0};
  CHECK(probability_less(a, b) == approximately(apart));
}

TEST_CASE("versus: errors of a software stack are shared by runs with it") {
  // sigma^2 = 1^2 + 1.03^2 + (6 - 6.18)^2 = 2.0933, Phi(2.0735) = 0.98094; apart + 6^2 + 6.18^2,
  // Phi(0.3435) = 0.63439.
  const Uncertain a = {100, 0.01, "gpu", {}, 0.06, "stack"};
  Uncertain b = {103, 0.01, "other gpu", {}, 0.06, "stack"};
  CHECK(std::abs(probability_less(a, b) - 0.98094) < 2e-5);
  b.stack = "another";
  CHECK(std::abs(probability_less(a, b) - 0.63439) < 2e-5);
}

TEST_CASE("versus: without errors it is certain") {
  const Uncertain a = {1, 0, "", {}}, b = {2, 0, "", {}};
  CHECK(probability_less(a, b) == 1);
  CHECK(probability_less(b, a) == 0);
  CHECK(probability_less(a, a) == 0.5);
}

TEST_CASE("versus: 1 + 8 / factor = 2 at a factor of 8, 1 + factor = 3 at one of 2") {
  const auto falling = [](double factor) { return std::optional(1 + 8 / factor); };
  const auto rising = [](double factor) { return std::optional(1 + factor); };
  // Worst by 1 in 1,000, and on the side that is fast enough.
  const auto found = break_even(falling, 2, 1.0 / 16, 16);
  REQUIRE(found);
  CHECK(*found >= 8);
  CHECK(*found < 8 * 1.001);
  const auto other = break_even(rising, 3, 1.0 / 16, 16);
  REQUIRE(other);
  CHECK(*other <= 2);
  CHECK(*other > 2 / 1.001);
  // 1 + 8 / 16 is the least.
  CHECK_FALSE(break_even(falling, 1.4, 1.0 / 16, 16));
  CHECK_FALSE(break_even([](double) { return std::optional<double>(); }, 1, 1, 2));
}

TEST_CASE("study: each axis alone, from the best candidate on") {
  // x=1: 50, 60, 20; x=2: 80, 100, -. The best is (2, 2). Along x: 60. Along y: 80; (2, 3) is out.
  const StudyResult result = grid_of({50, 60, 20, 80, 100, 0});
  const auto swings = sensitivity(result);
  REQUIRE(swings.size() == 2);
  CHECK(swings[0].path == "x");
  CHECK(swings[0].low == 60);
  CHECK(swings[0].low_candidate == 1);
  CHECK(swings[0].low_shown == "1");
  CHECK(swings[0].high == 100);
  CHECK(swings[1].path == "y");
  CHECK(swings[1].low == 80);
  const std::string drawing = tornado(result);
  CHECK(drawing.find("candidate 1, x: 1, y: 2") != std::string::npos);
  CHECK(drawing.find("candidate 2") == std::string::npos);
}

TEST_CASE("study: how sure the best is, and what the next may cost") {
  StudyResult result = grid_of({100, 97});
  for (auto& record : result.records) {
    record.interval = {0.9, 1.1, 0.03, 0, 0.01, "", "gpu", {0.03, 0, 0, 0}};
  }
  const auto all = rivals(result, 5);
  REQUIRE(all.size() == 1);
  CHECK(all[0].candidate == 1);
  // Seconds a token: 1 and 1 / 0.97 = 1.0309: sigma^2 = 1e-4 (1 + 1.0628) + 9e-4 x 0.0309^2,
  // 0.03093 / 0.014392 = 2.1489; Phi = 0.98418.
  REQUIRE(all[0].probability);
  CHECK(std::abs(*all[0].probability - 0.98418) < 2e-5);
  // 10 USD/h for 100 are worth 9.7 for 97.
  CHECK(all[0].break_even_usd_per_hour == approximately(9.7));
  result.records[0].interval = {};
  CHECK_FALSE(rivals(result, 5)[0].probability);
  // Money has no error.
  result.study.objectives = {Measure::cost_per_hour};
  CHECK(rivals(result, 5)[0].probability == 1.0);
}
