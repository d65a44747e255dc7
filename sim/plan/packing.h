// Documents of several lengths in every sequence: what attention costs then follows the sum of
// their squared lengths, T = a N + b sum l^2, and differs from micro-batch to micro-batch.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace sim::plan {

struct Plan;

// How long documents are, in tokens.
struct Lengths {
  enum class Distribution { fixed, uniform, lognormal, histogram };
  Distribution distribution = Distribution::fixed;
  double low = 0, high = 0;      // fixed: both; uniform: every length from low to high
  double median = 0, sigma = 0;  // lognormal: sigma of the natural logarithm
  std::vector<std::pair<double, double>> histogram;  // (tokens, documents in any unit)
};

// The length below which a share of all documents lie, rounded to whole tokens, at least one.
// Worked: uniform from 1 to 4, share 0.6 -> 3; histogram of one of 100 and three of 900, share 0.3
// -> 900.
// REQUIRES: 0 < share < 1; a histogram has shares that sum to more than 0.
double length_at(const Lengths& lengths, double share);

// A sequence starts with a new document; its last one is cut off at its end.
struct Packing {
  Lengths lengths;
  // Whether the sequences of every micro-batch are others, or those of all are alike; the same of
  // data-parallel replicas. Every iteration has the same ones.
  bool is_drawn_per_micro_batch = true;
  bool is_drawn_per_replica = true;
  std::uint64_t seed = 1;
  // Every micro-batch costs what their mean costs: lengths are no cause of waiting.
  bool is_leveled = false;
};

// The sum of squared lengths of the documents in a sequence. Sequences of a global batch are
// numbered, so that they are the same however the batch is cut: micro-batch m of replica r of d,
// each of b sequences, has those from (m d + r) b on. Worked: documents of 300 tokens in a sequence
// of 1000: 3 * 300^2 + 100^2 = 280,000.
double sum_of_squares(const Packing& packing, std::int64_t sequence_length, std::int64_t sequence);

// The micro-batches of an iteration.
struct PackedBatch {
  std::vector<double> sums;  // squared lengths over all sequences of a micro-batch; ascending, once
  double mean = 0;           // over all replicas and micro-batches
  std::vector<std::vector<int>> draws;  // [replica][micro-batch] index in sums

  bool are_replicas_alike() const { return draws.size() == 1; }
  const std::vector<int>& of_replica(std::int64_t replica) const {
    return draws[are_replicas_alike() ? 0 : static_cast<std::size_t>(replica)];
  }
};
// REQUIRES: the plan has a packing, and problems() finds nothing.
PackedBatch packed_batch(const Plan& plan);

}  // namespace sim::plan
