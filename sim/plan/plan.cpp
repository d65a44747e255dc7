// What makes a plan impossible, and how layers are spread.
#include "sim/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/invariant.h"

namespace sim::plan {

const char* name(Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor:
      return "tensor";
    case Dimension::context:
      return "context";
    case Dimension::data:
      return "data";
    case Dimension::pipeline:
      return "pipeline";
  }
  bug("unknown dimension");
}

namespace {

class Checker {
 public:
  Checker(const Plan& plan, const dnn::Transformer& dnn, int devices)
      : plan_(plan), dnn_(dnn), devices_(devices) {}

  std::vector<Problem> run() {
    counts();
    if (!result_.empty()) return std::move(result_);  // nothing else makes sense
    ranks();
    tensor();
    batch();
    pipeline();
    order();
    return std::move(result_);
  }

 private:
  void add(std::string field, std::string other, std::string message, std::string why = "",
           std::string hint = "") {
    result_.push_back(
        {std::move(field), std::move(other), std::move(message), std::move(why), std::move(hint)});
  }
  void counts();
  void ranks();
  void tensor();
  void batch();
  void pipeline();
  void layers();
  void order();

  const Plan& plan_;
  const dnn::Transformer& dnn_;
  int devices_;
  std::vector<Problem> result_;
};

void Checker::counts() {
  const std::pair<const char*, std::int64_t> all[] = {
      {"plan.tensor", plan_.tensor},
      {"plan.context", plan_.context},
      {"plan.pipeline.stages", plan_.stages},
      {"plan.pipeline.virtual_stages", plan_.virtual_stages},
      {"plan.data.degree", plan_.data},
      {"training.sequence", plan_.sequence},
      {"training.global_batch", plan_.global_batch},
      {"training.micro_batch", plan_.micro_batch}};
  for (const auto& [field, value] : all) {
    if (value < 1) add(field, "", fmt::format("{} is {}, but must be at least 1", field, value));
  }
}

void Checker::ranks() {
  const std::int64_t ranks = std::int64_t{plan_.tensor} * plan_.context * plan_.stages * plan_.data;
  if (ranks == devices_) return;
  const std::string context =
      plan_.context > 1 ? fmt::format(" x context {}", plan_.context) : std::string();
  add("plan.data.degree", "cluster",
      fmt::format("tensor {}{} x pipeline {} x data {} = {} ranks, but the cluster has {} devices",
                  plan_.tensor, context, plan_.stages, plan_.data, ranks, devices_),
      "every device runs one rank", "leave plan.data.degree out to use all devices");
}

void Checker::tensor() {
  const auto must_divide = [&](std::int64_t size, const char* what, const char* where) {
    if (size % plan_.tensor == 0) return;
    add("plan.tensor", where,
        fmt::format("tensor {} does not divide the {} {}", plan_.tensor, size, what));
  };
  must_divide(dnn_.heads, "attention heads", "dnn");
  must_divide(dnn_.ffn, "columns of the feed-forward block", "dnn");
  const bool splits = dnn_.kv_heads > 0 && dnn_.kv_heads % plan_.tensor == 0;
  const bool replicates = dnn_.kv_heads > 0 && plan_.tensor % dnn_.kv_heads == 0;
  if (!splits && !replicates) {
    add("plan.tensor", "dnn",
        fmt::format("tensor {} neither divides the {} key-value heads nor is a multiple of them",
                    plan_.tensor, dnn_.kv_heads));
  }
  if (plan_.sequence_parallel && plan_.tensor > 1) {
    must_divide(plan_.sequence, "tokens of a sequence, which sequence parallelism splits",
                "training.sequence");
  }
}

void Checker::batch() {
  const std::int64_t per_step = plan_.micro_batch * plan_.data;
  if (plan_.global_batch % per_step != 0) {
    add("training.global_batch", "training.micro_batch",
        fmt::format("micro_batch {} x data {} = {} does not divide the global batch of {}",
                    plan_.micro_batch, plan_.data, per_step, plan_.global_batch),
        "every data-parallel replica runs the same number of whole micro-batches",
        fmt::format("for example {} or {}",
                    std::max<std::int64_t>(1, plan_.global_batch / per_step) * per_step,
                    (plan_.global_batch / per_step + 1) * per_step));
  }
}

void Checker::layers() {
  const std::size_t parts = static_cast<std::size_t>(plan_.stages * plan_.virtual_stages);
  if (plan_.layers.size() != parts) {
    add("plan.pipeline.layers", "",
        fmt::format("{} numbers of layers, but stages {} x virtual_stages {} = {}",
                    plan_.layers.size(), plan_.stages, plan_.virtual_stages, parts));
    return;
  }
  const std::int64_t sum =
      std::accumulate(plan_.layers.begin(), plan_.layers.end(), std::int64_t{0});
  if (sum != dnn_.layers) {
    add("plan.pipeline.layers", "dnn",
        fmt::format("the layers of the stages sum to {}, but the dnn has {}", sum, dnn_.layers));
  }
  if (std::any_of(plan_.layers.begin(), plan_.layers.end(), [](int l) { return l < 0; })) {
    add("plan.pipeline.layers", "", "a stage has a negative number of layers");
  }
}

void Checker::pipeline() {
  if (!plan_.layers.empty()) {
    layers();
  } else if (plan_.stages * plan_.virtual_stages > dnn_.layers) {
    add("plan.pipeline.stages", "dnn",
        fmt::format("stages {} x virtual_stages {} = {} parts, but the dnn has {} layers",
                    plan_.stages, plan_.virtual_stages, plan_.stages * plan_.virtual_stages,
                    dnn_.layers));
  }
  if (plan_.schedule != ScheduleKind::interleaved) {
    if (plan_.virtual_stages > 1) {
      add("plan.pipeline.virtual_stages", "plan.pipeline.schedule",
          fmt::format("{} virtual stages, but the schedule is not interleaved",
                      plan_.virtual_stages),
          "", "write schedule: interleaved-1f1b");
    }
    return;
  }
  if (plan_.stages < 2 || plan_.virtual_stages < 2) {
    add("plan.pipeline.schedule", "plan.pipeline.virtual_stages",
        fmt::format("interleaved-1f1b needs at least 2 stages and 2 virtual stages, not {} and {}",
                    plan_.stages, plan_.virtual_stages),
        "", "write schedule: 1f1b");
  } else if (plan_.global_batch % (plan_.micro_batch * plan_.data) == 0 &&
             plan_.micro_batches() % plan_.stages != 0) {
    add("plan.pipeline.stages", "training.global_batch",
        fmt::format("{} stages do not divide the {} micro-batches of a replica", plan_.stages,
                    plan_.micro_batches()),
        "interleaved-1f1b runs micro-batches in groups of as many as there are stages");
  }
}

void Checker::order() {
  auto sorted = plan_.order;
  std::sort(sorted.begin(), sorted.end());
  const bool is_complete = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!is_complete) {
    add("placement.order", "", "the placement order names a dimension twice",
        "it lists tensor, context, data and pipeline once each, innermost first");
  }
}

}  // namespace

std::vector<Problem> problems(const Plan& plan, const dnn::Transformer& dnn, int devices) {
  return Checker(plan, dnn, devices).run();
}

std::vector<int> layers_per_virtual_stage(const Plan& plan, int layers) {
  if (!plan.layers.empty()) return plan.layers;
  const int parts = plan.stages * plan.virtual_stages;
  std::vector<int> result(static_cast<std::size_t>(parts), layers / parts);
  for (int i = 0; i < layers % parts; ++i) ++result[static_cast<std::size_t>(i)];
  return result;
}

}  // namespace sim::plan
