// What makes unlike replicas impossible: each by itself, and all together.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>

#include "sim/plan/problems.h"
#include "sim/plan/schedule.h"

namespace sim::plan {
namespace {

constexpr const char* no_shards = "the shards of one replica are then no shards of another";

// What is not modelled between replicas that are not alike.
std::vector<Problem> kinds_of_parallelism(const Plan& plan, bool has_experts) {
  std::vector<Problem> result;
  const auto refuse = [&](bool is_there, const char* field, const std::string& what,
                          const char* hint, const char* why = no_shards) {
    if (!is_there) return;
    result.push_back({field, "plan.replicas", what + " of replicas that are not alike", why, hint});
  };
  refuse(plan.context > 1, "plan.context", "context parallelism", "write context: 1");
  refuse(plan.expert * plan.expert_tensor > 1, "plan.expert.degree", "expert parallelism",
         "write degree: 1");
  refuse(has_experts, "plan.replicas", "routed experts", "");
  refuse(plan.sharding >= Sharding::zero2, "plan.data.sharding", "sharded gradients",
         "write sharding: zero-1 or none");
  refuse(plan.shard > 0, "plan.data.shard_degree", "several copies", "leave shard_degree out");
  refuse(plan.packing.has_value(), "training.packing", "packed documents", "",
         "which replica gets which is not known");
  refuse(plan.offload.is_on(), "plan.offload", "offloading", "leave it out", "it is not modelled");
  const ScheduleKind kind = plan.schedule;
  const bool is_known = kind == ScheduleKind::gpipe || kind == ScheduleKind::one_f_one_b ||
                        kind == ScheduleKind::zb_h1 || kind == ScheduleKind::zb_h2 ||
                        kind == ScheduleKind::double_buffered ||
                        kind == ScheduleKind::wave_synchronous;
  refuse(!is_known || plan.virtual_stages > 1, "plan.pipeline.schedule",
         fmt::format("the schedule {}", traits(kind).name),
         "write gpipe, 1f1b, zb-h1, zb-h2, pipedream-2bw or wave-synchronous",
         "their parts are on one stage each, in model order");
  return result;
}

class ReplicaChecker {
 public:
  ReplicaChecker(const Plan& plan, const dnn::Transformer& dnn, int devices)
      : plan_(plan), dnn_(dnn), devices_(devices) {}

  std::vector<Problem> run() {
    for (Problem& problem : kinds_of_parallelism(plan_, dnn_.is_moe())) add(std::move(problem));
    for (const Replica& replica : plan_.replicas) shape(replica);
    if (!result_.empty()) return std::move(result_);
    placed();
    batch();
    degrees();
    for (const int first : first_of_kinds(plan_)) stages(first);
    return std::move(result_);
  }

 private:
  void add(Problem problem) {
    const auto is_same = [&](const Problem& known) {
      return known.field == problem.field && known.message == problem.message;
    };
    if (std::none_of(result_.begin(), result_.end(), is_same)) {
      result_.push_back(std::move(problem));
    }
  }
  static std::string field_of(const Replica& replica, const char* key) {
    return fmt::format("plan.replicas.{}.{}", replica.entry, key);
  }

  void shape(const Replica& replica);
  void placed();
  void batch();
  void degrees();
  void stages(int replica);

