// Draws by rank and operator; the tail of the replicas' times.
#include "sim/training/jitter.h"

#include <algorithm>
#include <cmath>

#include "sim/base/invariant.h"
#include "sim/base/random.h"

namespace sim::training {
namespace {

enum Purpose : std::uint32_t { purpose_device, purpose_operation };

// Lognormal with mean 1.
double factor(double sigma, double draw) { return std::exp(sigma * draw - sigma * sigma / 2); }

}  // namespace

LaneJitter::LaneJitter(const Jitter& jitter, const std::vector<int>& ranks)
    : jitter_(jitter), ranks_(ranks), ended_(ranks.size(), 0) {
  for (const int rank : ranks_) {
    const DrawKey key{jitter_.seed, static_cast<std::uint32_t>(rank), purpose_device, 0};
    device_.push_back(jitter_.device > 0 ? factor(jitter_.device, standard_normal(key)) : 1);
  }
}

Picoseconds LaneJitter::next(Picoseconds work) {
  const std::uint64_t index = operator_++;
  const Picoseconds before = slowest_;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    double stretched = static_cast<double>(work) * device_[i];
    if (jitter_.operation > 0) {
      const DrawKey key{jitter_.seed, static_cast<std::uint32_t>(ranks_[i]), purpose_operation,
                        index};
      stretched *= factor(jitter_.operation, standard_normal(key));
    }
    ended_[i] += std::llround(stretched);
    slowest_ = std::max(slowest_, ended_[i]);
  }
  return slowest_ - before;
}

void LaneJitter::meet() {
  std::fill(ended_.begin(), ended_.end(), 0);
  slowest_ = 0;
}

Picoseconds beyond_samples(const std::vector<Picoseconds>& samples, std::int64_t count) {
  const auto n = static_cast<double>(samples.size());
  invariant(samples.size() >= 2 && n <= static_cast<double>(count), "too few or too many samples");
  double mean = 0, squares = 0;
  const auto since_first = [&](Picoseconds s) { return static_cast<double>(s - samples.front()); };
  for (const Picoseconds s : samples) mean += since_first(s) / n;
  for (const Picoseconds s : samples) squares += std::pow(since_first(s) - mean, 2);
  const double deviation = std::sqrt(squares / (n - 1));
  return std::llround(deviation * (expected_normal_maximum(static_cast<double>(count)) -
                                   expected_normal_maximum(n)));
}

}  // namespace sim::training
