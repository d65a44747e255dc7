// Orders of passes: GPipe, 1F1B, interleaved 1F1B.
#include "sim/plan/schedule.h"

#include <algorithm>

#include "sim/base/invariant.h"

namespace sim::plan {

namespace {

using Kind = Pass::Kind;

std::vector<Pass> gpipe(int micro_batches) {
  std::vector<Pass> passes;
  for (int m = 0; m < micro_batches; ++m) passes.push_back({Kind::forward, m, 0});
  for (int m = 0; m < micro_batches; ++m) passes.push_back({Kind::backward, m, 0});
  return passes;
}

// `warm_up` forwards, then one backward after each forward, then the remaining backwards.
// `at(kind, i)`: the i-th pass of a kind.
template <class At>
std::vector<Pass> one_forward_one_backward(int warm_up, int count, At at) {
  std::vector<Pass> passes;
  for (int i = 0; i < warm_up; ++i) passes.push_back(at(Kind::forward, i));
  for (int i = warm_up; i < count; ++i) {
    passes.push_back(at(Kind::forward, i));
    passes.push_back(at(Kind::backward, i - warm_up));
  }
  for (int i = count - warm_up; i < count; ++i) passes.push_back(at(Kind::backward, i));
  return passes;
}

// Virtual passes go round the virtual stages in groups of `stages` micro-batches: all of a group on
// one virtual stage, then on the next; backward in reverse order of virtual stages.
std::vector<Pass> interleaved(int stages, int virtual_stages, int micro_batches, int stage) {
  const int count = micro_batches * virtual_stages;
  const auto at = [&](Kind kind, int i) -> Pass {
    const int group = i / (stages * virtual_stages);
    const int within = i % (stages * virtual_stages);
    const int turn = within / stages;
    return {kind, group * stages + within % stages,
            kind == Kind::forward ? turn : virtual_stages - 1 - turn};
  };
  const int warm_up = std::min(count, 2 * (stages - stage - 1) + (virtual_stages - 1) * stages);
  return one_forward_one_backward(warm_up, count, at);
}

}  // namespace

std::vector<Pass> schedule(ScheduleKind kind, int stages, int virtual_stages, int micro_batches,
                           int stage) {
  invariant(stage >= 0 && stage < stages, "a stage is outside the pipeline");
  invariant(micro_batches >= 1, "a pipeline has no micro-batch");
  invariant(kind == ScheduleKind::interleaved || virtual_stages == 1,
            "only an interleaved schedule has virtual stages");
  switch (kind) {
    case ScheduleKind::gpipe:
      return gpipe(micro_batches);
    case ScheduleKind::one_f_one_b:
      return one_forward_one_backward(std::min(micro_batches, stages - 1 - stage), micro_batches,
                                      [](Kind pass, int i) -> Pass {
                                        return {pass, i, 0};
                                      });
    case ScheduleKind::interleaved:
      invariant(micro_batches % stages == 0, "interleaved: stages must divide micro-batches");
      return interleaved(stages, virtual_stages, micro_batches, stage);
  }
  bug("unknown schedule");
}

int activations_in_flight_max(const std::vector<Pass>& passes) {
  int held = 0, most = 0;
  for (const Pass& pass : passes) {
    held += pass.kind == Kind::forward ? 1 : -1;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace sim::plan
