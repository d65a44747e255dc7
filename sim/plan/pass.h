// What a pipeline stage does, one pass after the other.
#pragma once

#include <vector>

namespace sim::plan {

struct Pass {
  // `backward` computes both gradients; `backward_input` and `backward_weight` one each. `update`:
  // the optimizer step of a round.
  enum class Kind { forward, backward, backward_input, backward_weight, update };
  Kind kind = Kind::forward;
  int micro_batch = 0;     // counted through all rounds; of an update, the round
  int virtual_stage = 0;   // on this stage: 0 .. virtual_stages - 1
  bool with_next = false;  // runs together with the pass that follows: both end when both are done
  bool operator==(const Pass&) const = default;

  // Sends a gradient on.
  bool is_backward() const { return kind == Kind::backward || kind == Kind::backward_input; }
  // Leaves the gradient of its parameters.
  bool ends_gradient() const { return kind == Kind::backward || kind == Kind::backward_weight; }
};

// Where the parts of the dnn are, in model order.
//   loop        part v p + s is virtual stage v of stage s
//   zigzag      to the last stage, back to the first, and so on: ZB-V, DualPipeV
//   both_ways   two copies, one from the first stage to the last and one back; a micro-batch takes
//               one of them: DualPipe
enum class Arrangement { loop, zigzag, both_ways };

// A schedule of one's own.
struct ScheduleTable {
  Arrangement arrangement = Arrangement::loop;
  std::vector<std::vector<Pass>> passes;  // [stage], without updates
  // Instead of passes, 1F1B: forward passes before the pairs, and by how many backward passes
  // weight gradients are put off; empty: they are not apart.
  std::vector<int> warm_up, weight_delay;  // [stage]
};

}  // namespace sim::plan
