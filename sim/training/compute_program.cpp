// Passes become steps: one for a whole pass where nothing else can touch what it uses, one for each
// operator elsewhere.
#include "sim/training/compute_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/training/host_program.h"
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
        milestones_(*input.schedule, input.data->events(), input.shared_collectives),
        next_hook_(input.data->by_sharers.size(), 0) {
    has_host_ =
        input.stack->host_per_operator.value() > 0 || input.stack->host_per_layer.value() > 0;
  }

  LanePrograms write();

 private:
  void receive(const Pass& pass);
  void pass(int index);
  void give(const Pass& pass);
  bool outruns_host(int index) const;
  void merged_pieces(int index);
  void segment(const Pass& p, const Segment& s);
  void operators(int index);
  void see_hooks(int pass, int unit, std::vector<int>& events);
  void end_collectives();
  void tally(const CostedOperator& o, const Variant& variant) {
    result_.flops += variant.flops;
    result_.family[static_cast<std::size_t>(o.family)] += variant.work;
  }
  void one_operator(const CostedOperator& o);
  void collective(const CostedOperator& o);
  void update(int round);
  void update_on_host();
  void add(ProgramWriter::StepSpec spec, Launch launch);
  Picoseconds varied(Picoseconds work) { return in_.jitter ? in_.jitter->next(work) : work; }
  // All its ranks wait for each other.
  void meet() {
    if (in_.jitter) in_.jitter->meet();
  }

  const LaneInput& in_;
  const std::vector<Pass>& passes_;
  Milestones milestones_;
  bool has_host_ = false;
  ProgramWriter compute_;
  std::vector<Launch> launches_;  // [compute step]
  std::vector<Wait> pending_;     // waits of the next step
  struct InProgress {
    dnn::RankGroup group;
    int step;  // of the group's stream
    int left;  // operators that may still run beside it
    Picoseconds duration;
  };
  // Before the next operator those must have ended that nothing may run beside any more.
  void await_collectives(bool all = false);
  void ran_beside(Picoseconds work);

  std::vector<InProgress> in_progress_;
  Launch carried_{};                    // launches of collectives, paid by the next step
  int shared_ = 0;                      // collectives so far whose groups may join several lanes
  std::vector<std::size_t> next_hook_;  // [Sharers]
  std::size_t next_offload_hook_ = 0;
  struct PassPieces {
    std::vector<Piece> pieces;
    std::vector<std::optional<Segment>> segments;
  };
  std::map<std::tuple<Pass::Kind, int, MicroBatchDraws>, PassPieces> pieces_;  // by virtual stage
  MicroBatchDraws draws_;                                                      // of this pass
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

constexpr ComputeSlot slot_of(dnn::RankGroup group) {
  constexpr ComputeSlot slots[] = {slot_tensor, slot_context, slot_expert, slot_expert_tensor};
  return slots[static_cast<std::size_t>(group)];
}

// Pieces are the same for every micro-batch of one draw, but for jitter.
void LaneWriter::merged_pieces(int index) {
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const auto [entry, is_new] = pieces_.try_emplace({p.kind, p.virtual_stage, draws_});
  PassPieces& known = entry->second;
  if (is_new) {
    known.pieces = pieces(*in_.units, p);
    known.segments.resize(known.pieces.size());
  }
  for (std::size_t i = 0; i < known.pieces.size(); ++i) {
    const Piece& piece = known.pieces[i];
    if (!piece.is_merged) {
      for (const CostedOperator* o : piece.run) one_operator(*o);
      continue;
    }
    await_collectives();
    std::optional<Segment>& s = known.segments[i];
    if (!s || in_.jitter) s = measured_segment(in_, piece.run, has_host_, draws_);
    segment(p, *s);
  }
  end_collectives();
}

