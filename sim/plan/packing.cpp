// Lengths drawn by the number of a sequence and of a document in it.
#include "sim/plan/packing.h"

#include <algorithm>
#include <cmath>

#include "sim/base/invariant.h"
#include "sim/base/random.h"
#include "sim/plan/plan.h"

namespace sim::plan {

namespace {

constexpr std::uint32_t purpose_of_length = 0x6c65;  // apart from other draws

double unrounded_length(const Lengths& lengths, double share) {
  switch (lengths.distribution) {
    case Lengths::Distribution::fixed:
      return lengths.low;
    case Lengths::Distribution::uniform:
      return std::ceil(lengths.low - 1 + share * (lengths.high - lengths.low + 1));
    case Lengths::Distribution::lognormal:
      return lengths.median * std::exp(lengths.sigma * normal_quantile(share));
    case Lengths::Distribution::histogram:
      break;
  }
  double total = 0, below = 0;
  for (const auto& [tokens, documents] : lengths.histogram) total += documents;
  for (const auto& [tokens, documents] : lengths.histogram) {
    below += documents;
    if (share * total < below) return tokens;
  }
  bug("a histogram of document lengths without shares");
}

}  // namespace

double length_at(const Lengths& lengths, double share) {
  return std::max(1.0, std::round(unrounded_length(lengths, share)));
}

double sum_of_squares(const Packing& packing, std::int64_t sequence_length, std::int64_t sequence) {
  double left = static_cast<double>(sequence_length), sum = 0;
  if (packing.lengths.distribution == Lengths::Distribution::fixed) {
    const double length = std::min(length_at(packing.lengths, 0.5), left);
    const double whole = std::floor(left / length), rest = left - whole * length;
    return whole * length * length + rest * rest;
  }
  DrawKey key{packing.seed, 0, purpose_of_length, static_cast<std::uint64_t>(sequence)};
  for (; left > 0; ++key.owner) {
    const double length = std::min(length_at(packing.lengths, uniform(key)), left);
    sum += length * length;
    left -= length;
  }
  return sum;
}

PackedBatch packed_batch(const Plan& plan) {
  invariant(plan.packing.has_value(), "a plan without packing has no packed batch");
  const Packing& packing = *plan.packing;
  const std::int64_t drawn = packing.is_drawn_per_replica ? plan.data : 1;
  const auto micro_batches = static_cast<std::size_t>(plan.micro_batches());
  const std::size_t drawn_batches = packing.is_drawn_per_micro_batch ? micro_batches : 1;
  PackedBatch batch;
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(drawn));
  double total = 0;
  for (std::int64_t replica = 0; replica < drawn; ++replica) {
    for (std::size_t m = 0; m < drawn_batches; ++m) {
      const std::int64_t first =
          (static_cast<std::int64_t>(m) * drawn + replica) * plan.micro_batch;
      double sum = 0;
      for (std::int64_t i = 0; i < plan.micro_batch; ++i) {
        sum += sum_of_squares(packing, plan.sequence, first + i);
      }
      total += sum;
      sums[static_cast<std::size_t>(replica)].push_back(sum);
    }
  }
  batch.mean = total / static_cast<double>(drawn * static_cast<std::int64_t>(drawn_batches));
  if (packing.is_leveled) sums = {{batch.mean}};
  for (const auto& of_replica : sums) {
    batch.sums.insert(batch.sums.end(), of_replica.begin(), of_replica.end());
  }
  std::sort(batch.sums.begin(), batch.sums.end());
  batch.sums.erase(std::unique(batch.sums.begin(), batch.sums.end()), batch.sums.end());
  for (const auto& of_replica : sums) {
    std::vector<int>& draws = batch.draws.emplace_back();
    for (std::size_t m = 0; m < micro_batches; ++m) {
      const double sum = of_replica[of_replica.size() == 1 ? 0 : m];
      const auto found = std::lower_bound(batch.sums.begin(), batch.sums.end(), sum);
      draws.push_back(static_cast<int>(found - batch.sums.begin()));
    }
  }
  return batch;
}

}  // namespace sim::plan
