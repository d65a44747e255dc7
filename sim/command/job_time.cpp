// Parts are counted, checkpoints sized, the engine is asked for every state.
#include "sim/command/job_time.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sim/base/units.h"
#include "sim/fault/checkpoint_cost.h"
#include "sim/fault/engine_rates.h"
#include "sim/plan/memory.h"
#include "sim/training/pattern.h"

namespace sim::command {

using scenario::FailureEntry;
using scenario::Part;
using scenario::Scenario;

namespace {

const char* name(Part part) {
  constexpr const char* names[] = {"gpu",  "memory", "nic",      "link",  "switch", "host",
                                   "rack", "power",  "software", "alarm", "job"};
  return names[static_cast<int>(part)];
}

int hosts_for(const Scenario& scenario, int ranks) {
  const int each = scenario.cluster.hosts.front().type.devices;
  return (ranks + each - 1) / each;
}

std::int64_t parts_of(const FailureEntry& entry, const Scenario& scenario) {
  if (entry.parts) return *entry.parts;
  const std::int64_t hosts = hosts_for(scenario, scenario.plan.ranks());
  const std::int64_t nics = std::max(scenario.cluster.hosts.front().type.nics, 1);
  switch (entry.part) {
    case Part::gpu:
    case Part::memory:
      return scenario.plan.ranks();
    case Part::nic:
    case Part::link:
      return hosts * nics;
    case Part::host:
      return hosts;
    default:
      return 1;
  }
}

fault::FailureProcess process_of(const FailureEntry& entry, const Scenario& scenario) {
  fault::FailureProcess process;
  process.cause = entry.cause.empty() ? name(entry.part) : entry.cause;
  process.parts = parts_of(entry, scenario);
  process.age = entry.age;
  process.is_planned = entry.is_planned;
  process.hosts = entry.hosts.value_or(0);
  process.repair = entry.repair.value_or(fault::Distribution::fixed(Seconds(0)));
  process.detect = entry.detect;
  process.found_after = entry.found_after;
  const double rate = entry.rate ? *entry.rate
                      : entry.observed
                          ? entry.observed->failures / (static_cast<double>(entry.observed->parts) *
                                                        entry.observed->over.value())
                          : 0;
  if (entry.every) {
    process.calendar =
        fault::FailureProcess::Calendar{entry.first.value_or(*entry.every), *entry.every};
  } else if (entry.life) {
    process.life = {*entry.life, 0, {}};
  } else {
    process.life = {fault::Distribution::exponential(Seconds(1 / rate)), entry.infant_extra,
                    entry.infant_decay};
  }
  return process;
}

// Whether what goes to the storage passes the links above the leaves.
bool is_beyond_leaves(const topology::Description& cluster) {
  using Kind = topology::Fabric::Kind;
  const topology::Fabric& fabric = cluster.fabric;
  return cluster.storage && cluster.storage->at == topology::Storage::At::core &&
         fabric.kind != Kind::none && fabric.kind != Kind::one_switch && !fabric.is_direct();
}

fault::CheckpointFacts facts_of(const Scenario& scenario, std::vector<std::string>& notes) {
  const scenario::CheckpointEntry& entry = *scenario.job_time.checkpoint;
  const topology::HostType& type = scenario.cluster.hosts.front().type;
  const plan::Plan& plan = scenario.plan;
  fault::CheckpointFacts facts;
  const auto* dnn = std::get_if<dnn::Transformer>(&scenario.dnn);
  if (entry.size) {
    facts.size = *entry.size;
  } else if (dnn) {
    const auto parameters = static_cast<double>(dnn::total_parameters(*dnn));
    facts.size = Bytes(parameters * (plan::weight_bytes + plan::optimizer_bytes));
    notes.push_back(
        fmt::format("checkpoint of {}: {:.4g} billion parameters of 2 bytes of weights "
                    "and 12 of optimizer state",
                    to_text(facts.size), parameters * 1e-9));
  }
  facts.hosts = hosts_for(scenario, plan.ranks());
  const bool is_sharded = plan.sharding != plan::Sharding::none;
  facts.writing_devices = is_sharded ? plan.ranks() : plan.ranks() / plan.data;
  facts.writing_hosts = hosts_for(scenario, facts.writing_devices);
  const bool has_fabric = scenario.cluster.fabric.kind != topology::Fabric::Kind::none;
  facts.nics = has_fabric ? type.nics : 0;
  const topology::Fabric& fabric = scenario.cluster.fabric;
  facts.nic = std::min(type.nic, fabric.link);
  if (is_beyond_leaves(scenario.cluster)) facts.up = fabric.link / fabric.oversubscription;
  facts.pcie = type.pcie;
  if (scenario.cluster.storage) {
    const double share = scenario::storage_share(scenario);
    facts.storage_write = scenario.cluster.storage->write * share;
    facts.storage_read = scenario.cluster.storage->read * share;
  }
  facts.is_async = entry.is_async;
  facts.stall = entry.stall;
  facts.write = entry.write;
  facts.read = entry.read;
  return facts;
}

fault::Slowness slowness_of(const scenario::Straggler& s) {
  using scenario::Straggler;
  fault::Slowness slow{s.link.value_or(1), s.from, s.to, {}};
  if (const auto* periodic = std::get_if<Straggler::Periodic>(&s.course)) {
    slow.course = fault::Slowness::Periodic{periodic->every, periodic->lasts};
  } else if (const auto* random = std::get_if<Straggler::Random>(&s.course)) {
    slow.course = fault::Slowness::OnOff{random->on, random->off, random->seed};
  } else if (const auto* trace = std::get_if<scenario::StragglerTrace>(&s.course)) {
    slow.course = fault::Slowness::Recorded{trace->at, trace->link};
  } else if (const auto* ramp = std::get_if<Straggler::Ramp>(&s.course)) {
    fault::Slowness::Recorded steps;
    for (const training::Phase& phase :
         training::phases(training::Ramp{ramp->over, ramp->steps, ramp->start}, slow.share,
                          Seconds(0), std::nullopt, 0)) {
      steps.at.push_back(to_seconds(phase.at));
      steps.share.push_back(phase.factor);
    }
    slow.course = std::move(steps);
  }
  return slow;
}

// Without what is slow throughout, which is in the rates.
std::vector<fault::Slowness> slowness_of(const Scenario& scenario) {
  std::vector<fault::Slowness> result;
  for (const scenario::Straggler& s : scenario.stragglers) {
    if (is_storage(scenario, s) && !is_steady(s)) result.push_back(slowness_of(s));
  }
  return result;
}

// Also of a dnn that is given by its times.
double tokens_per_iteration(const Scenario& scenario) {
  return static_cast<double>(scenario.plan.global_batch) *
         static_cast<double>(scenario.plan.sequence);
}

fault::Horizon horizon_of(const Scenario& scenario, const training::Result& whole) {
  fault::Horizon horizon;
  if (scenario.job_time.duration) {
    horizon.duration = scenario.job_time.duration;
  } else {
    const double iterations = scenario.training.tokens / tokens_per_iteration(scenario);
    horizon.work = Seconds(iterations * static_cast<double>(whole.iteration_ps()) * 1e-12);
  }
  return horizon;
}

// A line on a terminal again and again, elsewhere one every ten seconds.
std::function<void(int, const fault::Spread&)> progress_line(int most) {
  using Clock = std::chrono::steady_clock;
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  return [=, last = Clock::now()](int done, const fault::Spread& ratio) mutable {
    const auto pause = is_terminal ? std::chrono::seconds(1) : std::chrono::seconds(10);
    if (Clock::now() - last < pause) return;
    last = Clock::now();
    fmt::print(stderr, "{}{} of at most {} histories: effective training time {:.3f} +- {:.3f} %{}",
               is_terminal ? "\r" : "", done, most, 100 * ratio.mean, 100 * ratio.half_width,
               is_terminal ? " " : "\n");
    std::fflush(stderr);
  };
}

void add_memory_level(const scenario::MemoryCheckpointEntry& entry,
                      const fault::CheckpointFacts& facts, JobModel& result) {
  const fault::CheckpointCost cost = fault::memory_checkpoint_cost(
      facts, {entry.is_copied_to_peer, entry.stall, entry.write, entry.read});
  const fault::Checkpointing times{entry.every, cost.stall, cost.write, cost.drain, cost.read, 1};
  result.model.memory = fault::MemoryLevel{times, entry.is_copied_to_peer ? 1 : 0};
  result.writing_per_nic[static_cast<std::size_t>(fault::Writing::to_memory)] = cost.per_nic;
  result.notes.insert(result.notes.end(), cost.notes.begin(), cost.notes.end());
}

}  // namespace

JobModel job_model(const Scenario& scenario, const training::Result& whole) {
  JobModel result;
  fault::Model& model = result.model;
  for (const FailureEntry& entry : scenario.job_time.failures) {
    model.processes.push_back(process_of(entry, scenario));
  }
  const fault::CheckpointFacts facts = facts_of(scenario, result.notes);
  fault::CheckpointFacts to_storage = facts;
  const auto& storage = scenario.cluster.storage;
  if (storage && storage->at == topology::Storage::At::apart) to_storage.nics = 0;
  const fault::CheckpointCost cost = fault::checkpoint_cost(to_storage);
  const scenario::CheckpointEntry& checkpoint = *scenario.job_time.checkpoint;
  model.checkpoint = {checkpoint.every, cost.stall,      cost.write,      cost.drain,
                      cost.read,        checkpoint.kept, cost.write_room, cost.read_room};
  model.storage = slowness_of(scenario);
  constexpr auto way = static_cast<std::size_t>(fault::Writing::to_storage);
  result.writing_per_nic[way] = cost.per_nic;
  result.leaves_group[way] = is_beyond_leaves(scenario.cluster);
  result.notes.insert(result.notes.end(), cost.notes.begin(), cost.notes.end());
  if (checkpoint.memory) add_memory_level(*checkpoint.memory, facts, result);
  model.recovery = scenario.job_time.recovery->recovery;
  const plan::Plan& plan = scenario.plan;
  model.machines = {hosts_for(scenario, plan.ranks()), scenario.cluster.spares, plan.data,
                    scenario.cluster.hosts.front().type.devices, plan.ranks() / plan.data};
  model.horizon = horizon_of(scenario, whole);
  result.notes.emplace_back("parts fail while the job is stopped too, spare hosts never");
  return result;
}

namespace {

fault::Question question_of(const JobModel& built, const scenario::JobTimeEntry& entry,
                            const JobTimeOptions& options) {
  fault::Question question;
  question.model = built.model;
  question.policy = entry.recovery->policy;
  question.spare_target = entry.recovery->spare_target;
  question.effort = {entry.histories->precision, entry.histories->most, entry.histories->seed,
                     options.threads};
  if (options.shows_progress) question.effort.progress = progress_line(entry.histories->most);
  return question;
}

fault::EngineJob engine_of(const Scenario& scenario, const LoadedJob& loaded,
                           const training::Result& whole, const JobModel& built) {
  return {&loaded.job, &scenario.cluster, &whole, built.writing_per_nic, built.leaves_group};
}

fault::Rates rates_of(const fault::EngineJob& engine) {
  return fault::Rates([engine](const fault::ClusterState& state) {
    return fault::samples_per_second(engine, state);
  });
}

}  // namespace

fault::Outlook job_outlook(const Scenario& scenario, const LoadedJob& loaded,
                           const training::Result& whole, const JobTimeOptions& options) {
  const JobModel built = job_model(scenario, whole);
  const scenario::JobTimeEntry& entry = scenario.job_time;
  fault::Rates rates = rates_of(engine_of(scenario, loaded, whole, built));
  fault::Outlook outlook = fault::outlook(question_of(built, entry, options), rates);
  outlook.iteration_s = static_cast<double>(whole.iteration_ps()) * 1e-12;
  outlook.tokens_per_second = tokens_per_iteration(scenario) / outlook.iteration_s;
  outlook.tokens = scenario.training.tokens;
  const int hosts = built.model.machines.hosts + built.model.machines.spares;
  outlook.devices = hosts * built.model.machines.devices_per_host;
  outlook.device_hour = entry.device_hour;
  outlook.notes = built.notes;
  return outlook;
}

fault::Estimate job_estimate(const Scenario& scenario, const LoadedJob& loaded,
                             const training::Result& whole, const JobTimeOptions& options) {
  const JobModel built = job_model(scenario, whole);
  fault::Rates rates = rates_of(engine_of(scenario, loaded, whole, built));
  const fault::Question question = question_of(built, scenario.job_time, options);
  return fault::estimate(question.model, *fault::policy(question.policy), rates, question.effort);
}

}  // namespace sim::command
