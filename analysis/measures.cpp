// Rates, utilization, the fullest rank.
#include "analysis/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/fixed.h"

namespace analysis {

using sim::training::Result;
using sim::training::StageMemory;

namespace {

std::optional<double> per_second(double amount, const Result& result) {
  if (amount <= 0 || result.iteration_ps() <= 0) return std::nullopt;
  return amount / sim::to_seconds(result.iteration_ps()).value();
}

double filled(const StageMemory& stage) {
  return stage.memory.peak().value() / stage.capacity_bytes;
}

}  // namespace

std::optional<double> samples_per_second(const Result& result) {
  return per_second(result.samples_per_iteration, result);
}

std::optional<double> tokens_per_second_per_device(const Result& result) {
  const auto rate = per_second(result.tokens_per_iteration, result);
  if (!rate || result.devices <= 0) return std::nullopt;
  return *rate / result.devices;
}

std::optional<double> utilization(double flops, const Result& result) {
  const auto rate = per_second(flops, result);
  if (!rate || result.peak_flops_per_second <= 0) return std::nullopt;
  return *rate / result.peak_flops_per_second;
}

bool has_interval(const Result& result) { return result.interval.p90_s > 0; }

std::int64_t iteration_percentile(const Result& result, double share) {
  std::vector<std::int64_t> times = result.iterations_ps;
  std::sort(times.begin(), times.end());
  // 0.95 * 20 is 19, and a little more in binary.
  constexpr double rounding = 1e-9;
  const double place = std::ceil(share * static_cast<double>(times.size()) - rounding);
  return times.at(static_cast<std::size_t>(std::max(place, 1.0)) - 1);
}

const StageMemory* fullest_stage(const Result& result) {
  const StageMemory* fullest = nullptr;
  for (const StageMemory& stage : result.memory) {
    if (!fullest || filled(stage) > filled(*fullest)) fullest = &stage;
  }
  return fullest;
}

std::string stage_name(const Result& result, int stage, int replica) {
  const bool are_unlike =
      std::any_of(result.memory.begin(), result.memory.end(),
                  [&](const StageMemory& other) { return other.replica != replica; });
  if (!are_unlike) return fmt::format("stage {}", stage);
  return fmt::format("stage {} of replica {}", stage, replica);
}

}  // namespace analysis
