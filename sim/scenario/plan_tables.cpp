// The format of training, plan, placement and run.
#include <numeric>
#include <set>

#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using plan::Dimension;
using plan::ExpertDimension;
using plan::Plan;
using plan::Sharding;

constexpr std::int64_t sequences_max = 1'000'000'000;

template <class T>
auto in_plan(T Plan::*member) {
  return [member](Draft& draft, T value) { draft.scenario.plan.*member = std::move(value); };
}
template <class T>
auto in_training(T Training::*member) {
  return [member](Draft& draft, T value) { draft.scenario.training.*member = std::move(value); };
}

Section<Draft> pipeline_table() {
  Section<Draft> table("pipeline parallelism");
  table.defaulted("stages", small_count(1), in_plan(&Plan::stages), "1", "pipeline ranks")
      .defaulted(
          "schedule", schedule_kind(),
          [](Draft& draft, ScheduleChoice choice) {
            draft.scenario.plan.schedule = choice.kind;
            draft.scenario.plan.table = std::move(choice.table);
          },
          "1f1b", "order of forward and backward passes")
      .optional(
          "virtual_stages", small_count(1),
          [](Draft& draft, int count) { draft.virtual_stages = count; },
          "parts of the dnn on one stage, with interleaved-1f1b; what the schedule has unless "
          "written")
      .optional("layers", list(small_count(0), 1), in_plan(&Plan::layers),
                "of each part of the dnn, in model order; even unless written")
      .optional("flush", flag(), in_plan(&Plan::flush),
                "whether all stages end an iteration before the next begins; as the schedule is "
                "published unless written")
      .defaulted("staleness", small_count(0, 100), in_plan(&Plan::staleness), "0",
                 "waves by which updates may be later than needed, with wave-synchronous");
  return table;
}

Section<Draft> data_table() {
  Section<Draft> table("data parallelism");
  table
      .defaulted("sharding", sharding_kind(), in_plan(&Plan::sharding), "none",
                 "what data ranks hold a share of: optimizer (zero-1), gradients too (zero-2), "
                 "parameters too (zero-3, fsdp)")
      .optional(
          "degree", small_count(1), [](Draft& draft, int degree) { draft.data_degree = degree; },
          "data ranks; what the devices allow unless written")
      .optional("shard_degree", small_count(1), in_plan(&Plan::shard),
                "context x data ranks that share one copy of what is sharded (HSDP, instances of "
                "the distributed optimizer); all unless written")
      .defaulted("reshard_after_forward", flag(), in_plan(&Plan::reshard_after_forward), "true",
                 "zero-3: parameters gathered for a forward pass are dropped after it, and "
                 "gathered again for the backward pass");
  return table;
}

Section<Draft> expert_table() {
  Section<Draft> table("expert parallelism, over the tensor, context and data ranks of a stage");
  table
      .defaulted("degree", small_count(1), in_plan(&Plan::expert), "1",
                 "ranks that share the experts")
      .defaulted("tensor", small_count(1), in_plan(&Plan::expert_tensor), "1",
                 "tensor ranks of one expert");
  return table;
}

Section<plan::Routing> routing_table() {
  using plan::Routing;
  Section<Routing> table("how a router spreads tokens over experts");
  table
      .required("distribution",
                word<Routing::Distribution>("distribution",
                                            {{"balanced", Routing::Distribution::balanced},
                                             {"zipf", Routing::Distribution::zipf},
                                             {"histogram", Routing::Distribution::histogram}}),
                &Routing::distribution, "of rows over the experts of a layer")
      .optional("s", number(0, 10), &Routing::exponent,
                "zipf: the i-th most popular expert has a share in proportion to 1 / i^s; 1 "
                "unless written")
      .optional("shares", list(number(0, 1e18), 1), &Routing::histogram,
                "histogram: of each expert, in any unit")
      .optional("draw",
                word<Routing::Draw>("draw", {{"fixed", Routing::Draw::fixed},
                                             {"per-layer", Routing::Draw::per_layer},
                                             {"per-micro-batch", Routing::Draw::per_micro_batch}}),
                &Routing::draw,
                "which expert is how popular: the same in all layers, or shuffled for each, or for "
                "each micro-batch as well; fixed unless written")
      .optional(
          "groups", word<bool>("groups", {{"same", true}, {"independent", false}}),
          &Routing::are_groups_alike,
          "whether all expert groups are routed alike or each for itself; same unless written")
      .optional(
          "seed", count(0, INT64_MAX),
          [](Routing& r, std::int64_t seed) { r.seed = static_cast<std::uint64_t>(seed); },
          "another one shuffles otherwise; 1 unless written")
      .check([](Reader& reader, const Value& section, const std::string& path, Routing& routing) {
        const bool is_histogram = routing.distribution == Routing::Distribution::histogram;
        const double sum = std::accumulate(routing.histogram.begin(), routing.histogram.end(), 0.0);
        const auto fail = [&](const std::string& message, const std::string& hint) {
          reader.error(path, section.place(), message, "", hint);
        };
        if (is_histogram && sum <= 0) {
          fail("a histogram without shares that are more than 0",
               "shares: one number for each expert");
        }
        if (!is_histogram && !routing.histogram.empty()) {
          fail("shares without a histogram", "write distribution: histogram");
        }
        const bool has_exponent = section.find("s") != nullptr;
        if (has_exponent && routing.distribution != Routing::Distribution::zipf) {
          fail("s without distribution zipf", "write distribution: zipf");
        }
      });
  return table;
}

}  // namespace

