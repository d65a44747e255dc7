// Orders that follow from the stage's place alone: GPipe, 1F1B, interleaved, zero bubble.
#include "sim/plan/orders.h"

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

// Virtual passes go round the virtual stages in groups of `stages` micro-batches, the last one with
// what is left over: all of a group on one virtual stage, then on the next; backward in reverse
// order of virtual stages. (A last group smaller than the others would wait for itself.) The
// warm-up must hold the largest group.
std::vector<Pass> interleaved(const Schedule& s, int stage) {
  std::vector<Pass> forward, backward;
  int group = 0;
  for (int first = 0, end = 0; first < s.micro_batches; first = end) {
    end = s.micro_batches - first < 2 * s.stages ? s.micro_batches : first + s.stages;
    group = std::max(group, end - first);
    for (int v = 0; v < s.virtual_stages; ++v) {
      for (int m = first; m < end; ++m) {
        forward.push_back({Kind::forward, m, v});
        backward.push_back({Kind::backward, m, s.virtual_stages - 1 - v});
      }
    }
  }
  const auto count = forward.size();
  const auto warm_up = std::min(
      count, static_cast<std::size_t>(2 * (s.stages - stage - 1) + (s.virtual_stages - 1) * group));
  std::vector<Pass> passes(forward.begin(), forward.begin() + static_cast<std::ptrdiff_t>(warm_up));
  for (std::size_t i = warm_up; i < count; ++i) {
    passes.push_back(forward[i]);
    passes.push_back(backward[i - warm_up]);
  }
  passes.insert(passes.end(), backward.end() - static_cast<std::ptrdiff_t>(warm_up),
                backward.end());
  return passes;
}

}  // namespace

std::vector<Pass> one_forward_one_backward(int warm_up, int micro_batches,
                                           std::optional<int> weight_delay) {
  std::vector<Pass> passes;
  int forward = 0, weight = 0;
  for (; forward < std::min(warm_up, micro_batches); ++forward) {
    passes.push_back({Kind::forward, forward, 0});
  }
  for (int backward = 0; backward < micro_batches; ++backward) {
    if (forward < micro_batches) passes.push_back({Kind::forward, forward++, 0});
    if (!weight_delay) {
      passes.push_back({Kind::backward, backward, 0});
      continue;
    }
    passes.push_back({Kind::backward_input, backward, 0});
    if (backward >= *weight_delay || forward == micro_batches) {
      passes.push_back({Kind::backward_weight, weight++, 0});
    }
  }
  while (weight_delay && weight < micro_batches) {
    passes.push_back({Kind::backward_weight, weight++, 0});
  }
  return passes;
}

// Source: the schedule of section 4 of arXiv 2405.15362, built here from its three phases.
std::vector<Pass> zero_bubble_v(int stages, int micro_batches, int stage) {
  std::vector<Pass> passes;
  int forward[2] = {0, 0}, backward[2] = {0, 0}, weight[2] = {0, 0};
  const auto run_forward = [&](int v) { passes.push_back({Kind::forward, forward[v]++, v}); };
  const auto run_backward = [&](int v) {
    passes.push_back({Kind::backward_input, backward[v]++, v});
  };
  const auto run_weight = [&](int v) { passes.push_back({Kind::backward_weight, weight[v]++, v}); };
  for (int i = 0; i < 2 * (stages - stage) - 1; ++i) run_forward(0);
  for (int i = 0; i < stage; ++i) {
    run_forward(1);
    run_forward(0);
  }
  for (int i = 0; i < stages - stage; ++i) {
    run_forward(1);
    run_backward(1);
    run_weight(1);
  }
  while (forward[1] < forward[0] || forward[0] < micro_batches) {
    if (forward[0] < micro_batches) run_forward(0);
    run_backward(0);
    run_weight(0);
    run_forward(1);
    run_backward(1);
    run_weight(1);
  }
  for (int i = 0; i < stage; ++i) {
    run_backward(0);
    run_backward(1);
  }
  for (int i = 0; i < stages - stage; ++i) {
    run_backward(0);
    run_weight(0);
  }
  while (weight[1] < backward[1]) run_weight(1);
  while (weight[0] < backward[0]) run_weight(0);
  return passes;
}

std::vector<Pass> order(ScheduleKind kind, const Schedule& s, int stage) {
  invariant(stage >= 0 && stage < s.stages, "a stage is outside the pipeline");
  invariant(s.micro_batches >= 1, "a pipeline has no micro-batch");
  const int behind = s.stages - 1 - stage;
  switch (kind) {
    case ScheduleKind::gpipe:
      return gpipe(s.micro_batches);
    case ScheduleKind::one_f_one_b:
      return one_forward_one_backward(behind, s.micro_batches);
    case ScheduleKind::interleaved:
      return interleaved(s, stage);
    case ScheduleKind::zb_h1:
      return one_forward_one_backward(behind, s.micro_batches, stage);
    case ScheduleKind::zb_h2:
      return one_forward_one_backward(2 * behind, s.micro_batches, 2 * stage);
    case ScheduleKind::zb_v:
      return zero_bubble_v(s.stages, s.micro_batches, stage);
    case ScheduleKind::dual_pipe:
      return dual_pipe(s.stages, s.micro_batches, stage);
    case ScheduleKind::dual_pipe_v:
      return dual_pipe_v(s.stages, s.micro_batches, stage);
    case ScheduleKind::zb_1p:
    case ScheduleKind::zb_2p:
    case ScheduleKind::double_buffered:
    case ScheduleKind::wave_synchronous:
    case ScheduleKind::table:
      break;
  }
  bug("a schedule without an order of its own");
}

}  // namespace sim::plan
