// Memory by category: state by the sharding, activations by what the schedule keeps.
#include "sim/plan/memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/invariant.h"
#include "sim/plan/schedule.h"
#include "sim/plan/sizer.h"

namespace sim::plan {
namespace {

Bytes whole(double bytes) { return Bytes(std::ceil(bytes)); }

// Of the rank, and in the layer, with the most rows.
double most_load(const Plan& plan, const dnn::Transformer& dnn) {
  double most = 1;
  if (!dnn.is_moe() || plan.routing.is_even()) return most;
  const Routing& routing = plan.routing;
  const bool is_per_micro_batch = routing.draw == Routing::Draw::per_micro_batch;
  const RoutingPlace end{routing.draw == Routing::Draw::fixed ? 1 : dnn.layers,
                         is_per_micro_batch ? plan.micro_batches() : 1,
                         routing.are_groups_alike ? 1 : plan.expert_sharers()};
  for (RoutingPlace at; at.layer < end.layer; ++at.layer) {
    for (at.micro_batch = 0; at.micro_batch < end.micro_batch; ++at.micro_batch) {
      for (at.group = 0; at.group < end.group; ++at.group) {
        for (const RankLoad& rank : rank_loads(routing, dnn.experts.count, plan.expert, at)) {
          most = std::max(most, rank.load);
        }
      }
    }
  }
  return most;
}

}  // namespace

Sizer::Sizer(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack,
             const Schedule& schedule, int stage)
    : plan_(plan),
      stack_(stack),
      stage_(stage),
      schedule_(schedule),
      expert_sharers_(plan.expert_sharers()),
      gradient_bytes_(stack.gradient_fp32 ? 4 : 2),
      prediction_modules_(dnn.prediction_modules),
      layers_(layers_per_virtual_stage(plan, dnn, stack)) {
  set_stage(stage);
  dnn::Shard shard = shard_of(plan, weight_bytes);
  shard.expert_load = most_load(plan, dnn);
  for (const Holding& holding : holdings(plan)) {
    holdings_.push_back({holding.sharding, plan.shard_ranks() * (plan.tensor / holding.tensor)});
  }
  make_layers(dnn, shard);
  if (schedule_.splits_backward) {
    head_operands_ = dnn::weight_gradient_operands(dnn::head_operators(dnn, shard, stack), shard);
  }
  head_ = kinds_.front().parameters.head;
  const int end = schedule_.parts() - 1;
  const bool is_apart = schedule_.stage_of(0, 0) != schedule_.stage_of(end, 0);
  if (dnn.tied_embedding && is_apart) {
    // The last stage holds a copy of the token embedding: as much as an untied head would.
    dnn::Transformer untied = dnn;
    untied.tied_embedding = false;
    head_ = dnn::shard_parameters(untied, shard, stack, dnn::layer_kinds(dnn).kinds.front()).head;
  } else if (dnn.prediction_modules > 0 && is_apart) {
    head_ += kinds_.front().parameters.embedding;  // modules look up tokens as well
  }
}

void Sizer::set_stage(int stage) {
  invariant(stage >= 0 && stage < plan_.stages, "a stage is outside the pipeline");
  stage_ = stage;
}

void Sizer::make_layers(const dnn::Transformer& dnn, const dnn::Shard& shard) {
  const LayerStrategy usual{plan_.tensor, plan_.sharding, plan_.recompute};
  const dnn::LayerKinds kinds = dnn::layer_kinds(dnn);
  std::map<std::pair<std::size_t, LayerStrategy>, std::size_t> known;
  const auto add = [&](std::size_t kind, const LayerStrategy& strategy) {
    const auto [entry, is_new] = known.try_emplace({kind, strategy}, kinds_.size());
    if (is_new) kinds_.push_back(layer(dnn, shard, kinds.kinds[kind], strategy));
    return entry->second;
  };
  for (std::size_t kind = 0; kind < kinds.kinds.size(); ++kind) add(kind, usual);
  for (std::size_t l = 0; l < kinds.of_layer.size(); ++l) {
    const bool is_usual = plan_.cuts.empty();
    kind_of_.push_back(
        add(kinds.of_layer[l], is_usual ? usual : strategy_of(plan_, static_cast<int>(l))));
  }
  prediction_ = layer(dnn, shard, dnn::prediction_kind(dnn), usual);
}

// Where fewer ranks share a layer, each has fewer of the sequences.
Sizer::Layer Sizer::layer(const dnn::Transformer& dnn, dnn::Shard shard, const dnn::LayerKind& kind,
                          const LayerStrategy& strategy) const {
  Layer result;
  result.holding = holding_of(plan::holdings(plan_), strategy);
  shard = shard_of(shard, strategy);
  result.parameters = dnn::shard_parameters(dnn, shard, stack_, kind);
  result.activations = dnn::activation_bytes(dnn, shard, stack_, strategy.recompute, kind);
  if (schedule_.splits_backward) {
    result.operands = dnn::weight_gradient_operands(
        dnn::layer_operators(dnn, shard, stack_, strategy.recompute, kind), shard);
  }
  return result;
}

Sizer::Units Sizer::units(int virtual_stage) const {
  Units result;
  if (is_first(virtual_stage)) result.push_back({kinds_.front().parameters.embedding});
  each_layer(virtual_stage, [&](const Layer& l) {
    result.push_back({l.parameters.layer, l.parameters.experts, l.holding});
  });
  if (!is_last(virtual_stage)) return result;
  const dnn::ShardParameters& module = prediction_.parameters;
  result.insert(result.end(), static_cast<std::size_t>(prediction_modules_),
                {module.layer + module.prediction, module.experts});
  result.push_back({head_});
  return result;
}

// A module of multi-token prediction keeps what a layer and a head keep; what little its own
// projection adds is left out.
double Sizer::kept(int virtual_stage) const {
  double bytes = 0;
  each_layer(virtual_stage, [&](const Layer& l) { bytes += l.activations.per_layer.value(); });
  const dnn::ActivationBytes& any = kinds_.front().activations;
  if (is_first(virtual_stage)) bytes += any.embedding.value();
  if (!is_last(virtual_stage)) return bytes;
  const double module = prediction_.activations.per_layer.value() + any.head.value();
  return bytes + any.head.value() + prediction_modules_ * module;
}

double Sizer::moved(int virtual_stage) const {
  const auto part = static_cast<std::size_t>(schedule_.part(stage_, virtual_stage));
  int left = plan_.offload.layers_of(layers_[part]);
  double bytes = 0;
  each_layer(virtual_stage, [&](const Layer& l) {
    if (left-- > 0) bytes += l.activations.per_layer.value();
  });
  return bytes;
}

double Sizer::largest_moved() const {
  double most = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    const auto part = static_cast<std::size_t>(schedule_.part(stage_, v));
    int left = plan_.offload.layers_of(layers_[part]);
    each_layer(v, [&](const Layer& l) {
      if (left-- > 0) most = std::max(most, l.activations.per_layer.value());
    });
  }
  return most;
}

