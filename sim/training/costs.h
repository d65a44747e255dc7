// Operators with their durations on one type of device, from its profile.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/training/job.h"
#include "sim/training/result.h"

namespace sim::training {

// An all-to-all of an expert group whose experts are not all as popular.
struct Skew {
  std::shared_ptr<const std::vector<double>> loads;  // [expert rank] against an even routing
  bool is_to_experts = true;                         // that many more rows go there; or come back
};

// What differs from micro-batch to micro-batch: how long documents are, how popular experts.
struct MicroBatchDraws {
  int lengths = 0;  // index into plan::PackedBatch::sums
  int routing = 0;  // micro-batch, where experts are shuffled for each
  auto operator<=>(const MicroBatchDraws&) const = default;
};

// An operator in the micro-batches of one draw.
struct Variant {
  Picoseconds work = 0;
  std::int64_t memory_rate = 0;  // bytes/s
  double flops = 0;
};

// Ranks of a tensor group: so many, so far apart; of a group they are one of several side by side.
struct TensorPart {
  int ranks = 0;  // 0: the whole group
  int stride = 1;
  auto operator<=>(const TensorPart&) const = default;
};

// One operator, or one collective of a rank group, ready for the engine.
struct CostedOperator {
  std::string name;
  Category category = Category::compute;
  Picoseconds work = 0;
  std::int64_t multiprocessors = 0;  // share held at rate one
  std::int64_t memory_rate = 0;      // bytes/s
  Picoseconds host = 0;              // launches
  int kernels = 1;
  // For a collective: what, and its size. `work` is zero.
  std::optional<collective::Operation> collective;
  dnn::RankGroup group = dnn::RankGroup::tensor;
  TensorPart part;  // of the tensor group
  Bytes size;
  std::optional<Skew> skew;
  bool is_weight_gradient = false;
  int overlapped = 0;  // operators after it, but collectives of its own group, that run beside it
  double flops = 0;
  enum class Family { gemm, attention, memory, none };
  Family family = Family::none;
  double relative_p90 = 0;
  // [draw] none: all micro-batches are alike; else the rest is of their mean.
  std::shared_ptr<const std::vector<Variant>> variants;
  std::shared_ptr<const std::vector<std::optional<Skew>>> skews;
  bool varies_by_routing = false;  // or by lengths

  Variant in(const MicroBatchDraws& draws) const {
    if (!variants) return {work, memory_rate, flops};
    return (*variants)[static_cast<std::size_t>(varies_by_routing ? draws.routing : draws.lengths)];
  }
  const std::optional<Skew>& skew_in(const MicroBatchDraws& draws) const {
    return skews ? (*skews)[static_cast<std::size_t>(draws.routing)] : skew;
  }
};

// Ranks that hold the same parameters: those of the data group, of routed experts those of the
// expert data group; from `further` on, those of layers that are cut otherwise (plan::holdings()).
enum class Sharers : int { data, expert_data, further };
constexpr std::size_t index_of(Sharers sharers) { return static_cast<std::size_t>(sharers); }
// Of so many plan::holdings().
constexpr std::size_t sharers_count(std::size_t holdings) { return holdings + 1; }
// Of which the holding is this one. REQUIRES: not those of experts.
constexpr std::size_t holding_of(Sharers sharers) {
  return sharers == Sharers::data ? 0 : index_of(sharers) - 1;
}
struct HeldBytes {        // of one tensor rank
  double gradients = 0;   // as reduced
  double parameters = 0;  // as gathered
};

struct UnitCosts {  // a layer, the embedding, the head, a module of multi-token prediction
  std::vector<CostedOperator> forward, backward;
  // The backward pass in two: all but the weight gradients, and these.
  std::vector<CostedOperator> backward_input, backward_weight;
  std::array<HeldBytes, 2> held{};  // beside routed experts, and of them
  std::size_t holding = 0;          // in plan::holdings(), whose ranks hold the first
  double activations = 0;  // of a layer: what a rank keeps of a micro-batch until its backward pass
  HeldBytes held_by(Sharers sharers) const {
    if (sharers == Sharers::expert_data) return held.back();
    return holding_of(sharers) == holding ? held.front() : HeldBytes{};
  }
};

// A unit of one virtual stage, in forward order.
struct Unit {
  const UnitCosts* costs = nullptr;
  std::string name;
};

struct JobCosts {
  std::vector<UnitCosts> layer_kinds;
  std::vector<std::size_t> kind_of_layer;  // [layer]
  UnitCosts embedding, head, prediction;
  int prediction_modules = 0;
  Bytes boundary;  // one micro-batch's activation between stages, as each tensor rank sends it
  Bytes gathered;  // what the receiving tensor group gathers of it; 0: nothing
  std::vector<std::string> extrapolated;
};

// Of a rank that has this place in its expert group, which is this one of its stage.
JobCosts job_costs(const Job& job, const calibrate::profile::Profile& profile, int expert_rank,
                   int expert_group = 0);

// The optimizer over so many parameters of one rank, as one operator.
CostedOperator optimizer_cost(const Job& job, const calibrate::profile::Profile& profile,
                              double parameters);

dnn::Shard shard_of(const Job& job);

// Layers of each part of the job's dnn, in model order, if it had this plan; or has its own.
std::vector<int> layers_of_parts(const Job& job, const plan::Plan& plan);
inline std::vector<int> layers_of_parts(const Job& job) { return layers_of_parts(job, job.plan); }

// How long documents are against their sequence, if all of a micro-batch were of one length: their
// mean, each token counted once, so that T = a N + b sum l^2 is that of so many documents alike.
struct PackedLengths {
  double mean = 1;
  std::vector<double> of_draws;  // as plan::PackedBatch::sums
};
PackedLengths packed_lengths(const plan::Plan& plan);

// What device memory gives to a long stream; the capacity that `memory_rate` shares are held of.
BytesPerSecond memory_capacity(const calibrate::profile::Profile& profile);

}  // namespace sim::training
