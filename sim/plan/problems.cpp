// What makes a plan impossible: one rule a message.
#include "sim/plan/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/base/fixed.h"
#include "sim/plan/schedule.h"

namespace sim::plan {
namespace {

constexpr std::int64_t count_max = 2'147'483'647;  // ranks and passes are numbered by int

// Never wraps; past the largest number it stays there.
std::int64_t product(std::initializer_list<std::int64_t> factors) {
  constexpr Int128 most = std::numeric_limits<std::int64_t>::max();
  Int128 result = 1;
  for (const std::int64_t f : factors) result = std::min(result * f, most);
  return static_cast<std::int64_t>(result);
}

class Checker {
 public:
  Checker(const Plan& plan, const dnn::Transformer& dnn, int devices)
      : plan_(plan), dnn_(dnn), devices_(devices) {}

  std::vector<Problem> run() {
    counts();
    if (!result_.empty()) return std::move(result_);  // what follows divides by them
    ranks();
    tensor();
    tokens();
    packing();
    recompute();
    experts();
    copies();
    batch();
    layers();
    schedule();
    order();
    for (Problem& problem : offload_problems(plan_)) result_.push_back(std::move(problem));
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
  void tokens();
  void packing();
  void experts();
  void recompute();
  void copies();
  void batch();
  void layers();
  void listed_layers();
  void virtual_stages();
  void flush();
  void schedule();
  void table(int micro_batches);
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
      {"plan.expert.degree", plan_.expert},
      {"plan.expert.tensor", plan_.expert_tensor},
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
  const std::int64_t others = product({plan_.tensor, plan_.context, plan_.stages});
  const std::int64_t ranks = product({others, plan_.data});
  if (ranks == devices_) return;
  std::string hint = "choose degrees whose product is the number of devices";
  if (devices_ % others == 0) {
    hint = fmt::format("write plan.data.degree: {}, or leave it out", devices_ / others);
  }
  const std::string context =
      plan_.context > 1 ? fmt::format(" x context {}", plan_.context) : std::string();
  add("plan.data.degree", "cluster",
      fmt::format("tensor {}{} x pipeline {} x data {} = {} ranks, but the cluster has {} devices",
                  plan_.tensor, context, plan_.stages, plan_.data, ranks, devices_),
      "every device that is not a spare runs one rank", std::move(hint));
}

void Checker::tensor() {
  const auto must_divide = [&](std::int64_t size, const char* what) {
    if (size % plan_.tensor == 0) return;
    add("plan.tensor", "dnn",
        fmt::format("tensor {} does not divide the {} {}", plan_.tensor, size, what));
  };
  must_divide(dnn_.heads, "attention heads");
  must_divide(dnn_.hidden, "columns of the hidden state");
  must_divide(dnn_.ffn, "columns of the feed-forward block");
  const bool splits = dnn_.kv_heads > 0 && dnn_.kv_heads % plan_.tensor == 0;
  const bool replicates = dnn_.kv_heads > 0 && plan_.tensor % dnn_.kv_heads == 0;
  if (splits || replicates) return;
  add("plan.tensor", "dnn",
      fmt::format("tensor {} neither divides the {} key-value heads nor is a multiple of them",
                  plan_.tensor, dnn_.kv_heads),
      "each tensor rank holds whole key-value heads, or shares one with other ranks");
}

void Checker::tokens() {
  if (plan_.sequence % plan_.context != 0) {
    add("plan.context", "training.sequence",
        fmt::format("context {} does not divide the {} tokens of a sequence", plan_.context,
                    plan_.sequence));
    return;
  }
  if (dnn_.heads > 0) {
    if (const auto obstacle = dnn::context_obstacle(dnn_, shard_of(plan_, 2))) {
      add("plan.context", "training.sequence", *obstacle);
    }
  }
  const std::int64_t tokens = plan_.sequence / plan_.context;
  if (!plan_.sequence_parallel || tokens % plan_.tensor == 0) return;
  add("plan.tensor", "training.sequence",
      fmt::format("tensor {} does not divide the {} tokens of a sequence, which sequence "
                  "parallelism splits",
                  plan_.tensor, tokens),
      "", "write plan.sequence_parallel: false, or choose another sequence");
}

void Checker::packing() {
  if (!plan_.packing) return;
  if (dnn_.span != dnn::AttentionSpan::full) {
    add("training.packing", "dnn",
        fmt::format("packed documents, but layers of this dnn see a window of {} tokens",
                    dnn_.window),
        "what they compute does not follow the sum of squared lengths");
  }
  if (plan_.context > 1 && plan_.context_kind == dnn::ContextKind::all_gather) {
    add("plan.context_kind", "training.packing",
        fmt::format("context {} gathers the keys of packed documents", plan_.context),
        "its ranks hold parts of the sequence, so what each computes depends on where documents "
        "lie in it",
        "write ring or ulysses, which share every document evenly");
  }
}

void Checker::experts() {
  if (const auto obstacle = dnn::expert_obstacle(dnn_, shard_of(plan_, 2))) {
    add("plan.expert.degree", "dnn", *obstacle);
    return;
  }
  const std::size_t listed = plan_.routing.histogram.size();
  if (listed > 0 && listed != static_cast<std::size_t>(dnn_.experts.count)) {
    add("plan.routing", "dnn",
        fmt::format("{} shares, but there are {} experts", listed, dnn_.experts.count));
  }
  if (!plan_.routing.is_even() && !dnn_.is_moe()) {
    add("plan.routing", "dnn", "a routing of tokens to experts, but the dnn has none");
  }
  const std::int64_t shares = product({plan_.expert, plan_.expert_tensor});
  const std::int64_t ranks = product({plan_.tensor, plan_.context, plan_.data});
  if (ranks % shares == 0) return;
  add("plan.expert.degree", "plan.data.degree",
      fmt::format("expert {} x tensor {} = {} does not divide the {} ranks of a stage",
                  plan_.expert, plan_.expert_tensor, shares, ranks),
      "experts are cut over the tensor x context x data ranks of a stage");
}

void Checker::recompute() {
  const bool is_plain = !dnn_.is_moe() && !dnn_.is_latent() && dnn_.prediction_modules == 0;
  if (plan_.recompute != dnn::Recompute::alternate || is_plain) return;
  add("plan.recompute", "dnn", "every other product again, of a dnn with other than plain layers",
      "which of their products are kept is not known", "write selective, full or none");
}

void Checker::copies() {
  if (plan_.shard == 0) return;
  const std::string field = "plan.data.shard_degree";
  if (plan_.sharding == Sharding::none) {
    return add(field, "plan.data.sharding", "a shard degree, but nothing is sharded", "",
               "write plan.data.sharding: zero-1, zero-2 or fsdp");
  }
  if (plan_.shard == 1 || plan_.sharers() % plan_.shard != 0) {
    return add(field, "",
               fmt::format("shard degree {} for {} ranks that hold the same parameters (context {} "
                           "x data {})",
                           plan_.shard, plan_.sharers(), plan_.context, plan_.data),
               "each copy is cut over so many ranks",
               "write a divisor of them that is more than 1, or plan.data.sharding: none");
  }
  if (plan_.copies() == 1) return;
  if (dnn_.is_moe()) {
    add(field, "dnn", "several copies of a sharded dnn with experts are not modelled");
  }
  if (is_both_ways(plan_)) {
    add(field, "plan.pipeline.schedule",
        "several sharded copies are not modelled with two copies of every part in one pipeline");
  }
}

void Checker::batch() {
  const std::int64_t each = product({plan_.micro_batch, plan_.data});
  if (plan_.global_batch % each != 0) {
    const std::int64_t times = std::max<std::int64_t>(1, plan_.global_batch / each);
    const bool has_next = plan_.global_batch > each;
    add("training.global_batch", "training.micro_batch",
        fmt::format("micro_batch {} x data {} = {} does not divide the global batch of {}",
                    plan_.micro_batch, plan_.data, each, plan_.global_batch),
        "every data-parallel replica runs the same number of whole micro-batches",
        has_next ? fmt::format("write {} or {}", times * each, product({times + 1, each}))
                 : fmt::format("write {}", each));
    return;
  }
  const std::int64_t passes = product({plan_.global_batch / each, plan_.virtual_stages, 2});
  if (passes <= count_max) return;
  add("training.global_batch", "training.micro_batch",
      fmt::format("{} micro-batches on each replica are more than can be scheduled",
                  plan_.global_batch / each));
}

void Checker::listed_layers() {
  if (static_cast<std::int64_t>(plan_.layers.size()) != parts_of(plan_)) {
    add("plan.pipeline.layers", "plan.pipeline.stages",
        fmt::format("{} numbers of layers, but stages {} x virtual_stages {} = {}",
                    plan_.layers.size(), plan_.stages, plan_.virtual_stages, parts_of(plan_)));
    return;
  }
  if (std::any_of(plan_.layers.begin(), plan_.layers.end(), [](int l) { return l < 0; })) {
    add("plan.pipeline.layers", "", "a virtual stage has a negative number of layers");
    return;
  }
  const std::int64_t sum =
      std::accumulate(plan_.layers.begin(), plan_.layers.end(), std::int64_t{0});
  if (sum == dnn_.layers) return;
  add("plan.pipeline.layers", "dnn",
      fmt::format("the layers of all stages are {}, but the dnn has {}", sum, dnn_.layers));
}

void Checker::layers() {
  if (!plan_.layers.empty()) {
    listed_layers();
  } else if (parts_of(plan_) > dnn_.layers) {
    const std::string virtual_stages =
        plan_.virtual_stages > 1
            ? fmt::format(" x virtual_stages {} = {}", plan_.virtual_stages, parts_of(plan_))
            : std::string();
    add("plan.pipeline.stages", "dnn",
        fmt::format("stages {}{}, but the dnn has {} layers", plan_.stages, virtual_stages,
                    dnn_.layers),
        "every virtual stage has a layer unless plan.pipeline.layers says otherwise");
  }
}

void Checker::virtual_stages() {
  const ScheduleTraits& kind = traits(plan_.schedule);
  if (plan_.schedule == ScheduleKind::interleaved) {
    if (plan_.stages >= 2 && plan_.virtual_stages >= 2) return;
    add("plan.pipeline.schedule", "plan.pipeline.virtual_stages",
        fmt::format("interleaved-1f1b needs at least 2 stages and 2 virtual stages, not {} and {}",
                    plan_.stages, plan_.virtual_stages),
        "", "write schedule: 1f1b");
    return;
  }
  if (kind.virtual_stages == 0 || kind.virtual_stages == plan_.virtual_stages) return;
  if (kind.virtual_stages == 1) {
    add("plan.pipeline.virtual_stages", "plan.pipeline.schedule",
        fmt::format("{} virtual stages, but the schedule {} has one a stage", plan_.virtual_stages,
                    kind.name),
        "", "write schedule: interleaved-1f1b");
    return;
  }
  add("plan.pipeline.virtual_stages", "plan.pipeline.schedule",
      fmt::format("{} virtual stages, but the schedule {} has {}", plan_.virtual_stages, kind.name,
                  kind.virtual_stages),
      "", "leave virtual_stages out");
}

void Checker::flush() {
  const bool is_endless = plan_.schedule == ScheduleKind::double_buffered ||
                          plan_.schedule == ScheduleKind::wave_synchronous;
  if (is_endless && plan_.flush.value_or(false)) {
    add("plan.pipeline.flush", "plan.pipeline.schedule",
        fmt::format("the schedule {} never flushes", traits(plan_.schedule).name), "",
        "write schedule: 1f1b");
  }
  if (plan_.staleness > 0 && plan_.schedule != ScheduleKind::wave_synchronous) {
    add("plan.pipeline.staleness", "plan.pipeline.schedule",
        fmt::format("staleness of the schedule {}", traits(plan_.schedule).name),
        "only wave-synchronous lets updates be late", "write schedule: wave-synchronous");
  }
}

// Some schedules need enough micro-batches to fill the pipeline.
void Checker::schedule() {
  virtual_stages();
  flush();
  const std::int64_t each = product({plan_.micro_batch, plan_.data});
  if (plan_.global_batch % each != 0) return;  // said by batch()
  const std::int64_t micro_batches = plan_.global_batch / each;
  const char* const kind = traits(plan_.schedule).name;
  const auto at_least = [&](std::int64_t least) {
    if (micro_batches >= least) return;
    add("training.global_batch", "plan.pipeline.schedule",
        fmt::format("{} micro-batches on each replica, but the schedule {} over {} stages needs {}",
                    micro_batches, kind, plan_.stages, least),
        "", fmt::format("write at least {}", product({least, each})));
  };
  switch (plan_.schedule) {
    case ScheduleKind::zb_v:
    case ScheduleKind::dual_pipe_v:
      return at_least(2 * std::int64_t{plan_.stages});
    case ScheduleKind::dual_pipe:
      if (plan_.stages % 2 != 0 || micro_batches % 2 != 0) {
        add("plan.pipeline.schedule", "plan.pipeline.stages",
            fmt::format("dual-pipe with {} stages and {} micro-batches on each replica",
                        plan_.stages, micro_batches),
            "it runs two pipelines against each other, so both are even");
      }
      if (plan_.sharding >= Sharding::zero2) {
        add("plan.data.sharding", "plan.pipeline.schedule",
            "dual-pipe with gradients that are sharded",
            "the copies of a part are on two stages, which reduce them at the end",
            "write sharding: zero-1");
      }
      return at_least(2 * std::int64_t{plan_.stages});
    case ScheduleKind::double_buffered:
    case ScheduleKind::wave_synchronous:
      return at_least(plan_.stages);
    case ScheduleKind::table:
      return table(static_cast<int>(std::min<std::int64_t>(micro_batches, count_max)));
    default:
      return;
  }
}

void Checker::table(int micro_batches) {
  const ScheduleTable& own = plan_.table;
  const auto stages = static_cast<std::size_t>(plan_.stages);
  const bool is_rule = !own.warm_up.empty();
  const auto fits = [&](const char* field, std::size_t count) {
    if (count == stages) return true;
    add(field, "plan.pipeline.stages",
        fmt::format("{} rows, but there are {} stages", count, stages));
    return false;
  };
  if (is_rule) {
    if (!fits("plan.pipeline.schedule.rule.warm_up", own.warm_up.size())) return;
    const std::size_t delays = own.weight_delay.size();
    if (delays > 0 && !fits("plan.pipeline.schedule.rule.weight_delay", delays)) return;
  } else if (!fits("plan.pipeline.schedule.table.passes", own.passes.size())) {
    return;
  }
  Plan copy = plan_;
  copy.global_batch = std::int64_t{micro_batches} * plan_.micro_batch * plan_.data;
  const auto wrong = fault(plan::schedule(copy));
  if (!wrong) return;
  add(is_rule ? "plan.pipeline.schedule.rule"
              : fmt::format("plan.pipeline.schedule.table.passes.{}", wrong->stage),
      "", wrong->message,
      wrong->index < 0 ? wrong->why
                       : fmt::format("pass {} of the row: {}", wrong->index + 1, wrong->why));
}

void Checker::order() {
  auto sorted = plan_.order;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  add("placement.order", "", fmt::format("the order names {} twice", name(*twice)),
      "it lists tensor, context, data and pipeline once each, innermost first");
}

}  // namespace

std::vector<Problem> problems_of_alike(const Plan& plan, const dnn::Transformer& dnn, int devices) {
  return Checker(plan, dnn, devices).run();
}

}  // namespace sim::plan
