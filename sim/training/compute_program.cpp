// Passes become steps: one for a whole pass where nothing else can touch what it uses, one for each
// operator elsewhere.
#include "sim/training/compute_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/training/segment.h"

namespace sim::training {

using network::Wait;
using plan::Pass;

namespace {

class LaneWriter {
 public:
  explicit LaneWriter(const LaneInput& input)
      : in_(input),
        passes_(input.schedule->passes[static_cast<std::size_t>(input.stage)]),
        milestones_(*input.schedule, input.data->events) {
    has_host_ =
        input.stack->host_per_operator.value() > 0 || input.stack->host_per_layer.value() > 0;
  }

  LanePrograms write();

 private:
  void receive(const Pass& pass);
  void pass(int index);
  void give(const Pass& pass);
  bool outruns_host(int index) const;
  void segment(int index);
  const Segment& segment_of(const Pass& p);
  void operators(int index);
  void tally(const CostedOperator& o) {
    result_.flops += o.flops;
    result_.family[static_cast<std::size_t>(o.family)] += o.work;
  }
  void one_operator(const CostedOperator& o);
  void collective(const CostedOperator& o);
  void update(int round);
  void add(ProgramWriter::StepSpec spec, Launch launch);
  void write_host();
  Picoseconds varied(Picoseconds work) { return in_.jitter ? in_.jitter->next(work) : work; }
  // All its ranks wait for each other.
  void meet() {
    if (in_.jitter) in_.jitter->meet();
  }

