// Orders planned for given durations: a list scheduler with several rules, of which the best is
// taken. Rules after the heuristics of Qi et al., ICLR 2024, section 3.1.
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/invariant.h"
#include "sim/plan/orders.h"

namespace sim::plan {

namespace {

using Kind = Pass::Kind;

constexpr double never = std::numeric_limits<double>::infinity();

struct Rules {
  bool alternates;     // after a backward pass a forward one goes first
  bool weights_first;  // a weight gradient before a forward pass that is ready
  bool looks_ahead;    // no forward pass that would delay a backward one known to come
  double patience;     // a weight gradient may delay what comes next by this part of itself
};

// One virtual stage a stage. Passes are placed in the order of their start.
class ListScheduler {
 public:
  ListScheduler(const Schedule& s, int held_max, const PassTimes& times, const Rules& rules)
      : s_(s),
        held_max_(held_max),
        times_(times),
        rules_(rules),
        lines_(static_cast<std::size_t>(s.stages)) {}

  std::vector<std::vector<Pass>> run();

 private:
  struct Line {  // a stage
    double free_at = 0;
    int forwards = 0, backwards = 0, weights = 0;
    bool was_backward = false;
    std::vector<double> forward_ends, backward_ends;  // [micro-batch]
    std::vector<Pass> passes;
  };
  struct Choice {
    double at = never;
    Kind kind = Kind::forward;
  };
  double forward_ready(std::size_t stage) const;
  double backward_ready(std::size_t stage) const;
  Choice choose(std::size_t stage) const;
  void place(std::size_t stage, const Choice& choice);

  const Schedule& s_;
  int held_max_;
  PassTimes times_;
  Rules rules_;
  std::vector<Line> lines_;
};

double ListScheduler::forward_ready(std::size_t stage) const {
  const Line& line = lines_[stage];
  if (line.forwards == s_.micro_batches || line.forwards - line.weights >= held_max_) return never;
  if (stage == 0) return line.free_at;
  const auto& before = lines_[stage - 1].forward_ends;
  const auto m = static_cast<std::size_t>(line.forwards);
  if (m >= before.size()) return never;
  return std::max(line.free_at, before[m] + times_.transfer);
}

double ListScheduler::backward_ready(std::size_t stage) const {
  const Line& line = lines_[stage];
  const auto m = static_cast<std::size_t>(line.backwards);
  if (line.backwards >= line.forwards) return never;
  if (stage + 1 == lines_.size()) return std::max(line.free_at, line.forward_ends[m]);
  const auto& behind = lines_[stage + 1].backward_ends;
  if (m >= behind.size()) return never;
  return std::max(line.free_at, behind[m] + times_.transfer);
}

ListScheduler::Choice ListScheduler::choose(std::size_t stage) const {
  const Line& line = lines_[stage];
  const double now = line.free_at;
  const double forward = forward_ready(stage), backward = backward_ready(stage);
  const bool has_weight = line.weights < line.backwards;
  const bool forward_turn = rules_.alternates && line.was_backward;
  const Choice wait =
      backward <= forward ? Choice{backward, Kind::backward_input} : Choice{forward, Kind::forward};
  if (backward <= now) {
    const bool takes_forward = forward <= now && forward_turn;
    return {now, takes_forward ? Kind::forward : Kind::backward_input};
  }
  if (forward <= now) {
    const bool delays = rules_.looks_ahead && now + times_.forward > backward && !forward_turn;
    if (delays) {
      const bool fits = has_weight && now + times_.backward_weight <= backward;
      return fits ? Choice{now, Kind::backward_weight} : Choice{backward, Kind::backward_input};
    }
    const bool is_weight = rules_.weights_first && has_weight;
    return {now, is_weight ? Kind::backward_weight : Kind::forward};
  }
  if (!has_weight) return wait;
  const double late = now + times_.backward_weight * (1 - rules_.patience);
  const bool fits = rules_.patience == 0 || late <= wait.at;
  return fits ? Choice{now, Kind::backward_weight} : wait;
}

void ListScheduler::place(std::size_t stage, const Choice& choice) {
  Line& line = lines_[stage];
  line.free_at = choice.at;
  switch (choice.kind) {
    case Kind::forward:
      line.free_at += times_.forward;
      line.forward_ends.push_back(line.free_at);
      line.passes.push_back({Kind::forward, line.forwards++, 0});
      line.was_backward = false;
      return;
    case Kind::backward_input:
      line.free_at += times_.backward_input;
      line.backward_ends.push_back(line.free_at);
      line.passes.push_back({Kind::backward_input, line.backwards++, 0});
      line.was_backward = true;
      return;
    case Kind::backward_weight:
      line.free_at += times_.backward_weight;
      line.passes.push_back({Kind::backward_weight, line.weights++, 0});
      return;
    case Kind::backward:
    case Kind::update:
      break;
  }
  bug("a planned order with another pass");
}

std::vector<std::vector<Pass>> ListScheduler::run() {
  const std::size_t count = lines_.size();
  std::vector<Choice> choices(count);
  for (std::size_t stage = 0; stage < count; ++stage) choices[stage] = choose(stage);
  for (;;) {
    const auto first = std::min_element(choices.begin(), choices.end(),
                                        [](const auto& a, const auto& b) { return a.at < b.at; });
    if (first->at == never) break;
    const auto stage = static_cast<std::size_t>(first - choices.begin());
    place(stage, *first);
    // What it gives to its neighbours may be what they wait for.
    const std::size_t last = std::min(stage + 2, count);
    for (std::size_t i = stage == 0 ? 0 : stage - 1; i < last; ++i) choices[i] = choose(i);
  }
  std::vector<std::vector<Pass>> result;
  for (Line& line : lines_) {
    invariant(line.weights == s_.micro_batches, "a planned order leaves passes out");
    result.push_back(std::move(line.passes));
  }
  return result;
}

// What an iteration takes: with a flush to the last end, otherwise what the busiest stage takes.
double cost(const Schedule& s, const PassTimes& times) {
  double most = 0;
  for (const StageSpan& span : spans(s, times)) {
    most = std::max(most, s.flushes ? span.last : span.last - span.first);
  }
  return most;
}

}  // namespace

std::vector<std::vector<Pass>> planned(const Schedule& s, int held_max, const PassTimes& times) {
  Schedule tried = s;
  std::vector<std::vector<Pass>> best;
  double least = never;
  const auto consider = [&](std::vector<std::vector<Pass>> passes) {
    tried.passes = std::move(passes);
    const double now = cost(tried, times);
    if (now >= least) return;
    least = now;
    best = std::move(tried.passes);
  };
  for (const ScheduleKind kind : {ScheduleKind::zb_h1, ScheduleKind::zb_h2}) {
    std::vector<std::vector<Pass>> passes;
    int held = 0;
    for (int stage = 0; stage < s.stages; ++stage) {
      passes.push_back(order(kind, s, stage));
      held = std::max(held, activations_in_flight_max(passes.back()));
    }
    if (held <= held_max) consider(std::move(passes));
  }
  for (int i = 0; i < 24; ++i) {
    const int patience = i / 8;  // in three tenths
    const Rules rules{i % 2 == 1, i / 2 % 2 == 1, i / 4 % 2 == 1, 0.3 * patience};
    consider(ListScheduler(s, held_max, times, rules).run());
  }
  return best;
}

}  // namespace sim::plan
