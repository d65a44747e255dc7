// What must hold between failures, checkpoint, recovery and the rest.
#include "sim/scenario/checks.h"

namespace sim::scenario {
namespace {

void check_together(Reader& reader, const Value& root) {
  const bool has_checkpoint = root.find("checkpoint") != nullptr;
  for (const char* other : {"failures", "recovery"}) {
    const Value* value = root.find(other);
    if ((value != nullptr) == has_checkpoint) continue;
    const Value* there = value ? value : root.find("checkpoint");
    reader.error(other, there->name_place(),
                 value ? fmt::format("'{}' without 'checkpoint'", other)
                       : fmt::format("'checkpoint' without '{}'", other),
                 "the time of a job over weeks needs failures, checkpoint and recovery",
                 fmt::format("write {}", value ? "checkpoint" : other));
  }
}

void check_one_host_size(Reader& reader, const topology::Description& cluster) {
  bool is_even = !cluster.graph && !cluster.hosts.empty();
  for (const topology::HostGroup& group : cluster.hosts) {
    is_even = is_even && group.type.devices == cluster.hosts.front().type.devices &&
              group.type.nics == cluster.hosts.front().type.nics;
  }
  if (is_even) return;
  reader.error("failures", reader.place("failures"),
               "failures in a cluster whose hosts differ in devices or NICs, or that is a graph",
               "a spare host must be able to replace any other",
               "write hosts with one number of devices and NICs");
}

void check_checkpoint(Reader& reader, const Draft& draft) {
  const CheckpointEntry& entry = *draft.scenario.job_time.checkpoint;
  const bool has_shapes = std::holds_alternative<dnn::Transformer>(draft.scenario.dnn);
  const bool has_times = entry.write && entry.read;
  if (!has_times && !draft.scenario.cluster.storage) {
    reader.error(
        "checkpoint", reader.place("checkpoint"),
        "neither cluster.storage nor the times of a checkpoint",
        "they follow from the rates of the storage",
        "write cluster.storage: {write: 100 GB/s, read: 200 GB/s}, or checkpoint.write and "
        "checkpoint.read");
  }
  const bool needs_size = !has_times || (entry.is_async && !entry.stall);
  if (needs_size && !entry.size && !has_shapes) {
    reader.error("checkpoint", reader.place("checkpoint"), "the size of a checkpoint is not known",
                 "a dnn given by its times has no parameters", "write checkpoint.size");
  }
}

void check_shrinking(Reader& reader, const Draft& draft) {
  const plan::Plan& plan = draft.scenario.plan;
  if (draft.scenario.job_time.recovery->policy != "shrink") return;
  if (plan.expert * plan.expert_tensor <= plan.tensor * plan.context) return;
  reader.error("recovery.policy", reader.place("recovery.policy"),
               "expert groups reach over data-parallel replicas, which cannot be left out then",
               fmt::format("expert {} x tensor {} of them > tensor {} x context {}", plan.expert,
                           plan.expert_tensor, plan.tensor, plan.context),
               "write policy: restart");
}

}  // namespace

void check_job_time(Reader& reader, const Value& root, Draft& draft) {
  check_together(reader, root);
  JobTimeEntry& job = draft.scenario.job_time;
  const Value* run = root.find("run");
  for (const char* key : {"duration", "histories", "device_hour"}) {
    const Value* value = run ? run->find(key) : nullptr;
    if (value == nullptr || root.find("failures") != nullptr) continue;
    reader.error(fmt::format("run.{}", key), value->name_place(),
                 fmt::format("run.{} without failures", key),
                 "an iteration is simulated, and only failures make a job over weeks of it",
                 "write failures, checkpoint and recovery, or run.iterations");
  }
  if (!job.failures.empty() && reader.is_clean("cluster")) {
    check_one_host_size(reader, draft.scenario.cluster);
  }
  if (!job.checkpoint || !job.recovery) return;
  if (!job.duration && draft.scenario.training.tokens == 0) {
    reader.error("run.duration", reader.place(root.find("run") ? "run" : "failures"),
                 "neither run.duration nor training.tokens", "a job with failures must end",
                 "write run: {duration: 54 d}");
  }
  if (!job.duration && draft.scenario.training.tokens > 0 &&
      std::holds_alternative<TimedDnn>(draft.scenario.dnn) && draft.scenario.plan.sequence <= 1) {
    reader.error("training.tokens", reader.place("training.tokens"),
                 "tokens of a timed dnn without training.sequence", "",
                 "write training.sequence, or run.duration");
  }
  if (!job.histories) {
    job.histories = Histories{};
    reader.add_derived("run.histories", "{precision: 0.1 %, most: 1000, seed: 1}");
  }
  check_checkpoint(reader, draft);
  check_shrinking(reader, draft);
}

}  // namespace sim::scenario