  const LaneInput& in_;
  const std::vector<Pass>& passes_;
  Milestones milestones_;
  bool has_host_ = false;
  ProgramWriter compute_, host_;
  std::vector<Launch> launches_;  // [compute step]
  std::vector<Wait> pending_;     // waits of the next step
  std::optional<int> beside_;     // tensor step that runs beside the next operator
  Picoseconds beside_duration_ = 0;
  std::optional<int> must_end_;  // tensor step to wait for before the next operator
  Launch carried_{};             // launches of collectives, paid by the next step
  std::size_t next_hook_ = 0;
  std::map<std::pair<Pass::Kind, int>, Segment> segments_;  // by virtual stage
  LanePrograms result_;
};

std::string label_of(const Pass& pass) {
  const char* const names[] = {"forward", "backward", "backward input", "backward weight",
                               "update"};
  return fmt::format("{} {}.{}", names[static_cast<std::size_t>(pass.kind)], pass.micro_batch,
                     pass.virtual_stage);
}

void LaneWriter::add(ProgramWriter::StepSpec spec, Launch launch) {
  spec.waits.swap(pending_);
  launch.duration += carried_.duration;
  launch.kernels += carried_.kernels;
  carried_ = {};
  if (has_host_ && launch.kernels > 0) {
    // Host milestone i: the launches of compute step i have ended.
    spec.waits.push_back({slot_host, compute_.size()});
  }
  launches_.push_back(launch);
  compute_.add(spec);
  spec.waits.clear();
  pending_.swap(spec.waits);  // its memory serves the next step
}

// The same for every micro-batch, but for draws.
const Segment& LaneWriter::segment_of(const Pass& p) {
  const std::pair<Pass::Kind, int> key{p.kind, p.virtual_stage};
  const auto found = segments_.find(key);
  if (found != segments_.end() && !in_.jitter) return found->second;
  return segments_[key] = measured_segment(in_, p, has_host_);
}

// The whole pass as one step, and its last operator as another so that the host's launches are
// waited for at the end as well as at the start.
void LaneWriter::segment(int index) {
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const Segment& s = segment_of(p);
  for (const double flops : s.flops) result_.flops += flops;
  for (std::size_t f = 0; f < s.family.size(); ++f) result_.family[f] += s.family[f];
  for (const auto& [what, times] : s.merged) result_.merged[what] += times;
  ProgramWriter::StepSpec spec;
  spec.label = label_of(p);
  for (int c = 0; c < category_count; ++c) {
    const Picoseconds work = s.parts[static_cast<std::size_t>(c)];
    spec.work += work;
    if (work > 0) spec.parts.push_back({static_cast<std::uint8_t>(c), work});
  }
  if (!has_host_) {
    add(std::move(spec), {});
    return;
  }
  const Picoseconds first_launch = std::max<Picoseconds>(s.first_launch, 0);
  add(spec, {first_launch, 1});
  add({.label = spec.label, .category = s.tail_category, .work = s.tail},
      {s.launch.duration - first_launch, s.launch.kernels - 1});
}

void LaneWriter::collective(const CostedOperator& o) {
  carried_.duration += o.host;
  carried_.kernels += o.kernels;
  if (!o.is_overlapped) meet();
  if (beside_) must_end_ = std::exchange(beside_, std::nullopt);
  const int step = static_cast<int>(result_.tensor_steps.size());
  // It may start when everything issued before it has ended.
  if (must_end_) {
    pending_.push_back({slot_tensor, *must_end_});
    must_end_.reset();
  }
  if (!pending_.empty()) add({.label = o.name}, {});
  compute_.reach(milestones_.tensor_base() + step);
  result_.tensor_steps.push_back({*o.collective, o.size, o.name, Category::exposed_tensor});
  if (o.is_overlapped) {
    beside_ = step;
    const TransferCost cost = in_.tensor->cost(*o.collective, o.size).second;
    beside_duration_ = cost.lag + cost.work;
  } else {
    must_end_ = step;
  }
}

void LaneWriter::one_operator(const CostedOperator& o) {
  tally(o);
  if (o.collective) return collective(o);
  if (must_end_) {
    pending_.push_back({slot_tensor, *must_end_});
    must_end_.reset();
  }
  ProgramWriter::StepSpec spec{.label = o.name,
                               .category = o.category,
                               .work = varied(o.work),
                               .weight = byte_fair_weight(o.memory_rate)};
  spec.uses.reserve(2);
  if (o.multiprocessors > 0) spec.uses.push_back({footprint_multiprocessors, o.multiprocessors});
  if (o.memory_rate > 0) spec.uses.push_back({footprint_memory, o.memory_rate});
  const Picoseconds work = spec.work;
  add(std::move(spec), {o.host, o.kernels});
  if (!beside_) return;
  if (overlapped(in_, beside_duration_, work) == beside_duration_) meet();
  must_end_ = std::exchange(beside_, std::nullopt);
}

void LaneWriter::operators(int index) {
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const int count = unit_count(in_, p);
  const auto& hooks = in_.data->hooks;
  for (int u = 0; u < count; ++u) {
    std::vector<int> events;
    while (next_hook_ < hooks.size() && hooks[next_hook_].pass == index &&
           hooks[next_hook_].unit == u) {
      const Hook& hook = hooks[next_hook_++];
      if (hook.wait) pending_.push_back({slot_data, *hook.wait});
      if (hook.event) events.push_back(*hook.event);
    }
    for (const CostedOperator& o : operators_of(in_, p, u)) one_operator(o);
    if (events.empty()) continue;
    if (must_end_ || beside_) {
      for (const auto step : {must_end_, beside_}) {
        if (step) pending_.push_back({slot_tensor, *step});
      }
      must_end_.reset();
      beside_.reset();
      meet();
    }
    if (!pending_.empty()) add({.label = "unit ends"}, {});
    for (const int event : events) compute_.reach(milestones_.event(event));
  }
  if (must_end_) pending_.push_back({slot_tensor, *must_end_});
  if (beside_) pending_.push_back({slot_tensor, *beside_});
  must_end_.reset();
  beside_.reset();
  if (!pending_.empty()) add({.label = "pass ends"}, {});
}

// With more launches than the host may be ahead, it waits in the middle of the pass.
bool LaneWriter::outruns_host(int index) const {
  if (!has_host_) return false;
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const int count = unit_count(in_, p);
  int launches = 0;
  for (int u = 0; u < count; ++u) {
    for (const CostedOperator& o : operators_of(in_, p, u)) launches += o.kernels;
  }
  return launches > in_.stack->host_run_ahead;
}

// What it needs from another stage.
void LaneWriter::receive(const Pass& pass) {
  using Neighbour = plan::Schedule::Neighbour;
  const auto source = in_.schedule->source(in_.stage, pass);
  if (source.from != Neighbour::previous && source.from != Neighbour::next) return;
  const bool is_previous = source.from == Neighbour::previous;
  const Picoseconds receive = is_previous ? in_.receive_from_previous : in_.receive_from_next;
  if (receive > 0) {
    const int sender = pass.kind == Pass::Kind::forward
                           ? milestones_.forward(source.virtual_stage, pass.micro_batch)
                           : milestones_.backward(source.virtual_stage, pass.micro_batch);
    pending_.push_back({is_previous ? slot_previous_compute : slot_next_compute, sender});
    add({.label = "receive", .category = Category::exposed_pipeline, .lag = receive}, {});
  }
  pending_.push_back({is_previous ? slot_from_previous : slot_from_next,
                      milestones_.forward(source.virtual_stage, pass.micro_batch)});
}

void LaneWriter::pass(int index) {
  if (in_.always_operators || in_.data->is_concurrent[static_cast<std::size_t>(index)] ||
      outruns_host(index)) {
    operators(index);
  } else {
    segment(index);
  }
  meet();
}

// What others wait for.
void LaneWriter::give(const Pass& pass) {
  using Neighbour = plan::Schedule::Neighbour;
  if (pass.kind == Pass::Kind::forward) {
    compute_.reach(milestones_.forward(pass.virtual_stage, pass.micro_batch));
  } else if (pass.is_backward()) {
    compute_.reach(milestones_.backward(pass.virtual_stage, pass.micro_batch));
  }
  const Neighbour target = in_.schedule->target(in_.stage, pass);
  if (!in_.stack->pipeline_blocks) return;
  if (target != Neighbour::next && target != Neighbour::previous) return;
  pending_.push_back({target == Neighbour::next ? slot_to_next : slot_to_previous,
                      milestones_.forward(pass.virtual_stage, pass.micro_batch)});
}

void LaneWriter::update(int round) {
  const auto index = static_cast<std::size_t>(round);
  compute_.reach(milestones_.passes_done(round));
  if (in_.has_embedding_reduction) pending_.push_back({slot_embedding, round});
  if (in_.data->optimizer_waits[index]) {
    pending_.push_back({slot_data, *in_.data->optimizer_waits[index]});
  }
  one_operator(in_.optimizer);
  compute_.reach(milestones_.optimizer_done(round));
  // Of several rounds the last steady one counts.
  const int last = in_.schedule->rounds - in_.schedule->trailing_rounds() - 1;
  if (in_.schedule->rounds > 1 && round == last - 1) compute_.begin_account();
  if (in_.schedule->rounds > 1 && round == last) compute_.end_account();
  // With several rounds it is the next one that waits.
  if (in_.schedule->rounds > 1 || !in_.data->end_waits) return;
  pending_.push_back({slot_data, *in_.data->end_waits});
  add({.label = "iteration ends", .category = Category::other}, {});
}

// Host milestone i: the launches of compute step i have ended. The host is at most
// `host_run_ahead` launches ahead of the device.
void LaneWriter::write_host() {
  std::vector<std::int64_t> before(launches_.size() + 1, 0);  // launches of the steps before
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    before[i + 1] = before[i] + launches_[i].kernels;
  }
  const int identity = milestones_.tensor_base() + static_cast<int>(result_.tensor_steps.size());
  std::size_t ended = 0;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i].kernels > 0) {
      ProgramWriter::StepSpec spec{
          .label = "launch", .category = Category::host, .work = launches_[i].duration};
      // A merged step starts launching when its first launch may go ahead.
      const std::int64_t needed = before[i] + 1 - in_.stack->host_run_ahead;
      while (ended < i && before[ended] < needed) ++ended;
      if (ended > 0) {
        const int milestone = identity + static_cast<int>(ended);
        compute_.reach(milestone, static_cast<std::int32_t>(ended));
        spec.waits.push_back({0, milestone});
      }
      host_.add(spec);
    }
    host_.reach(static_cast<std::int32_t>(i));
  }
}

LanePrograms LaneWriter::write() {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (passes_[i].kind == Pass::Kind::update) {
      update(passes_[i].micro_batch);
      continue;
    }
    // Passes that run together need what all of them need, and give at the end.
    std::size_t last = i;
    while (passes_[last].with_next) ++last;
    for (std::size_t k = i; k <= last; ++k) receive(passes_[k]);
    for (std::size_t k = i; k <= last; ++k) pass(static_cast<int>(k));
    for (std::size_t k = i; k <= last; ++k) give(passes_[k]);
    i = last;
  }
  if (has_host_) write_host();
  result_.compute = compute_.take();
  result_.host = host_.take();
  return std::move(result_);
}

}  // namespace

LanePrograms lane_programs(const LaneInput& input) { return LaneWriter(input).write(); }

}  // namespace sim::training
