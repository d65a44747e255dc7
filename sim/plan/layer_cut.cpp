// Which layers are cut how, and when they cannot be.
#include "sim/plan/layer_cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/plan.h"

namespace sim::plan {

LayerStrategy strategy_of(const Plan& plan, int layer) {
  LayerStrategy strategy{plan.tensor, plan.sharding, plan.recompute};
  for (const LayerCut& cut : plan.cuts) {
    if (layer < cut.from || layer > cut.to) continue;
    strategy.tensor = cut.tensor.value_or(strategy.tensor);
    strategy.sharding = cut.sharding.value_or(strategy.sharding);
    strategy.recompute = cut.recompute.value_or(strategy.recompute);
  }
  return strategy;
}

std::vector<Holding> holdings(const Plan& plan) {
  std::vector<Holding> result = {{plan.tensor, plan.sharding}};
  for (const LayerCut& cut : plan.cuts) {
    for (int layer = cut.from; layer <= cut.to; ++layer) {
      const LayerStrategy strategy = strategy_of(plan, layer);
      const Holding holding{strategy.tensor, strategy.sharding};
      if (std::find(result.begin(), result.end(), holding) == result.end()) {
        result.push_back(holding);
      }
    }
  }
  return result;
}

std::size_t holding_of(const std::vector<Holding>& holdings, const LayerStrategy& strategy) {
  const Holding holding{strategy.tensor, strategy.sharding};
  return static_cast<std::size_t>(std::find(holdings.begin(), holdings.end(), holding) -
                                  holdings.begin());
}

Plan plan_of(const Plan& plan, const Holding& holding) {
  Plan result = plan;
  const int groups = plan.tensor / holding.tensor;
  result.cuts.clear();
  result.tensor = holding.tensor;
  result.data *= groups;
  result.micro_batch /= groups;
  result.sharding = holding.sharding;
  return result;
}

namespace {

class LayerChecker {
 public:
  LayerChecker(const Plan& plan, const dnn::Transformer& dnn) : plan_(plan), dnn_(dnn) {}

  std::vector<Problem> run() {
    for (std::size_t i = 0; i < plan_.cuts.size(); ++i) cut(i);
    const std::vector<Holding> all = holdings(plan_);
    if (result_.empty() && all.size() > 1) held(all);
    return std::move(result_);
  }

 private:
  void add(std::string field, std::string other, std::string message, std::string why = "",
           std::string hint = "") {
    result_.push_back(
        {std::move(field), std::move(other), std::move(message), std::move(why), std::move(hint)});
  }
  void cut(std::size_t index);
  void degree(std::size_t index, int tensor);
  void held(const std::vector<Holding>& all);

  const Plan& plan_;
  const dnn::Transformer& dnn_;
  std::vector<Problem> result_;
};

void LayerChecker::cut(std::size_t index) {
  const LayerCut& cut = plan_.cuts[index];
  const std::string field = fmt::format("plan.layers.{}", index);
  if (cut.from > cut.to || cut.to >= dnn_.layers) {
    add(field, "dnn",
        fmt::format("layers {} to {}, but the dnn has {}, counted from 0", cut.from, cut.to,
                    dnn_.layers));
    return;
  }
  if (cut.recompute == dnn::Recompute::alternate && plan_.recompute != *cut.recompute) {
    add(field + ".recompute", "", "every other product again, in some layers only",
        "stacks choose it for all", "write selective, full or none");
  }
  if (cut.tensor) degree(index, *cut.tensor);
}

void LayerChecker::degree(std::size_t index, int tensor) {
  const std::string field = fmt::format("plan.layers.{}.tensor", index);
  if (plan_.tensor % tensor != 0) {
    add(field, "plan.tensor",
        fmt::format("tensor {} does not divide plan.tensor {}", tensor, plan_.tensor),
        "the ranks of a tensor group are cut into groups of so many",
        "write the largest degree at plan.tensor");
    return;
  }
  const int groups = plan_.tensor / tensor;
  if (plan_.micro_batch % groups != 0) {
    add(field, "training.micro_batch",
        fmt::format(
            "tensor {} makes {} groups of a tensor group, which do not divide a micro-batch "
            "of {}",
            tensor, groups, plan_.micro_batch),
        "each group has sequences of its own", fmt::format("write micro_batch: {}", groups));
  }
  if (plan_.stages > 1 && !plan_.sequence_parallel && groups > 1) {
    add(field, "plan.sequence_parallel",
        "a tensor degree of some layers without sequence parallelism, in a pipeline",
        "what is sent between stages then depends on the layers beside",
        "write sequence_parallel: true");
  }
}

// What does not go together with layers that other ranks hold, or shard otherwise.
void LayerChecker::held(const std::vector<Holding>& all) {
  const bool is_narrower = std::any_of(all.begin(), all.end(), [&](const Holding& holding) {
    return holding.tensor != plan_.tensor;
  });
  const auto refuse = [&](bool is_there, const char* field, const char* what) {
    if (!is_there) return;
    add(field, "plan.layers",
        fmt::format("{} with layers that are held otherwise than others", what),
        "it is not modelled");
  };
  refuse(is_both_ways(plan_), "plan.pipeline.schedule", "two copies of every part in one pipeline");
  refuse(plan_.shard > 0, "plan.data.shard_degree", "a shard degree");
  refuse(plan_.offload.is_on(), "plan.offload", "offloading");
  refuse(!plan_.replicas.empty(), "plan.replicas", "replicas that are not alike");
  refuse(dnn_.is_moe(), "dnn", "routed experts");
  refuse(is_narrower && dnn_.prediction_modules > 0, "dnn", "multi-token prediction");
  refuse(is_narrower && plan_.context > 1, "plan.context", "context parallelism");
  refuse(is_narrower && plan_.packing.has_value(), "training.packing", "packed documents");
}

}  // namespace

std::vector<Problem> layer_problems(const Plan& plan, const dnn::Transformer& dnn) {
  if (plan.cuts.empty()) return {};
  return LayerChecker(plan, dnn).run();
}

}  // namespace sim::plan
