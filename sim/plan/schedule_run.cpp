// Runs the passes of a schedule without communication: what is wrong with them, and how long they
// take.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/invariant.h"
#include "sim/plan/schedule.h"

namespace sim::plan {

namespace {

using Kind = Pass::Kind;

std::string words(const Pass& pass) {
  const char* names[] = {"forward", "backward", "input gradient", "weight gradient", "update"};
  return fmt::format("{} {}.{}", names[static_cast<std::size_t>(pass.kind)], pass.micro_batch,
                     pass.virtual_stage);
}

// Times the passes in their order; stops where none can go on.
class Runner {
 public:
  Runner(const Schedule& s, const PassTimes& times)
      : s_(s), times_(times), next_(s.passes.size(), 0), free_(s.passes.size(), 0) {
    spans_.resize(s.passes.size());
    ends_.resize(2 * s.passes.size() *
                 static_cast<std::size_t>(s.virtual_stages * s.micro_batches * s.rounds));
  }

  // Whether all ran.
  bool run();
  std::optional<ScheduleFault> stuck() const;
  const std::vector<StageSpan>& spans() const { return spans_; }

 private:
  std::size_t index(bool is_forward, int stage, int virtual_stage, int micro_batch) const {
    const int turn = (stage * s_.virtual_stages + virtual_stage) * s_.micro_batches * s_.rounds;
    return 2 * static_cast<std::size_t>(turn + micro_batch) + (is_forward ? 1 : 0);
  }
  double duration(const Pass& pass) const;
  // When what it needs is there; none: not yet.
  std::optional<double> ready(int stage, const Pass& pass) const;
  void end(int stage, const Pass& pass);
  bool advance(std::size_t stage);

  const Schedule& s_;
  PassTimes times_;
  std::vector<std::size_t> next_;
  std::vector<double> free_;
  std::vector<StageSpan> spans_;
  std::vector<std::optional<double>> ends_;  // [index]
};

double Runner::duration(const Pass& pass) const {
  // Times are of a whole stage; DualPipe's two copies are a whole stage each.
  const double parts = s_.arrangement == Arrangement::both_ways ? 1 : s_.virtual_stages;
  switch (pass.kind) {
    case Kind::forward:
      return times_.forward / parts;
    case Kind::backward:
      return (times_.backward_input + times_.backward_weight) / parts;
    case Kind::backward_input:
      return times_.backward_input / parts;
    case Kind::backward_weight:
      return times_.backward_weight / parts;
    case Kind::update:
      return 0;
  }
  bug("unknown pass");
}

std::optional<double> Runner::ready(int stage, const Pass& pass) const {
  const auto end_of = [&](bool is_forward, int of_stage, int v) {
    return ends_[index(is_forward, of_stage, v, pass.micro_batch)];
  };
  const bool is_forward = pass.kind == Kind::forward;
  if (!is_forward && !pass.is_backward()) return 0;
  double own = 0;
  if (!is_forward) {
    const auto forward = end_of(true, stage, pass.virtual_stage);
    if (!forward) return std::nullopt;
    own = *forward;
  }
  const Schedule::Source source = s_.source(stage, pass);
  if (source.from == Schedule::Neighbour::none) return own;
  const auto there = end_of(is_forward, source.stage, source.virtual_stage);
  if (!there) return std::nullopt;
  const bool travels = source.from != Schedule::Neighbour::same;
  return std::max(own, *there + (travels ? times_.transfer : 0));
}

void Runner::end(int stage, const Pass& pass) {
  if (pass.kind != Kind::forward && !pass.is_backward()) return;
  ends_[index(pass.kind == Kind::forward, stage, pass.virtual_stage, pass.micro_batch)] =
      free_[static_cast<std::size_t>(stage)];
}

bool Runner::advance(std::size_t stage) {
  const std::vector<Pass>& passes = s_.passes[stage];
  const std::size_t before = next_[stage];
  for (; next_[stage] < passes.size(); ++next_[stage]) {
    const std::size_t first = next_[stage];
    std::size_t last = first;
    while (passes[last].with_next && last + 1 < passes.size()) ++last;
    double start = free_[stage], took = 0;
    bool is_ready = true;
    for (std::size_t i = first; i <= last && is_ready; ++i) {
      const auto at = ready(static_cast<int>(stage), passes[i]);
      is_ready = at.has_value();
      start = std::max(start, at.value_or(0));
      took += duration(passes[i]);
    }
    if (!is_ready) break;
    if (first == 0) spans_[stage].first = start;
    free_[stage] = spans_[stage].last = start + took;
    for (std::size_t i = first; i <= last; ++i) end(static_cast<int>(stage), passes[i]);
    next_[stage] = last;
  }
  return next_[stage] > before;
}

bool Runner::run() {
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) moves |= advance(stage);
  }
  for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) {
    if (next_[stage] < s_.passes[stage].size()) return false;
  }
  return true;
}