  const Plan& plan_;
  const dnn::Transformer& dnn_;
  int devices_;
  std::vector<Problem> result_;
};

void ReplicaChecker::shape(const Replica& replica) {
  if (replica.tensor.size() != replica.layers.size()) {
    add({field_of(replica, "tensor"), field_of(replica, "layers"),
         fmt::format("{} tensor degrees for {} stages", replica.tensor.size(),
                     replica.layers.size()),
         "the layers are listed for each stage", "write one degree, or one for each stage"});
  }
  const std::int64_t sum =
      std::accumulate(replica.layers.begin(), replica.layers.end(), std::int64_t{0});
  if (sum != dnn_.layers) {
    add({field_of(replica, "layers"), "dnn",
         fmt::format("the layers of all stages are {}, but the dnn has {}", sum, dnn_.layers), "",
         ""});
  }
}

void ReplicaChecker::placed() {
  std::set<int> seen;
  for (const Replica& replica : plan_.replicas) {
    const std::string field = field_of(replica, "devices");
    if (static_cast<int>(replica.devices.size()) != replica.ranks()) {
      add({field, "",
           fmt::format("{} devices for the {} ranks of a replica", replica.devices.size(),
                       replica.ranks()),
           "its ranks are the sum of the tensor degrees of its stages", ""});
      continue;
    }
    for (const int device : replica.devices) {
      if (device < 0 || device >= devices_) {
        add({field, "cluster",
             fmt::format(
                 "device {} of a replica, but the cluster has {} devices that are no spares",
                 device, devices_),
             "", ""});
      } else if (!seen.insert(device).second) {
        add({field, "", fmt::format("device {} runs two ranks", device), "", ""});
      }
    }
  }
}

void ReplicaChecker::batch() {
  std::int64_t micro_batches = 0;
  for (const Replica& replica : plan_.replicas) micro_batches += replica.micro_batches;
  if (micro_batches * plan_.micro_batch == plan_.global_batch) return;
  add({"training.global_batch", "plan.replicas",
       fmt::format("the micro-batches of all replicas are {} of {} sequences, {} in all, but the "
                   "global batch has {}",
                   micro_batches, plan_.micro_batch, micro_batches * plan_.micro_batch,
                   plan_.global_batch),
       "", fmt::format("write {}", micro_batches * plan_.micro_batch)});
}

// Shards of unlike degrees are made of whole shards of the largest one.
void ReplicaChecker::degrees() {
  int most = 1;
  for (const Replica& replica : plan_.replicas) {
    most = std::max(most, *std::max_element(replica.tensor.begin(), replica.tensor.end()));
  }
  for (const Replica& replica : plan_.replicas) {
    for (const int degree : replica.tensor) {
      if (most % degree == 0) continue;
      add({field_of(replica, "tensor"), "",
           fmt::format("tensor {} of a stage does not divide {}, the largest of all", degree, most),
           "gradients are reduced in shards of the largest degree", ""});
    }
  }
}

// Each stage as if all were like it.
void ReplicaChecker::stages(int replica) {
  const Replica& one = plan_.replicas[static_cast<std::size_t>(replica)];
  std::set<int> seen;
  for (int stage = 0; stage < one.stages(); ++stage) {
    if (!seen.insert(one.tensor[static_cast<std::size_t>(stage)]).second) continue;
    const Plan alike = plan_of_stage(plan_, replica, stage);
    for (Problem& problem : problems_of_alike(alike, dnn_, alike.ranks())) {
      if (problem.field == "plan.tensor") problem.field = field_of(one, "tensor");
      if (problem.field == "plan.pipeline.layers") problem.field = field_of(one, "layers");
      if (problem.field == "training.global_batch") {
        problem.field = field_of(one, "micro_batches");
        problem.hint.clear();  // it counts sequences
      }
      add(std::move(problem));
    }
  }
}

}  // namespace

std::vector<Problem> problems(const Plan& plan, const dnn::Transformer& dnn, int devices) {
  auto result = plan.replicas.empty() ? problems_of_alike(plan, dnn, devices)
                                      : ReplicaChecker(plan, dnn, devices).run();
  for (Problem& problem : layer_problems(plan, dnn)) result.push_back(std::move(problem));
  return result;
}

std::vector<Problem> problems_of_replanning(const Plan& plan, bool has_experts) {
  if (!plan.replicas.empty()) {
    return {{"plan.replicas", "", "a plan whose replicas are cut each by itself",
             "what is planned anew begins as replicas that are alike",
             "write tensor, pipeline and data degrees instead"}};
  }
  constexpr const char* schedules = "write gpipe, 1f1b, zb-h1 or zb-h2";
  std::vector<Problem> result = kinds_of_parallelism(plan, has_experts);
  for (Problem& problem : result) {
    if (problem.field == "plan.pipeline.schedule") problem.hint = schedules;
  }
  const bool is_steady = plan.schedule == ScheduleKind::double_buffered ||
                         plan.schedule == ScheduleKind::wave_synchronous;
  if (result.empty() && (is_steady || !flushes(plan))) {
    result.push_back({"plan.pipeline.schedule", "",
                      fmt::format("the schedule {}{} of a plan that is made anew",
                                  traits(plan.schedule).name, is_steady ? "" : " without a flush"),
                      "layers and micro-batches are dealt so that iterations end together",
                      schedules});
  }
  if (!plan.cuts.empty()) {
    result.push_back({"plan.layers", "", "layers that are cut otherwise than the others",
                      "layers are dealt as if any of them took as long", "leave it out"});
  }
  if (!std::has_single_bit(static_cast<unsigned>(plan.tensor))) {
    result.push_back({"plan.tensor", "", fmt::format("tensor {}, no power of two", plan.tensor),
                      "tensor groups are cut into groups of 1, 2, 4, ... ranks", ""});
  }
  return result;
}

}  // namespace sim::plan