// Operators as one step, and the last of them as another so that the host's launches are waited for
// at the end as well as at the start.
void LaneWriter::segment(const Pass& p, const Segment& s) {
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

void LaneWriter::await_collectives(bool all) {
  for (const InProgress& one : in_progress_) {
    if (!all && one.left > 0) continue;
    pending_.push_back({slot_of(one.group), one.step});
  }
  std::erase_if(in_progress_, [&](const InProgress& one) { return all || one.left == 0; });
}

// An operator ran beside what is in progress.
void LaneWriter::ran_beside(Picoseconds work) {
  for (InProgress& one : in_progress_) {
    if (one.left == 0 || --one.left > 0) continue;
    if (one.group != dnn::RankGroup::tensor || overlapped(in_, one.duration, work) == one.duration)
      meet();
  }
}

void LaneWriter::collective(const CostedOperator& o) {
  carried_.duration += o.host;
  carried_.kernels += o.kernels;
  if (o.overlapped == 0) meet();
  // It may start when everything issued before it has ended.
  await_collectives();
  if (!pending_.empty()) add({.label = o.name}, {});
  for (InProgress& one : in_progress_) {
    if (one.group != o.group) --one.left;
  }
  auto& steps = result_.group_steps[static_cast<std::size_t>(o.group)];
  const int step = static_cast<int>(steps.size());
  const int milestone =
      is_of_lane(o) ? milestones_.tensor_base() + step : milestones_.shared_base() + shared_++;
  compute_.reach(milestone);
  steps.push_back(
      {*o.collective, o.size, o.name, o.category, milestone, o.skew_in(draws_), o.part});
  Picoseconds duration = 0;
  if (o.overlapped > 0 && is_of_lane(o)) {
    const TransferCost cost = in_.tensor->of(o.part).group_cost(*o.collective, o.size).second;
    duration = cost.lag + cost.work;
  }
  in_progress_.push_back({o.group, step, o.overlapped, duration});
}

void LaneWriter::one_operator(const CostedOperator& o) {
  const Variant variant = o.in(draws_);
  tally(o, variant);
  if (o.collective) return collective(o);
  await_collectives();
  ProgramWriter::StepSpec spec{.label = o.name,
                               .category = o.category,
                               .work = varied(variant.work),
                               .weight = byte_fair_weight(variant.memory_rate)};
  spec.uses.reserve(2);
  if (o.multiprocessors > 0) spec.uses.push_back({footprint_multiprocessors, o.multiprocessors});
  if (variant.memory_rate > 0) spec.uses.push_back({footprint_memory, variant.memory_rate});
  const Picoseconds work = spec.work;
  add(std::move(spec), {o.host, o.kernels});
  ran_beside(work);
}

void LaneWriter::end_collectives() {
  await_collectives(true);
  if (!pending_.empty()) add({.label = "pass ends"}, {});
}

// Waits before the unit, and events after it.
void LaneWriter::see_hooks(int pass, int unit, std::vector<int>& events) {
  for (std::size_t group = 0; group < next_hook_.size(); ++group) {
    const auto sharers = static_cast<Sharers>(group);
    const auto& hooks = in_.data->of(sharers).hooks;
    std::size_t& next = next_hook_[group];
    for (; next < hooks.size() && hooks[next].pass == pass && hooks[next].unit == unit; ++next) {
      if (hooks[next].wait) pending_.push_back({slot_of(sharers), *hooks[next].wait});
      if (hooks[next].event) {
        events.push_back(in_.data->first_event(sharers) + *hooks[next].event);
      }
    }
  }
  const auto& hooks = in_.data->offload.hooks;
  std::size_t& next = next_offload_hook_;
  for (; next < hooks.size() && hooks[next].pass == pass && hooks[next].unit == unit; ++next) {
    if (hooks[next].out) pending_.push_back({slot_to_host, *hooks[next].out});
    if (hooks[next].in) pending_.push_back({slot_from_host, *hooks[next].in});
    if (hooks[next].event) events.push_back(in_.data->first_offload_event() + *hooks[next].event);
  }
}

void LaneWriter::operators(int index) {
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const int count = unit_count(*in_.units, p);
  for (int u = 0; u < count; ++u) {
    std::vector<int> events;
    see_hooks(index, u, events);
    for (const CostedOperator& o : operators_of(*in_.units, p, u)) one_operator(o);
    if (events.empty()) continue;
    if (!in_progress_.empty()) {
      await_collectives(true);
      meet();
    }
    if (!pending_.empty()) add({.label = "unit ends"}, {});
    for (const int event : events) compute_.reach(milestones_.event(event));
  }
  end_collectives();
}

// With more launches than the host may be ahead, it waits in the middle of the pass.
bool LaneWriter::outruns_host(int index) const {
  if (!has_host_) return false;
  const Pass& p = passes_[static_cast<std::size_t>(index)];
  const int count = unit_count(*in_.units, p);
  int launches = 0;
  for (int u = 0; u < count; ++u) {
    for (const CostedOperator& o : operators_of(*in_.units, p, u)) launches += o.kernels;
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
  if (in_.lengths) {
    const auto batch =
        static_cast<std::size_t>(passes_[static_cast<std::size_t>(index)].micro_batch);
    draws_.lengths = (*in_.lengths)[batch % in_.lengths->size()];  // rounds repeat them
  }
  if (in_.routing_draws > 0) {
    draws_.routing = passes_[static_cast<std::size_t>(index)].micro_batch % in_.routing_draws;
  }
  if (in_.always_operators || in_.data->is_concurrent(static_cast<std::size_t>(index)) ||
      outruns_host(index)) {
    operators(index);
  } else {
    merged_pieces(index);
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

// Three steps without work, so that waiting is accounted to what is waited for.
void LaneWriter::update_on_host() {
  const OffloadPlan& offload = in_.data->offload;
  if (!offload.last_gradient) return;
  pending_.push_back({slot_to_host, *offload.last_gradient});
  add({.label = "gradients on the host", .category = Category::exposed_offload}, {});
  pending_.push_back({slot_cpu, static_cast<int>(offload.steps.size()) - 1});
  add({.label = "step on the host", .category = Category::optimizer}, {});
  pending_.push_back({slot_from_host, static_cast<int>(offload.in.size()) - 1});
  add({.label = "parameters on the device", .category = Category::exposed_offload}, {});
}

void LaneWriter::update(int round) {
  const auto index = static_cast<std::size_t>(round);
  compute_.reach(milestones_.passes_done(round));
  if (in_.has_embedding_reduction) pending_.push_back({slot_embedding, round});
  for (std::size_t group = 0; group < in_.data->by_sharers.size(); ++group) {
    const std::optional<int> wait = in_.data->by_sharers[group].optimizer_waits[index];
    if (wait) pending_.push_back({slot_of(static_cast<Sharers>(group)), *wait});
  }
  const auto& copies = in_.data->copies.optimizer_waits;
  if (!copies.empty() && copies[index]) pending_.push_back({slot_copies, *copies[index]});
  one_operator(in_.optimizer);
  update_on_host();
  compute_.reach(milestones_.optimizer_done(round));
  // Of several rounds the last steady one counts.
  const int last = in_.schedule->rounds - in_.schedule->trailing_rounds() - 1;
  if (in_.schedule->rounds > 1 && round == last - 1) compute_.begin_account();
  if (in_.schedule->rounds > 1 && round == last) compute_.end_account();
  // With several rounds it is the next one that waits.
  if (in_.schedule->rounds > 1) return;
  for (std::size_t group = 0; group < in_.data->by_sharers.size(); ++group) {
    const std::optional<int> wait = in_.data->by_sharers[group].end_waits;
    if (wait) pending_.push_back({slot_of(static_cast<Sharers>(group)), *wait});
  }
  if (!pending_.empty()) add({.label = "iteration ends", .category = Category::other}, {});
}

LanePrograms LaneWriter::write() {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (passes_[i].kind == Pass::Kind::update) {
      update(passes_[i].micro_batch);
      result_.pass_ends.push_back(compute_.size());
      continue;
    }
    // Passes that run together need what all of them need, and give at the end.
    std::size_t last = i;
    while (passes_[last].with_next) ++last;
    for (std::size_t k = i; k <= last; ++k) receive(passes_[k]);
    for (std::size_t k = i; k <= last; ++k) {
      pass(static_cast<int>(k));
      result_.pass_ends.push_back(compute_.size());
    }
    for (std::size_t k = i; k <= last; ++k) give(passes_[k]);
    i = last;
  }
  if (has_host_) {
    const auto tensor_steps = result_.steps_of(dnn::RankGroup::tensor).size();
    const int free = milestones_.tensor_base() + static_cast<int>(tensor_steps);
    result_.host =
        host_program(launches_, in_.stack->host_run_ahead, in_.has_slow_launches, free, compute_);
  }
  result_.compute = compute_.take();
  return std::move(result_);
}

}  // namespace

LanePrograms lane_programs(const LaneInput& input) { return LaneWriter(input).write(); }

}  // namespace sim::training
