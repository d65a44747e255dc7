// DualPipe and DualPipeV: micro-batches from both ends, weight gradients put off at the ends.
//
// Source: DeepSeek-V3, arXiv 2412.19437, section 3.2.1; phases as in
// github.com/deepseek-ai/DualPipe.
#include <utility>

#include "sim/plan/orders.h"

namespace sim::plan {

namespace {

using Kind = Pass::Kind;

// Stages count from the near end of the pipeline; way 0 starts here, way 1 at the other end (or,
// folded into a V, comes back here).
class Writer {
 public:
  // `depth` stages from the end to the turn; this one is `place`. `count` micro-batches a way.
  Writer(int depth, int place, int count) : depth_(depth), place_(place), count_(count) {}

  std::vector<Pass> run();

  // Micro-batches of way 0 begin at `first[0]`, and are virtual stage `way[0]`.
  int first[2] = {0, 0}, way[2] = {0, 1};

 private:
  void forward(int w) { add(Kind::forward, forward_[w]++, w); }
  void both(int forward_way, int backward_way) {
    forward(forward_way);
    passes_.back().with_next = true;
    backward(backward_way);
  }
  // Without the weight gradient it is left for later.
  void backward(int w, bool is_whole = true) {
    const int m = backward_[w]++;
    add(is_whole ? Kind::backward : Kind::backward_input, m, w);
    if (!is_whole) waiting_.emplace_back(m, w);
  }
  void weight() {
    if (taken_ == waiting_.size()) return;
    const auto [m, w] = waiting_[taken_++];
    add(Kind::backward_weight, m, w);
  }
  void add(Kind kind, int m, int w) { passes_.push_back({kind, first[w] + m, way[w]}); }

  int depth_, place_, count_;
  int forward_[2] = {0, 0}, backward_[2] = {0, 0};
  std::vector<std::pair<int, int>> waiting_;  // (micro-batch, way) without weight gradient
  std::size_t taken_ = 0;
  std::vector<Pass> passes_;
};

std::vector<Pass> Writer::run() {
  const int behind = depth_ - 1 - place_;
  for (int i = 0; i < 2 * behind; ++i) forward(0);
  for (int i = 0; i <= place_; ++i) {
    forward(0);
    forward(1);
  }
  for (int i = 0; i < behind; ++i) {
    backward(1, false);
    weight();
    forward(1);
  }
  for (int i = 0; i < count_ - 2 * depth_ + place_ + 1; ++i) {
    // In the middle of the pipeline the first pass forward is what the first one back waits for.
    if (i == 0 && behind == 0) {
      forward(0);
      backward(1);
    } else {
      both(0, 1);
    }
    both(1, 0);
  }
  for (int i = 0; i < behind; ++i) {
    backward(1);
    both(1, 0);
  }
  bool is_whole = true;
  for (int i = 0; i <= place_; ++i) {
    const bool is_middle = i == (place_ + 1) / 2;
    if (is_middle && place_ % 2 == 1) is_whole = false;
    backward(1, is_whole);
    if (is_middle && place_ % 2 == 0) is_whole = false;
    backward(0, is_whole);
  }
  for (int i = 0; i < behind; ++i) {
    weight();
    backward(0, false);
  }
  while (taken_ < waiting_.size()) weight();
  return std::move(passes_);
}

}  // namespace

std::vector<Pass> dual_pipe(int stages, int micro_batches, int stage) {
  const bool is_far = stage >= stages / 2;
  const int half = micro_batches / 2;
  Writer writer(stages / 2, is_far ? stages - 1 - stage : stage, half);
  // Way 0 starts at this end; virtual stage 0 at the first stage.
  for (int w = 0; w < 2; ++w) {
    writer.way[w] = is_far ? 1 - w : w;
    writer.first[w] = writer.way[w] * half;
  }
  return writer.run();
}

std::vector<Pass> dual_pipe_v(int stages, int micro_batches, int stage) {
  return Writer(stages, stage, micro_batches).run();
}

}  // namespace sim::plan