Kind<Sharding> sharding_kind() {
  return word<Sharding>("sharding", {{"none", Sharding::none},
                                     {"zero-1", Sharding::zero1},
                                     {"zero-2", Sharding::zero2},
                                     {"zero-3", Sharding::zero3},
                                     {"fsdp", Sharding::zero3}});
}

Kind<dnn::Recompute> recompute_kind() {
  return word<dnn::Recompute>("recompute", {{"none", dnn::Recompute::none},
                                            {"selective", dnn::Recompute::selective},
                                            {"alternate", dnn::Recompute::alternate},
                                            {"full", dnn::Recompute::full}});
}

Section<Draft> training_table() {
  Section<Draft> table("what one iteration trains on");
  table
      .optional("sequence", count(1, sequences_max), in_plan(&Plan::sequence),
                "tokens in one sequence; needed unless the dnn is timed")
      .required("global_batch", count(1, sequences_max), in_plan(&Plan::global_batch),
                "sequences per iteration")
      .defaulted("micro_batch", count(1, sequences_max), in_plan(&Plan::micro_batch), "1",
                 "sequences that pass the dnn together")
      .optional("packing", packing_table().kind(), in_plan(&Plan::packing),
                "documents in a sequence; one unless written")
      .defaulted("precision",
                 word<std::string>("precision", {{"fp32", "fp32"},
                                                 {"tf32", "tf32"},
                                                 {"fp16", "fp16"},
                                                 {"bf16", "bf16"},
                                                 {"fp8", "fp8"}}),
                 in_training(&Training::precision), "bf16", "of matrix products")
      .defaulted("optimizer", word<std::string>("optimizer", {{"adam", "adam"}}),
                 in_training(&Training::optimizer), "adam", "updates the parameters")
      .optional("tokens", measure(sim::Dimension::count_text, Zero::refused),
                in_training(&Training::tokens), "of the whole job");
  return table;
}

Section<Draft> plan_table() {
  const auto same = [](Draft& draft) -> Draft& { return draft; };
  Section<Draft> table("how the dnn is cut over the devices");
  table
      .defaulted("tensor", small_count(1), in_plan(&Plan::tensor), "1",
                 "ranks that share every layer")
      .defaulted("sequence_parallel", flag(), in_plan(&Plan::sequence_parallel), "true",
                 "norms and residuals are shared among tensor ranks too")
      .defaulted("context", small_count(1), in_plan(&Plan::context), "1",
                 "ranks that share every sequence")
      .defaulted(
          "context_kind",
          word<dnn::ContextKind>("context kind", {{"ring", dnn::ContextKind::ring},
                                                  {"ulysses", dnn::ContextKind::ulysses},
                                                  {"all-gather", dnn::ContextKind::all_gather}}),
          in_plan(&Plan::context_kind), "ring",
          "how queries meet the keys of other context ranks: keys go round beside the "
          "attention (ring), heads are exchanged for tokens (ulysses), keys are gathered")
      .group("pipeline", pipeline_table(), same)
      .group("data", data_table(), same)
      .group("expert", expert_table(), same)
      .defaulted("recompute", recompute_kind(), in_plan(&Plan::recompute), "none",
                 "activations computed again in the backward pass")
      .optional("routing", routing_table().kind(), in_plan(&Plan::routing),
                "how unevenly tokens are spread over the experts; evenly unless written")
      .optional("offload", offload_table().kind(), in_plan(&Plan::offload),
                "what is kept in the memory of the hosts; nothing unless written")
      .optional("layers", list(layer_table().kind()), in_plan(&Plan::cuts),
                "layers that are cut otherwise than the rest of the plan says; none unless written")
      .optional("replicas", list(replica_table().kind(), 1), &Draft::replicas,
                "replicas that are not all cut alike: tensor degrees, layers and micro-batches of "
                "each; all as the rest of the plan says unless written");
  return table;
}

