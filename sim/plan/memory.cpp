// Memory by category: state by the sharding, activations by what the schedule keeps.
#include "sim/plan/memory.h"

#include <algorithm>
#include <cmath>

#include "sim/base/invariant.h"
#include "sim/plan/schedule.h"

namespace sim::plan {
namespace {

constexpr double weight_bytes = 2;      // bf16, fp16
constexpr double optimizer_bytes = 12;  // fp32 master weight and two moments of Adam

Bytes whole(double bytes) { return Bytes(std::ceil(bytes)); }

class Sizer {
 public:
  Sizer(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack,
        const Schedule& schedule, int stage);
  MemoryBreakdown run() const;

 private:
  // A layer, the embedding or the head: what is gathered and reduced as one.
  using Units = std::vector<double>;  // parameters, in model order

  bool is_first(int virtual_stage) const { return schedule_.part(stage_, virtual_stage) == 0; }
  bool is_last(int virtual_stage) const {
    return schedule_.part(stage_, virtual_stage) == schedule_.parts() - 1;
  }
  int layers_of(int virtual_stage) const {
    return layers_[static_cast<std::size_t>(schedule_.part(stage_, virtual_stage))];
  }
  // What a pass of a virtual stage keeps, until its backward pass or its weight gradient.
  double kept(int virtual_stage) const;
  double kept_for_weights(int virtual_stage) const;
  Units units(int virtual_stage) const;
  double activations_peak() const;
  double gathered_parameters() const;
  double unreduced_gradients() const;
  double temporaries() const;

  const Plan& plan_;
  const dnn::SoftwareStack& stack_;
  int stage_;
  const Schedule& schedule_;
  double sharers_;  // ranks that hold the same parameters
  double gradient_bytes_;
  dnn::ShardParameters parameters_;
  double head_;  // parameters of the last stage beside its layers
  dnn::ActivationBytes activations_;
  Bytes layer_operands_, head_operands_;  // of weight gradients
  std::vector<int> layers_;
};

Sizer::Sizer(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack,
             const Schedule& schedule, int stage)
    : plan_(plan),
      stack_(stack),
      stage_(stage),
      schedule_(schedule),
      sharers_(static_cast<double>(plan.data) * plan.context),
      gradient_bytes_(stack.gradient_fp32 ? 4 : 2),
      layers_(layers_per_virtual_stage(plan, dnn.layers)) {
  invariant(stage >= 0 && stage < plan.stages, "a stage is outside the pipeline");
  dnn::Shard shard;
  shard.sequence = plan.sequence;
  shard.micro_batch = plan.micro_batch;
  shard.tensor = plan.tensor;
  shard.sequence_parallel = plan.sequence_parallel;
  shard.bytes_per_element = weight_bytes;
  shard.context = plan.context;
  parameters_ = dnn::shard_parameters(dnn, shard, stack);
  activations_ = dnn::activation_bytes(dnn, shard, stack, plan.recompute);
  if (schedule_.splits_backward) {
    layer_operands_ = dnn::weight_gradient_operands(
        dnn::layer_operators(dnn, shard, stack, plan.recompute), shard);
    head_operands_ = dnn::weight_gradient_operands(dnn::head_operators(dnn, shard, stack), shard);
  }
  head_ = parameters_.head;
  const int end = schedule_.parts() - 1;
  if (dnn.tied_embedding && schedule_.stage_of(0, 0) != schedule_.stage_of(end, 0)) {
    // The last stage holds a copy of the token embedding: as much as an untied head would.
    dnn::Transformer untied = dnn;
    untied.tied_embedding = false;
    head_ = dnn::shard_parameters(untied, shard, stack).head;
  }
}

Sizer::Units Sizer::units(int virtual_stage) const {
  Units result;
  if (is_first(virtual_stage)) result.push_back(parameters_.embedding);
  result.insert(result.end(), static_cast<std::size_t>(layers_of(virtual_stage)),
                parameters_.layer);
  if (is_last(virtual_stage)) result.push_back(head_);
  return result;
}

double Sizer::kept(int virtual_stage) const {
  double bytes = layers_of(virtual_stage) * activations_.per_layer.value();
  if (is_first(virtual_stage)) bytes += activations_.embedding.value();
  if (is_last(virtual_stage)) bytes += activations_.head.value();
  return bytes;
}

double Sizer::kept_for_weights(int virtual_stage) const {
  double bytes = layers_of(virtual_stage) * layer_operands_.value();
  if (is_last(virtual_stage)) bytes += head_operands_.value();
  return bytes;
}

// At the worst moment of the schedule.
double Sizer::activations_peak() const {
  double held = 0, most = 0;
  for (const Pass& pass : schedule_.passes[static_cast<std::size_t>(stage_)]) {
    const int v = pass.virtual_stage;
    switch (pass.kind) {
      case Pass::Kind::forward:
        held += kept(v);
        break;
      case Pass::Kind::backward:
        held -= kept(v);
        break;
      case Pass::Kind::backward_input:
        held += kept_for_weights(v) - kept(v);
        break;
      case Pass::Kind::backward_weight:
        held -= kept_for_weights(v);
        break;
      case Pass::Kind::update:
        break;
    }
    most = std::max(most, held);
  }
  return most;
}

// The largest run of units that are whole at the same time: one runs, others are gathered ahead.
double Sizer::gathered_parameters() const {
  const auto window = static_cast<std::size_t>(stack_.prefetch_layers) + 1;
  double most = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    const Units all = units(v);
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      sum += all[i] - (i >= window ? all[i - window] : 0);
      most = std::max(most, sum);
    }
  }
  return most;
}

