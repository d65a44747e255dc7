// Memory by category: state by the sharding stage, activations by what the schedule keeps.
#include "sim/plan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/plan/schedule.h"

namespace sim::plan {

namespace {

// fp32 master weight and two Adam moments.
constexpr double optimizer_state = 12;
constexpr double weight_bytes = 2;

struct StateDivisors {  // by how many ranks each part of the state is shared
  double weights = 1, gradients = 1, optimizer = 1;
};

StateDivisors divisors(const Plan& plan) {
  const double ranks = static_cast<double>(plan.data) * plan.context;
  switch (plan.sharding) {
    case Sharding::none:
      return {1, 1, 1};
    case Sharding::zero1:
      return {1, 1, ranks};
    case Sharding::zero2:
      return {1, ranks, ranks};
    case Sharding::zero3:
      return {ranks, ranks, ranks};
  }
  return {};
}

class Sizer {
 public:
  Sizer(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack, int stage)
      : plan_(plan),
        stack_(stack),
        stage_(stage),
        shard_{plan.sequence, plan.micro_batch,
               plan.tensor,   plan.sequence_parallel && plan.tensor > 1,
               weight_bytes,  plan.context},
        parameters_(dnn::shard_parameters(dnn, shard_, stack)),
        activations_(dnn::activation_bytes(dnn, shard_, stack, plan.recompute)),
        layers_(layers_per_virtual_stage(plan, dnn.layers)),
        token_embedding_(parameters_.embedding -
                         (dnn.position == dnn::Position::learned
                              ? static_cast<double>(dnn.positions * dnn.hidden)
                              : 0)),
        copies_embedding_(dnn.tied_embedding && plan.stages > 1) {}

  MemoryBreakdown run() const;

 private:
  bool is_first(int virtual_stage) const { return virtual_stage == 0 && stage_ == 0; }
  bool is_last(int virtual_stage) const {
    return virtual_stage == plan_.virtual_stages - 1 && stage_ == plan_.stages - 1;
  }
  int layers_of(int virtual_stage) const {
    return layers_[static_cast<std::size_t>(virtual_stage * plan_.stages + stage_)];
  }
  double parameters() const;
  Bytes activations_peak() const;

  const Plan& plan_;
  const dnn::SoftwareStack& stack_;
  int stage_;
  dnn::Shard shard_;
  dnn::ShardParameters parameters_;
  dnn::ActivationBytes activations_;
  std::vector<int> layers_;
  double token_embedding_;  // parameters without learned positions
  bool copies_embedding_;
};

double Sizer::parameters() const {
  double sum = 0;
  for (int v = 0; v < plan_.virtual_stages; ++v) {
    sum += layers_of(v) * parameters_.layer;
    if (is_first(v)) sum += parameters_.embedding;
    if (is_last(v)) {
      sum += parameters_.head;
      // The last stage holds a copy of the embedding as its output projection.
      if (copies_embedding_) sum += token_embedding_;
    }
  }
  return sum;
}

// What is kept between a forward pass and its backward pass, at the worst moment of the schedule.
Bytes Sizer::activations_peak() const {
  double held = 0, most = 0;
  for (const Pass& pass : schedule(plan_.schedule, plan_.stages, plan_.virtual_stages,
                                   plan_.micro_batches(), stage_)) {
    const int v = pass.virtual_stage;
    double bytes = layers_of(v) * activations_.per_layer.value();
    if (is_first(v)) bytes += activations_.embedding.value();
    if (is_last(v)) bytes += activations_.head.value();
    held += pass.kind == Pass::Kind::forward ? bytes : -bytes;
    most = std::max(most, held);
  }
  return Bytes(most);
}

MemoryBreakdown Sizer::run() const {
  const double count = parameters();
  const StateDivisors by = divisors(plan_);
  const auto whole = [](double bytes) { return Bytes(std::ceil(bytes)); };
  MemoryBreakdown m;
  m.weights = whole(count * weight_bytes / by.weights);
  m.gradients = whole(count * (stack_.gradient_fp32 ? 4 : 2) / by.gradients);
  m.optimizer = whole(count * optimizer_state / by.optimizer);
  m.activations = whole(activations_peak().value());
  double other = activations_.transient.value();
  if (stage_ == plan_.stages - 1) other = std::max(other, activations_.head_transient.value());
  if (plan_.sharding == Sharding::zero3 && plan_.data > 1) {
    // Gathered layers: the one that runs and those gathered ahead, and one layer's whole gradient.
    other += (stack_.prefetch_layers + 1) * parameters_.layer * weight_bytes;
    other += parameters_.layer * (stack_.gradient_fp32 ? 4 : 2);
  }
  if (plan_.sharding == Sharding::zero2 && plan_.data > 1) other += stack_.bucket.value();
  const double sum =
      m.weights.value() + m.gradients.value() + m.optimizer.value() + m.activations.value() + other;
  m.other = whole(other + stack_.reserve.value() + stack_.fragmentation * sum);
  return m;
}

Bytes worst_peak(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack) {
  Bytes worst;
  for (int stage = 0; stage < plan.stages; ++stage) {
    worst = std::max(worst, memory(plan, dnn, stack, stage).peak());
  }
  return worst;
}

}  // namespace

MemoryBreakdown memory(const Plan& plan, const dnn::Transformer& dnn,
                       const dnn::SoftwareStack& stack, int stage) {
  return Sizer(plan, dnn, stack, stage).run();
}

namespace {

struct Change {
  std::string text;
  Plan plan;
};

std::vector<Change> changes(const Plan& plan) {
  std::vector<Change> result;
  const auto add = [&](std::string text, auto change) {
    Change c{std::move(text), plan};
    change(c.plan);
    result.push_back(std::move(c));
  };
  if (plan.sharding == Sharding::none) {
    add("plan.data.sharding: zero-1", [](Plan& p) { p.sharding = Sharding::zero1; });
  }
  if (plan.recompute == dnn::Recompute::none) {
    add("plan.recompute: selective", [](Plan& p) { p.recompute = dnn::Recompute::selective; });
  }
  if (plan.micro_batch % 2 == 0) {
    add(fmt::format("training.micro_batch: {}", plan.micro_batch / 2),
        [](Plan& p) { p.micro_batch /= 2; });
  }
  if (plan.recompute != dnn::Recompute::full) {
    add("plan.recompute: full", [](Plan& p) { p.recompute = dnn::Recompute::full; });
  }
  if (plan.sharding != Sharding::zero3) {
    add("plan.data.sharding: zero-3", [](Plan& p) { p.sharding = Sharding::zero3; });
  }
  for (int factor = 2; plan.data % factor == 0; factor *= 2) {
    add(fmt::format("plan.tensor: {}", plan.tensor * factor), [factor](Plan& p) {
      p.tensor *= factor;
      p.data /= factor;
    });
    add(fmt::format("plan.pipeline.stages: {}", plan.stages * factor), [factor](Plan& p) {
      p.stages *= factor;
      p.data /= factor;
      p.layers.clear();
    });
  }
  return result;
}

}  // namespace

std::vector<Remedy> remedies(const Plan& plan, const dnn::Transformer& dnn,
                             const dnn::SoftwareStack& stack, Bytes capacity, int devices) {
  std::vector<Remedy> result;
  for (const Change& change : changes(plan)) {
    if (!problems(change.plan, dnn, devices).empty()) continue;
    const Bytes peak = worst_peak(change.plan, dnn, stack);
    if (peak <= capacity) result.push_back({change.text, peak});
  }
  return result;
}

}  // namespace sim::plan