Section<Draft> placement_table() {
  const auto dimension = word<Dimension>("dimension", {{"tensor", Dimension::tensor},
                                                       {"context", Dimension::context},
                                                       {"data", Dimension::data},
                                                       {"pipeline", Dimension::pipeline}});
  const auto expert_dimension =
      word<ExpertDimension>("dimension", {{"tensor", ExpertDimension::tensor},
                                          {"expert", ExpertDimension::expert},
                                          {"data", ExpertDimension::data}});
  Section<Draft> table("which rank sits on which device");
  table
      .defaulted(
          "order", list(dimension),
          [](Draft& draft, const std::vector<Dimension>& order) {
            // Any other length leaves the default; check_order has refused it.
            auto& target = draft.scenario.plan.order;
            if (order.size() == target.size()) {
              std::copy(order.begin(), order.end(), target.begin());
            }
          },
          "[tensor, context, data, pipeline]",
          "innermost first: neighbouring devices differ in the first dimension")
      .optional(
          "expert_order", list(expert_dimension),
          [](Draft& draft, const std::vector<ExpertDimension>& order) {
            auto& target = draft.scenario.plan.expert_order;
            if (order.size() == target.size()) {
              std::copy(order.begin(), order.end(), target.begin());
            }
          },
          "how experts are cut over the ranks of a stage, innermost first; [tensor, expert, data] "
          "unless written")
      .check([](Reader& reader, const Value& section, const std::string& path, Draft&) {
        const auto check = [&](const char* key, std::size_t count, const char* number,
                               const char* all) {
          const Value* order = section.find(key);
          if (order == nullptr) return;
          std::set<std::string> words;
          for (const Value& item : order->items) words.insert(item.text);
          if (words.size() == count && order->items.size() == count) return;
          reader.error(
              joined_path(path, key), order->name_place(),
              fmt::format("{}.{} does not hold each of the {} dimensions once", path, key, number),
              "", fmt::format("write {} in the wanted order", all));
        };
        check("order", 4, "four", "[tensor, context, data, pipeline]");
        check("expert_order", 3, "three", "[tensor, expert, data]");
      });
  return table;
}

Section<training::Jitter> jitter_table() {
  using training::Jitter;
  Section<Jitter> table("durations of computing that vary, with mean 1 and these deviations");
  table
      .defaulted("device", share(), &Jitter::device, "0 %",
                 "of the factor that all operators of a rank share")
      .defaulted("operation", share(), &Jitter::operation, "0 %",
                 "of the factor that each operator of a rank has for itself")
      .defaulted("replicas", small_count(2), &Jitter::replicas, "64",
                 "data-parallel replicas that have draws; the slowest of all is extrapolated")
      .defaulted(
          "seed", count(0, INT64_MAX),
          [](Jitter& jitter, std::int64_t seed) { jitter.seed = static_cast<std::uint64_t>(seed); },
          "1", "another one gives other draws");
  return table;
}

Section<Scenario> run_table() {
  using Fidelity = training::Fidelity;
  const auto in_run = [](auto member) {
    return [member](Scenario& scenario, auto value) { scenario.run.*member = value; };
  };
  Section<Scenario> table("what is simulated");
  table
      .defaulted("iterations", small_count(1, 1000), in_run(&Run::iterations), "2",
                 "the first is warm-up, the last is reported")
      .defaulted("fidelity",
                 word<Fidelity>("fidelity", {{"segments", Fidelity::segments},
                                             {"operators", Fidelity::operators},
                                             {"steps", std::nullopt}}),
                 in_run(&Run::fidelity), "segments",
                 "one task a run of operators, or one an operator")
      .group("jitter", jitter_table(),
             [](Scenario& scenario) -> training::Jitter& { return scenario.run.jitter; })
      .optional(
          "duration", job_duration(),
          [](Scenario& scenario, Seconds duration) { scenario.job_time.duration = duration; },
          "of the whole job, with failures; until training.tokens unless written")
      .optional(
          "histories", histories_table().kind(),
          [](Scenario& scenario, Histories histories) { scenario.job_time.histories = histories; },
          "of a job with failures")
      .optional(
          "device_hour", measure(sim::Dimension::money),
          [](Scenario& scenario, double price) { scenario.job_time.device_hour = price; },
          "price of a device for an hour, spares too; with failures");
  return table;
}

}  // namespace sim::scenario
