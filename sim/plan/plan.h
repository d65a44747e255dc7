// How a job is cut over its ranks: degrees, schedule, sharding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/dnn/operators.h"
#include "sim/dnn/stack.h"
#include "sim/plan/layer_cut.h"
#include "sim/plan/offload.h"
#include "sim/plan/packing.h"
#include "sim/plan/pass.h"
#include "sim/plan/replica.h"
#include "sim/plan/routing.h"

namespace sim::plan {

enum class Dimension { tensor, context, data, pipeline };
const char* name(Dimension dimension);
// The ranks of a stage once more, as experts are cut over them.
enum class ExpertDimension { tensor, expert, data };

enum class ScheduleKind {
  gpipe,
  one_f_one_b,
  interleaved,
  zb_h1,
  zb_h2,
  zb_v,
  zb_1p,
  zb_2p,
  dual_pipe,
  dual_pipe_v,
  double_buffered,   // PipeDream-2BW
  wave_synchronous,  // HetPipe
  table,
};
struct Plan {
  int tensor = 1;
  bool sequence_parallel = true;
  int context = 1;
  dnn::ContextKind context_kind = dnn::ContextKind::ring;
  int expert = 1;         // ranks that share the experts
  int expert_tensor = 1;  // ranks that share one expert
  Routing routing;
  int stages = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int virtual_stages = 1;
  // Whether all stages end an iteration before the next begins; none: as the schedule is published.
  std::optional<bool> flush;
  int staleness = 0;  // wave-synchronous: waves that an update may be late beyond the least
  ScheduleTable table;
  std::vector<int> layers;  // of each part, in model order; empty: even
  int data = 1;
  // Where they are not alike; then `tensor` and `stages` are the most that one has, and `data` is
  // their number. Empty: all are cut as the rest says.
  std::vector<Replica> replicas;
  std::vector<LayerCut> cuts;  // of some layers; all else is for the others
  Sharding sharding = Sharding::none;
  int shard = 0;  // ranks that share one copy of what is sharded; 0: all that could
  bool reshard_after_forward = true;  // ZeRO-3: parameters are gathered again for the backward pass
  dnn::Recompute recompute = dnn::Recompute::none;
  Offload offload;
  std::array<Dimension, 4> order = {Dimension::tensor, Dimension::context, Dimension::data,
                                    Dimension::pipeline};  // innermost first
  std::array<ExpertDimension, 3> expert_order = {ExpertDimension::tensor, ExpertDimension::expert,
                                                 ExpertDimension::data};  // innermost first
  std::int64_t sequence = 0;
  std::int64_t global_batch = 0;  // sequences per iteration
  std::int64_t micro_batch = 1;
  std::optional<Packing> packing;  // none: a sequence is one document

  int ranks() const;
  // Ranks that hold the same parameters: those of a layer, and those of its experts.
  int sharers() const { return context * data; }
  // Of these, those that hold shares of one copy; copies are kept alike.
  int shard_ranks() const { return shard > 0 ? shard : sharers(); }
  int copies() const { return sharers() / shard_ranks(); }
  int expert_sharers() const { return tensor * context * data / (expert * expert_tensor); }
  // Micro-batches per iteration and replica. REQUIRES: divisible, checked by problems(); replicas
  // are alike.
  int micro_batches() const { return static_cast<int>(global_batch / (micro_batch * data)); }
};

// What makes the plan impossible for this dnn and number of devices; empty if nothing. `field` is
// the scenario's path of the value to blame ("plan.tensor"), `other_field` the second place or
// empty.
struct Problem {
  std::string field, other_field, message, why, hint;
};
std::vector<Problem> problems(const Plan& plan, const dnn::Transformer& dnn, int devices);
// What keeps its layers and micro-batches from being dealt anew to unlike replicas.
// REQUIRES: problems() finds none.
std::vector<Problem> problems_of_replanning(const Plan& plan, bool has_experts);

// One rank's share of a micro-batch. `bytes_per_element`: of activations.
dnn::Shard shard_of(const Plan& plan, double bytes_per_element);

// The same for a layer that is cut so.
dnn::Shard shard_of(dnn::Shard shard, const LayerStrategy& strategy);

// Whether the pipeline holds two copies of the dnn, one from each end.
bool is_both_ways(const Plan& plan);

// Parts that the dnn is cut into: stages x virtual stages, of DualPipe the stages.
std::int64_t parts_of(const Plan& plan);

// Layers of each part, in model order: with Arrangement::loop virtual stage v of stage s is index
// v * stages + s. Even: the remainder goes to the earlier ones.
std::vector<int> layers_per_virtual_stage(const Plan& plan, int layers);
// As the stack deals them. Where it balances stages: a part takes layers until what is dealt
// exceeds its and all earlier parts' share of the multiply-adds, a layer 4 hidden^2 + 3 hidden ffn,
// the head hidden x vocabulary. Source: nanotron, NanotronModel.get_block_compute_costs and
// build_model.
std::vector<int> layers_per_virtual_stage(const Plan& plan, const dnn::Transformer& dnn,
                                          const dnn::SoftwareStack& stack);

}  // namespace sim::plan
