// Errors, order, intervals and the factor of a few runs, by hand.
#include "analysis/validation.h"

#include <doctest/doctest.h>

#include "tests/approximately.h"

using namespace analysis;
using sim::approximately;

TEST_CASE("validation: errors of -50 %, +10 %, +20 %, +60 %") {
  const std::vector<MeasuredRun> runs = {{"a", "", 2, 1, {}, {}, false},
                                         {"b", "", 10, 11, {}, {}, false},
                                         {"c", "", 10, 12, {}, {}, false},
                                         {"d", "", 1, 1.6, {}, {}, false}};
  const auto s = error_statistics(runs);
  CHECK(s.runs == 4);
  CHECK(s.mean_absolute == approximately(0.35));
  CHECK(s.median_absolute == approximately(0.35));  // between 0.2 and 0.5
  CHECK(s.bias == approximately(0.1));
  CHECK(s.worst == approximately(0.6));
  CHECK(s.worst_id == "d");
  CHECK(error_statistics({}).runs == 0);
}

TEST_CASE("validation: Kendall's tau within groups, and what the choice costs") {
  // Job x: measured 1 2 3, predicted 1 3 2: + + -. Job y: measured 5 4, predicted 5 6: -.
  // (2 - 2) / 4 = 0. Predicted fastest: x 1 (regret 0), y measured 5 in place of 4 (25 %).
  const std::vector<MeasuredRun> runs = {
      {"a", "x", 1, 1, {}, {}, false}, {"b", "x", 2, 3, {}, {}, false},
      {"c", "x", 3, 2, {}, {}, false}, {"d", "y", 5, 5, {}, {}, false},
      {"e", "y", 4, 6, {}, {}, false}, {"alone", "z", 1, 9, {}, {}, false}};
  const auto s = ranking_statistics(runs);
  CHECK(s.groups == 2);
  REQUIRE(s.kendall_tau);
  CHECK(*s.kendall_tau == 0);
  CHECK(s.mean_regret == approximately(0.125));
  CHECK(s.worst_regret == approximately(0.25));
  const std::vector<MeasuredRun> x(runs.begin(), runs.begin() + 3);
  CHECK(*ranking_statistics(x).kendall_tau == approximately(1.0 / 3));
  // A tie of the predictions: 2 of 3 pairs agree, 2 / sqrt(3 x 2).
  const std::vector<MeasuredRun> tied = {{"a", "", 1, 1, {}, {}, false},
                                         {"b", "", 2, 2, {}, {}, false},
                                         {"c", "", 3, 2, {}, {}, false}};
  CHECK(*ranking_statistics(tied).kendall_tau == approximately(0.816496580927726));
  CHECK_FALSE(ranking_statistics({{"a", "", 1, 1, {}, {}, false}}).kendall_tau);
}

TEST_CASE("validation: one factor from two runs corrects the others") {
  // Measured : predicted 2 and 8: the geometric mean is 4. The third is then right.
  std::vector<MeasuredRun> runs = {{"a", "", 2, 1, {}, {}, true},
                                   {"b", "", 8, 1, {}, {}, true},
                                   {"c", "", 12, 3, 2.9, 3.1, false},
                                   {"d", "", 20, 4, 3.9, 4.1, false}};
  CHECK(calibrate(runs) == approximately(4));
  CHECK(runs[2].predicted_s == approximately(12));
  CHECK(error_statistics(runs).runs == 2);
  CHECK(error_statistics(runs).bias == approximately(-0.1));
  // 12 is within 11.6 to 12.4, 20 not within 15.6 to 16.4.
  CHECK(coverage(runs).runs == 2);
  CHECK(coverage(runs).share() == 0.5);
  std::vector<MeasuredRun> none = {{"a", "", 2, 1, {}, {}, false}};
  CHECK(calibrate(none) == 1);
  CHECK(none[0].predicted_s == 1);
  CHECK_FALSE(coverage(none).share());
}