std::optional<ScheduleFault> Runner::stuck() const {
  for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) {
    if (next_[stage] == s_.passes[stage].size()) continue;
    const Pass& pass = s_.passes[stage][next_[stage]];
    const auto source = s_.source(static_cast<int>(stage), pass);
    const std::string needed = fmt::format(
        "{} on stage {}", words({pass.kind, pass.micro_batch, source.virtual_stage}), source.stage);
    return ScheduleFault{static_cast<int>(stage), static_cast<int>(next_[stage]),
                         fmt::format("the schedule stops at {} of stage {}", words(pass), stage),
                         fmt::format("it waits for {}, which never runs in this order", needed)};
  }
  return std::nullopt;
}

// Each micro-batch once forward and once backward, whole or in two, on each virtual stage that it
// passes.
class Counter {
 public:
  explicit Counter(const Schedule& s) : s_(s), total_(s.micro_batches * s.rounds) {}

  std::optional<ScheduleFault> run() const {
    for (std::size_t stage = 0; stage < s_.passes.size(); ++stage) {
      if (auto fault = of_stage(static_cast<int>(stage))) return fault;
    }
    return std::nullopt;
  }

 private:
  struct Seen {
    bool forward = false, input = false, weight = false;
  };
  std::optional<ScheduleFault> of_stage(int stage) const;
  std::optional<std::string> see(Seen& seen, const Pass& pass) const;

  const Schedule& s_;
  int total_;
};

std::optional<std::string> Counter::see(Seen& seen, const Pass& pass) const {
  const bool gives_input = pass.is_backward(), gives_weight = pass.ends_gradient();
  if (pass.kind == Kind::forward) {
    if (seen.forward) return "it has run before";
    seen.forward = true;
    return std::nullopt;
  }
  if (!seen.forward) return "its forward pass has not run";
  if (gives_input && seen.input) return "its backward pass has run before";
  if (gives_weight && !gives_input && !seen.input) return "its input gradient has not run";
  if (gives_weight && seen.weight) return "its weight gradient has run before";
  seen.input = seen.input || gives_input;
  seen.weight = seen.weight || gives_weight;
  return std::nullopt;
}

std::optional<ScheduleFault> Counter::of_stage(int stage) const {
  const std::vector<Pass>& passes = s_.passes[static_cast<std::size_t>(stage)];
  std::map<std::pair<int, int>, Seen> seen;  // (micro-batch, virtual stage)
  for (int i = 0; i < static_cast<int>(passes.size()); ++i) {
    const Pass& pass = passes[static_cast<std::size_t>(i)];
    if (pass.kind == Kind::update) continue;
    const bool is_outside = pass.micro_batch < 0 || pass.micro_batch >= total_ ||
                            pass.virtual_stage < 0 || pass.virtual_stage >= s_.virtual_stages;
    const auto wrong =
        is_outside
            ? std::optional<std::string>(fmt::format(
                  "there are {} micro-batches and {} virtual stages", total_, s_.virtual_stages))
            : see(seen[{pass.micro_batch, pass.virtual_stage}], pass);
    if (wrong) {
      return ScheduleFault{stage, i, fmt::format("{} of stage {} is wrong", words(pass), stage),
                           *wrong};
    }
  }
  for (const auto& [key, done] : seen) {
    if (done.input && done.weight) continue;
    const char* lacks = done.input ? "weight gradient" : "backward pass";
    return ScheduleFault{
        stage, -1, fmt::format("stage {} has no {} of {}.{}", stage, lacks, key.first, key.second),
        "its activations would be held for ever"};
  }
  const bool is_both = s_.arrangement == Arrangement::both_ways;
  const auto needed =
      static_cast<std::size_t>(total_) * static_cast<std::size_t>(is_both ? 1 : s_.virtual_stages);
  if (seen.size() == needed) return std::nullopt;
  return ScheduleFault{
      stage, -1, fmt::format("stage {} runs {} forward passes, not {}", stage, seen.size(), needed),
      "every micro-batch passes every part of the dnn"};
}

}  // namespace

std::optional<ScheduleFault> fault(const Schedule& schedule) {
  if (auto wrong = Counter(schedule).run()) return wrong;
  Runner runner(schedule, {});
  if (!runner.run()) return runner.stuck();
  return std::nullopt;
}

std::vector<StageSpan> spans(const Schedule& schedule, const PassTimes& times) {
  Runner runner(schedule, times);
  const bool all = runner.run();
  invariant(all, "a schedule never ends");
  return runner.spans();
}

}  // namespace sim::plan