double Sizer::kept_for_weights(int virtual_stage) const {
  double bytes = 0;
  each_layer(virtual_stage, [&](const Layer& l) { bytes += l.operands.value(); });
  if (!is_last(virtual_stage)) return bytes;
  const double module = prediction_.operands.value() + head_operands_.value();
  return bytes + head_operands_.value() + prediction_modules_ * module;
}

std::vector<HeldActivations> Sizer::held_activations() const {
  struct Part {
    double keeps = 0, moves = 0, stays = 0, for_weights = 0;
  };
  std::vector<Part> parts;  // [virtual stage]
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    const double keeps = kept(v), moves = moved(v);
    parts.push_back({keeps, moves, keeps - moves, kept_for_weights(v)});
  }
  std::vector<HeldActivations> result;
  double held = 0;
  // Offloaded layers are on the device only while they are on their way.
  const double on_their_way = 2 * plan_.offload.buffers * largest_moved();
  double on_host = 0;
  const auto on_device = [&] { return held + std::min(on_host, on_their_way); };
  for (const Pass& pass : schedule_.passes[static_cast<std::size_t>(stage_)]) {
    const double before = on_device();
    const Part& part = parts[static_cast<std::size_t>(pass.virtual_stage)];
    switch (pass.kind) {
      case Pass::Kind::forward:
        held += part.stays;
        on_host += part.moves;
        break;
      case Pass::Kind::backward:
        held -= part.stays;
        on_host -= part.moves;
        break;
      case Pass::Kind::backward_input:
        held += part.for_weights - part.keeps;
        break;
      case Pass::Kind::backward_weight:
        held -= part.for_weights;
        break;
      case Pass::Kind::update:
        break;
    }
    result.push_back({Bytes(std::max(before, on_device())), Bytes(on_device()), Bytes(on_host)});
  }
  return result;
}

// At the worst moment of the schedule.
Sizer::Activations Sizer::activations_peak() const {
  Activations most;
  for (const HeldActivations& held : held_activations()) {
    most.on_device = std::max(most.on_device, held.during.value());
    most.on_host = std::max(most.on_host, held.on_host.value());
  }
  return most;
}

double Sizer::gathered(const Unit& unit, Sharding by) const {
  if (sharding(unit) != by) return 0;
  return (sharers(unit) > 1 ? unit.parameters : 0) + (expert_sharers_ > 1 ? unit.experts : 0);
}

// The largest run of units that are whole at the same time: one runs, others are gathered ahead.
// Where they stay whole until their backward passes, all.
double Sizer::gathered_parameters() const {
  const auto window = static_cast<std::size_t>(stack_.prefetch_layers) + 1;
  double most = 0, all_units = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    const Units all = units(v);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double own = gathered(all[i], Sharding::zero3);
      sum += own - (i >= window ? gathered(all[i - window], Sharding::zero3) : 0);
      most = std::max(most, sum);
      all_units += own;
    }
  }
  return plan_.reshard_after_forward ? most : all_units;
}

