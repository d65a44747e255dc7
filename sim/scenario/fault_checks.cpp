// What must hold between failures, checkpoint, recovery and the rest.
#include <algorithm>
#include <array>

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
  const std::optional<MemoryCheckpointEntry>& memory = entry.memory;
  const bool has_memory_times =
      memory && memory->stall && memory->read && (memory->write || !memory->is_copied_to_peer);
  const bool needs_size =
      !has_times || (entry.is_async && !entry.stall) || (memory && !has_memory_times);
  if (needs_size && !entry.size && !has_shapes) {
    reader.error("checkpoint", reader.place("checkpoint"), "the size of a checkpoint is not known",
                 "a dnn given by its times has no parameters", "write checkpoint.size");
  }
}

void check_memory_checkpoint(Reader& reader, const Draft& draft) {
  const auto& memory = draft.scenario.job_time.checkpoint->memory;
  if (!memory || !reader.is_clean("cluster")) return;
  const topology::Description& cluster = draft.scenario.cluster;
  const topology::HostType& type = cluster.hosts.front().type;
  const auto fail = [&](const std::string& what, const std::string& hint) {
    reader.error("checkpoint.memory", reader.place("checkpoint.memory"), what, "", hint);
  };
  if (type.pcie.value() == 0 && !(memory->stall && memory->read)) {
    fail("checkpoints in memory on hosts without a rate of PCIe", "write stall and read");
  }
  if (!memory->is_copied_to_peer) return;
  const bool has_nics = cluster.fabric.kind != topology::Fabric::Kind::none && type.nics > 0;
  if (!has_nics) fail("a copy in the memory of a peer, without NICs", "write copies: host");
}

void check_expert_groups(Reader& reader, const plan::Plan& plan) {
  if (plan.expert * plan.expert_tensor <= plan.tensor * plan.context) return;
  reader.error("recovery.policy", reader.place("recovery.policy"),
               "expert groups reach over data-parallel replicas, which cannot be left out then",
               fmt::format("expert {} x tensor {} of them > tensor {} x context {}", plan.expert,
                           plan.expert_tensor, plan.tensor, plan.context),
               "write policy: restart");
}

// Of each part of the state more than one replica must have a copy, and any number of micro-batches
// must do for the schedule.
void check_rerouting(Reader& reader, const plan::Plan& plan) {
  using Kind = plan::ScheduleKind;
  if (plan.sharding != plan::Sharding::none && plan.copies() < 2) {
    reader.error("recovery.policy", reader.place("recovery.policy"),
                 "policy reroute with a state that data-parallel replicas share",
                 "what a lost host held of it is nowhere else",
                 "write plan.data.sharding: none, a shard_degree that leaves copies, or another "
                 "policy");
  }
  const std::array able = {Kind::gpipe, Kind::one_f_one_b, Kind::interleaved,
                           Kind::zb_h1, Kind::zb_h2,       Kind::zb_v};
  if (std::find(able.begin(), able.end(), plan.schedule) != able.end()) return;
  reader.error("recovery.policy", reader.place("recovery.policy"),
               "policy reroute with a schedule that needs a certain number of micro-batches",
               "those of lost replicas are added to the others'",
               "write plan.pipeline.schedule: 1f1b, or another policy");
}

// Replicas of which each is cut for itself are no job with fewer of them.
bool check_alike(Reader& reader, const Draft& draft, const std::string& policy) {
  if (draft.scenario.plan.replicas.empty()) return true;
  reader.error("recovery.policy", reader.place("recovery.policy"),
               fmt::format("policy {} with replicas that are not cut alike", policy),
               "it leaves replicas out, and any of them stands for the others then",
               "write policy: restart, or degrees instead of plan.replicas");
  return false;
}

// What is left of a replica gets layers and micro-batches of its own.
void check_replanning(Reader& reader, const Draft& draft) {
  const auto* dnn = std::get_if<dnn::Transformer>(&draft.scenario.dnn);
  const plan::Plan& plan = draft.scenario.plan;
  for (const plan::Problem& problem :
       plan::problems_of_replanning(plan, dnn != nullptr && dnn->is_moe())) {
    reader.error(
        "recovery.policy", reader.place("recovery.policy"),
        fmt::format("policy replan: {}", problem.message), problem.why,
        problem.hint.empty() ? "write another policy" : problem.hint + ", or another policy");
  }
  if (draft.scenario.device_types.size() == 1) return;
  reader.error("recovery.policy", reader.place("recovery.policy"),
               "policy replan in a cluster with devices of several types",
               "layers are dealt for one speed that is normal", "write another policy");
}

// Every change is an event of each history.
constexpr double storage_change_least = 1;  // [s]

// From change to change, on average; none: it changes a few times only.
std::optional<double> time_between_changes(const Straggler& s) {
  if (const auto* p = std::get_if<Straggler::Periodic>(&s.course)) return p->every.value() / 2;
  if (const auto* p = std::get_if<Straggler::Random>(&s.course)) {
    return (p->on + p->off).value() / 2;
  }
  return std::nullopt;
}

// Only checkpoints see how fast the storage is.
void check_slow_storage(Reader& reader, const Scenario& scenario) {
  const auto& checkpoint = scenario.job_time.checkpoint;
  for (const Straggler& s : scenario.stragglers) {
    if (!is_storage(scenario, s)) continue;
    const auto fail = [&](const char* message, const char* why, const char* hint) {
      reader.error("stragglers", s.place, message, why, hint);
    };
    if (!s.link || s.compute || s.memory || s.host || s.drawn) {
      fail("a storage that is slow in another way than by a share of its rates",
           "checkpoints are written and read at them", "write link: 50 %, and when");
    } else if (time_between_changes(s).value_or(storage_change_least) < storage_change_least) {
      fail("a storage whose rates change more often than once a second",
           "that is in the job's time over weeks", "write longer times, or the share on average");
    } else if (scenario.job_time.failures.empty() || !checkpoint) {
      fail("a slow storage, but the scenario has no checkpoints", "an iteration does not use it",
           "write failures, checkpoint and recovery");
    } else if (checkpoint->write && checkpoint->read) {
      fail("a slow storage, but checkpoint.write and checkpoint.read are written",
           "they do not follow from its rates", "leave them out");
    }
  }
}

}  // namespace

bool is_steady(const Straggler& straggler) {
  return straggler.course.index() == 0 && straggler.from.value() == 0 && !straggler.to;
}

bool is_storage(const Scenario& scenario, const Straggler& straggler) {
  return scenario.cluster.storage && straggler.part == storage_part;
}

double storage_share(const Scenario& scenario) {
  double share = 1;
  for (const Straggler& s : scenario.stragglers) {
    if (is_storage(scenario, s) && is_steady(s)) share *= s.link.value_or(1);
  }
  return share;
}

void check_job_time(Reader& reader, const Value& root, Draft& draft) {
  check_together(reader, root);
  check_slow_storage(reader, draft.scenario);
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
  check_memory_checkpoint(reader, draft);
  const std::string& policy = job.recovery->policy;
  const bool leaves_out = policy == "shrink" || policy == "reroute" || policy == "replan";
  if (leaves_out && !check_alike(reader, draft, policy)) return;
  if (policy == "shrink" || policy == "reroute") check_expert_groups(reader, draft.scenario.plan);
  if (policy == "replan") check_replanning(reader, draft);
  if (policy == "reroute") check_rerouting(reader, draft.scenario.plan);
}

}  // namespace sim::scenario
