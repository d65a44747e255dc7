// How predictions of measured runs do: errors, order, intervals, and one factor that corrects them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct MeasuredRun {
  std::string id;
  // Runs of one group are plans for the same job on the same machines: their order can be compared.
  std::string group;
  double measured_s = 0, predicted_s = 0;
  std::optional<double> p10_s, p90_s;
  bool is_calibrating = false;  // gave the factor, so it is not judged

  double error() const { return predicted_s / measured_s - 1; }
};

struct ErrorStatistics {
  int runs = 0;
  double mean_absolute = 0, median_absolute = 0, bias = 0, worst = 0;  // shares; worst is signed
  std::string worst_id;
};
// The median of an even number of runs is the mean of the middle two.
ErrorStatistics error_statistics(const std::vector<MeasuredRun>& runs);

// Order of the plans within groups of two or more.
struct RankingStatistics {
  int groups = 0;
  // Kendall's tau-b over all pairs of runs of one group:
  //   (concordant - discordant) / sqrt((pairs - ties in measured) (pairs - ties in predicted))
  // Nothing where a list is all ties. Worked: measured 1 2 3, predicted 1 3 2: 2 pairs agree, 1
  // does not: 1/3.
  std::optional<double> kendall_tau;
  // What taking the plan that is predicted the fastest costs against the fastest: measured : least
  // measured - 1, over groups.
  double mean_regret = 0, worst_regret = 0;
};
RankingStatistics ranking_statistics(const std::vector<MeasuredRun>& runs);

// Share of the runs that lie in their interval, of those that have one.
struct Coverage {
  int runs = 0, inside = 0;
  std::optional<double> share() const {
    return runs > 0 ? std::optional(static_cast<double>(inside) / runs) : std::nullopt;
  }
};
Coverage coverage(const std::vector<MeasuredRun>& runs);

// The factor that brings the calibrating runs right: the geometric mean of measured : predicted.
// Multiplies all predictions and intervals by it. Returns it; 1 without calibrating runs.
double calibrate(std::vector<MeasuredRun>& runs);

}  // namespace analysis