// Parameters whose gradients are whole before they are reduced: with ZeRO-3 a unit's, with ZeRO-2 a
// bucket's or, without buckets, a virtual stage's.
double Sizer::unreduced_gradients() const {
  double largest_unit = 0, largest_part = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    double sum = 0;
    for (const Unit& unit : units(v)) {
      sum += gathered(unit, Sharding::zero2);
      largest_unit = std::max(largest_unit, gathered(unit, Sharding::zero3));
    }
    largest_part = std::max(largest_part, sum);
  }
  const double bucket = stack_.bucket.value() / gradient_bytes_;
  return largest_unit + (bucket > 0 ? std::min(bucket, largest_part) : largest_part);
}

// Of the layers of this stage, the most; without any, as if there were one.
double Sizer::transient() const {
  double most = 0;
  const auto see = [&](const Layer& l) { most = std::max(most, l.activations.transient.value()); };
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    each_layer(v, see);
    if (is_last(v) && prediction_modules_ > 0) see(prediction_);
  }
  if (most == 0) see(kinds_.front());
  return most;
}

double Sizer::temporaries() const {
  double bytes = transient();
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    if (is_last(v)) bytes = std::max(bytes, kinds_.front().activations.head_transient.value());
  }
  return bytes + gathered_parameters() * weight_bytes + unreduced_gradients() * gradient_bytes_;
}

MemoryBreakdown Sizer::run() const {
  std::vector<Unit> all(holdings_.size());  // [holding]
  for (std::size_t i = 0; i < all.size(); ++i) all[i].holding = i;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    for (const Unit& unit : units(v)) {
      all[unit.holding].parameters += unit.parameters;
      all[unit.holding].experts += unit.experts;
    }
  }
  const auto held = [&](double bytes, Sharding shared_from) {
    double sum = 0;
    for (const Unit& one : all) {
      const bool is_shared = sharding(one) >= shared_from;
      sum += one.parameters * bytes / (is_shared ? sharers(one) : 1) +
             one.experts * bytes / (is_shared ? expert_sharers_ : 1);
    }
    return whole(sum);
  };
  MemoryBreakdown m;
  m.weights = held(weight_bytes * schedule_.weight_versions, Sharding::zero3);
  m.gradients = held(gradient_bytes_, Sharding::zero2);
  const double share = plan_.offload.optimizer;
  m.optimizer = held(optimizer_bytes * (1 - share), Sharding::zero1);
  m.host.optimizer = held(optimizer_bytes * share, Sharding::zero1);
  m.host.gradients = held(gradient_bytes_ * share, Sharding::zero1);
  m.host.parameters = held(weight_bytes * share, Sharding::zero1);
  const Activations activations = activations_peak();
  m.activations = whole(activations.on_device);
  m.host.activations = whole(activations.on_host);
  const double temporary = temporaries();
  const double allocated = m.peak().value() + temporary;
  m.other = whole(temporary + stack_.reserve.value() + stack_.fragmentation * allocated);
  return m;
}

namespace {

// Between its beginning and its end a loop keeps, period by period of as many micro-batches as
// there are stages, the same: four periods and what is left over show the most.
Plan shortened(Plan plan) {
  const bool is_loop =
      plan.schedule == ScheduleKind::one_f_one_b || plan.schedule == ScheduleKind::interleaved;
  const int micro_batches = plan.micro_batches();
  if (!is_loop || !flushes(plan) || micro_batches < 5 * plan.stages) return plan;
  const int fewer = 4 * plan.stages + micro_batches % plan.stages;
  plan.global_batch = fewer * plan.micro_batch * plan.data;
  return plan;
}

// Without a flush the next round begins before the first has ended.
Schedule full_schedule(const Plan& plan) {
  return schedule(shortened(plan), flushes(plan) ? 1 : 2);
}

}  // namespace

MemoryBreakdown memory(const Plan& plan, const dnn::Transformer& dnn,
                       const dnn::SoftwareStack& stack, int stage) {
  return Sizer(plan, dnn, stack, full_schedule(plan), stage).run();
}

std::vector<MemoryBreakdown> memory_of_stages(const Plan& plan, const dnn::Transformer& dnn,
                                              const dnn::SoftwareStack& stack) {
  std::vector<MemoryBreakdown> result;
  if (plan.replicas.empty()) {
    const Schedule schedule = full_schedule(plan);
    Sizer sizer(plan, dnn, stack, schedule, 0);
    for (int stage = 0; stage < plan.stages; ++stage) {
      sizer.set_stage(stage);
      result.push_back(sizer.run());
    }
    return result;
  }
  for (const int first : first_of_kinds(plan)) {
    const Schedule schedule = full_schedule(plan_of_stage(plan, first, 0));
    for (int stage = 0; stage < stages_of(plan, first); ++stage) {
      result.push_back(Sizer(plan_of_stage(plan, first, stage), dnn, stack, schedule, stage).run());
    }
  }
  return result;
}

std::vector<HeldActivations> held_activations(const Plan& plan, const dnn::Transformer& dnn,
                                              const dnn::SoftwareStack& stack,
                                              const Schedule& schedule, int stage) {
  return Sizer(plan, dnn, stack, schedule, stage).held_activations();
}

}  // namespace sim::plan
