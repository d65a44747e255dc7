// Histories run in any order and are added up in that of their numbers.
#include "sim/fault/estimate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

#include "sim/base/invariant.h"

namespace sim::fault {
namespace {

// Histories [first, first + count).
std::vector<History> histories(const Model& model, const Policy& policy, Rates& rates,
                               const Effort& effort, int first, int count) {
  std::vector<History> all(static_cast<std::size_t>(count));
  std::atomic<int> taken = 0;
  std::exception_ptr problem;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (int i = taken++; i < count; i = taken++) {
        const Draws draws{effort.seed, static_cast<std::uint32_t>(first + i)};
        all[static_cast<std::size_t>(i)] = history(model, policy, rates, {draws});
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      problem = std::current_exception();
      taken = count;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(effort.threads, count); ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (problem) std::rethrow_exception(problem);
  return all;
}

// The value below which a share lies, linear between the ordered ones.
double percentile(const std::vector<double>& ordered, double share) {
  const double place = share * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= ordered.size()) return ordered.back();
  return ordered[below] + (ordered[below + 1] - ordered[below]) * (place - std::floor(place));
}

void add(const History& one, Estimate& sum) {
  for (std::size_t l = 0; l < loss_count; ++l) sum.lost[l] += one.lost[l];
  for (std::size_t p = 0; p < one.interruptions.size(); ++p) {
    sum.causes[p].interruptions += static_cast<double>(one.interruptions[p]);
    sum.causes[p].lost += one.lost_by_process[p];
  }
  sum.checkpoints += static_cast<double>(one.checkpoints);
  sum.memory_checkpoints += static_cast<double>(one.memory_checkpoints);
  sum.growing += one.growing;
  if (sum.hosts_out.size() < one.hosts_out.size()) sum.hosts_out.resize(one.hosts_out.size());
  for (std::size_t h = 0; h < one.hosts_out.size(); ++h) sum.hosts_out[h] += one.hosts_out[h];
}

void summarize(Estimate& estimate) {
  const Columns& columns = estimate.columns;
  estimate.histories = static_cast<int>(columns.ratio.size());
  estimate.ratio = spread(columns.ratio);
  estimate.wall = spread(columns.wall);
  estimate.work = spread(columns.work);
  estimate.interruptions = spread(columns.interruptions);
  const double count = estimate.histories;
  estimate.time_to_interruption = estimate.interruptions.mean > 0
                                      ? estimate.wall.mean / estimate.interruptions.mean
                                      : std::numeric_limits<double>::infinity();
  for (double& lost : estimate.lost) lost /= count;
  for (Cause& cause : estimate.causes) {
    cause.interruptions /= count;
    cause.lost /= count;
  }
  estimate.checkpoints /= count;
  estimate.memory_checkpoints /= count;
  estimate.growing /= count;
}

}  // namespace

Spread spread(std::vector<double> values) {
  invariant(!values.empty(), "a spread of no values");
  const auto count = static_cast<double>(values.size());
  Spread result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  // 32 or more values: the t distribution's quantile is at most 4 % above the normal one, and is
  // nearly z + (z^3 + z) / (4 f) for f degrees of freedom.
  if (values.size() > 1) {
    const double z = normal_quantile(0.975), freedom = count - 1;
    const double t = z + (z * z * z + z) / (4 * freedom);
    result.half_width = t * std::sqrt(squares / freedom / count);
  }
  std::sort(values.begin(), values.end());
  result.p10 = percentile(values, 0.1);
  result.p90 = percentile(values, 0.9);
  return result;
}

Estimate estimate(const Model& model, const Policy& policy, Rates& rates, const Effort& effort) {
  Estimate result;
  result.causes.resize(model.processes.size());
  Columns& columns = result.columns;
  while (true) {
    const int done = static_cast<int>(columns.ratio.size());
    const int count = std::min(histories_at_once, effort.histories_max - done);
    for (const History& one : histories(model, policy, rates, effort, done, count)) {
      columns.ratio.push_back(one.work / one.wall);
      columns.wall.push_back(one.wall);
      columns.work.push_back(one.work);
      columns.interruptions.push_back(static_cast<double>(
          std::accumulate(one.interruptions.begin(), one.interruptions.end(), std::int64_t{0})));
      if (model.horizon.work && one.work < 0.999 * model.horizon.work->value()) ++result.unfinished;
      add(one, result);
    }
    const Spread ratio = spread(columns.ratio);
    if (effort.progress) effort.progress(static_cast<int>(columns.ratio.size()), ratio);
    result.is_precise = ratio.half_width <= effort.precision * ratio.mean;
    if (result.is_precise || static_cast<int>(columns.ratio.size()) >= effort.histories_max) break;
  }
  summarize(result);
  return result;
}

double mean_stretch(const Model& model, const Policy& policy, Rates& rates, int count,
                    const Effort& effort) {
  double sum = 0;
  for (const History& one : histories(model, policy, rates, effort, 0, count)) {
    if (one.work <= 0) return std::numeric_limits<double>::infinity();
    sum += one.wall / one.work;
  }
  return sum / count;
}

}  // namespace sim::fault