// Parameters whose gradients are whole before they are reduced: with ZeRO-3 a unit's, with ZeRO-2 a
// bucket's or, without buckets, a virtual stage's.
double Sizer::unreduced_gradients() const {
  double largest_unit = 0, largest_part = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    double sum = 0;
    for (const double unit : units(v)) {
      sum += unit;
      largest_unit = std::max(largest_unit, unit);
    }
    largest_part = std::max(largest_part, sum);
  }
  if (plan_.sharding == Sharding::zero3) return largest_unit;
  const double bucket = stack_.bucket.value() / gradient_bytes_;
  return bucket > 0 ? std::min(bucket, largest_part) : largest_part;
}

double Sizer::temporaries() const {
  double bytes = activations_.transient.value();
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    if (is_last(v)) bytes = std::max(bytes, activations_.head_transient.value());
  }
  if (sharers_ == 1) return bytes;
  if (plan_.sharding == Sharding::zero3) bytes += gathered_parameters() * weight_bytes;
  if (plan_.sharding == Sharding::zero2 || plan_.sharding == Sharding::zero3) {
    bytes += unreduced_gradients() * gradient_bytes_;
  }
  return bytes;
}

MemoryBreakdown Sizer::run() const {
  double parameters = 0;
  for (int v = 0; v < schedule_.virtual_stages; ++v) {
    for (const double unit : units(v)) parameters += unit;
  }
  const auto shared_from = [&](Sharding least) { return plan_.sharding >= least ? sharers_ : 1; };
  MemoryBreakdown m;
  m.weights =
      whole(parameters * weight_bytes * schedule_.weight_versions / shared_from(Sharding::zero3));
  m.gradients = whole(parameters * gradient_bytes_ / shared_from(Sharding::zero2));
  m.optimizer = whole(parameters * optimizer_bytes / shared_from(Sharding::zero1));
  m.activations = whole(activations_peak());
  const double temporary = temporaries();
  const double allocated = m.peak().value() + temporary;
  m.other = whole(temporary + stack_.reserve.value() + stack_.fragmentation * allocated);
  return m;
}

// Without a flush the next round begins before the first has ended.
Schedule full_schedule(const Plan& plan) { return schedule(plan, flushes(plan) ? 1 : 2); }

}  // namespace

MemoryBreakdown memory(const Plan& plan, const dnn::Transformer& dnn,
                       const dnn::SoftwareStack& stack, int stage) {
  return Sizer(plan, dnn, stack, full_schedule(plan), stage).run();
}

std::vector<MemoryBreakdown> memory_of_stages(const Plan& plan, const dnn::Transformer& dnn,
                                              const dnn::SoftwareStack& stack) {
  const Schedule schedule = full_schedule(plan);
  std::vector<MemoryBreakdown> result;
  for (int stage = 0; stage < plan.stages; ++stage) {
    result.push_back(Sizer(plan, dnn, stack, schedule, stage).run());
  }
  return result;
}

}  // namespace sim::plan
