// From an interruption until training goes on.
#include <algorithm>
#include <limits>

#include "sim/base/invariant.h"
#include "sim/fault/course.h"

namespace sim::fault {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

int Course::hosts_working() const {
  int hosts = model_.machines.hosts + model_.machines.spares;
  for (const Repair& repair : repairs_) {
    if (repair.at > now_) hosts -= repair.hosts;
  }
  return std::max(hosts, 0);
}

Situation Course::situation() const {
  const Machines& machines = model_.machines;
  const std::int64_t devices = std::int64_t{hosts_working()} * machines.devices_per_host;
  // Hosts that the whole job leaves partly empty count as whole.
  const int possible = hosts_working() >= machines.hosts
                           ? machines.replicas
                           : static_cast<int>(devices / machines.ranks_per_replica);
  Situation result{machines.replicas, replicas_, std::min(possible, machines.replicas)};
  if (result.replicas_possible < machines.replicas) {
    result.part_possible = hosts_working() % machines.hosts_per_replica();
  }
  if (current_.failure.process < model_.processes.size()) {
    const int hosts = model_.processes[current_.failure.process].hosts;
    const int of_host = (machines.devices_per_host + machines.ranks_per_replica - 1) /
                        std::max(machines.ranks_per_replica, 1);
    result.replicas_lost = hosts * of_host;
  }
  return result;
}

void Course::run_with(int replicas) {
  part_ = policy_.uses_part() ? situation().part_possible : 0;
  replicas_ = replicas;
}

void Course::take_hosts() {
  const FailureProcess& process = model_.processes[current_.failure.process];
  std::erase_if(repairs_, [this](const Repair& repair) { return repair.at <= now_; });
  int out = 0;
  for (const Repair& repair : repairs_) out += repair.hosts;
  if (process.hosts > 0) {
    repairs_.push_back({now_ + draw(Draws::What::repair, process.repair), process.hosts});
    out += process.hosts;
  }
  const std::size_t counted = std::min(static_cast<std::size_t>(out), hosts_out_max);
  if (history_.hosts_out.size() <= counted) history_.hosts_out.resize(counted + 1);
  ++history_.hosts_out[counted];
}

// What was being written, and what too many lost hosts held.
void Course::lose_copies() {
  pending_.reset();
  if (model_.memory && hosts_lost_ > model_.memory->hosts_lost) saved_.forget_memory();
}

// The newest checkpoint from before the state was wrong; from the start where none is kept.
void Course::roll_back() {
  since_checkpoint_ = {};
  const SavedState state = saved_.back_to(current_.wrong_since);
  read_from_ = state.place;
  const double undone = work_ - state.work;
  work_ = state.work;
  history_.lost[static_cast<std::size_t>(Loss::rework)] += undone;
  (cause_ ? history_.lost_by_process[*cause_] : history_.growing) += undone;
}

Course::Outcome Course::wait_for_hosts(bool& has_spare) {
  while (true) {
    const int replicas = policy_.replicas_after_failure(situation());
    if (replicas > 0) {
      run_with(replicas);
      return Outcome::done;
    }
    has_spare = false;
    const double repaired = next_repair();
    invariant(repaired < never, "a job waits for hosts and none is under repair");
    // A job needs no longer than its horizon to wait.
    const Outcome outcome = pass(std::min(repaired, end_at_) - now_, Loss::wait);
    if (outcome != Outcome::done) return outcome;
    now_ = std::max(now_, repaired);
  }
}

Course::Outcome Course::come_back() {
  const Recovery& recovery = model_.recovery;
  bool has_spare = false;
  if (cause_) {
    const FailureProcess& process = model_.processes[*cause_];
    ++history_.interruptions[*cause_];
    take_hosts();
    has_spare = process.hosts > 0 && hosts_working() >= model_.machines.hosts;
    if (!process.is_planned) {
      const Outcome detected =
          pass(draw(Draws::What::detect, process.detect.value_or(recovery.detect)), Loss::detect);
      if (detected != Outcome::done) return detected;
    }
  }
  const Outcome waited = wait_for_hosts(has_spare);
  if (waited != Outcome::done) return waited;
  double restart = recovery.restart.value();
  if (has_spare && recovery.spare == Recovery::Spare::cold) restart += recovery.boot.value();
  if (has_spare && recovery.spare == Recovery::Spare::hot) restart = recovery.takeover.value();
  const Outcome restarted = pass(restart, Loss::restart);
  if (restarted != Outcome::done) return restarted;
  return pass(read_time(), Loss::read);
}

bool Course::goes_on() const {
  if (current_.failure.process < model_.processes.size()) {
    const FailureProcess& process = model_.processes[current_.failure.process];
    // Survivors of a silent failure hold what is wrong.
    if (process.hosts == 0 || current_.wrong_since < current_.failure.at) return false;
  }
  return policy_.goes_on(situation());
}

Course::Outcome Course::go_on() {
  if (cause_) {
    const FailureProcess& process = model_.processes[*cause_];
    ++history_.interruptions[*cause_];
    take_hosts();
    run_with(policy_.replicas_after_failure(situation()));
    if (!process.is_planned) {
      const Outcome detected = pass(
          draw(Draws::What::detect, process.detect.value_or(model_.recovery.detect)), Loss::detect);
      if (detected != Outcome::done) return detected;
    }
  } else {
    run_with(policy_.replicas_at_checkpoint(situation()));
  }
  return pass(model_.recovery.reconfigure.value(), Loss::restart);
}

void Course::recover() {
  hosts_lost_ = 0;
  while (true) {
    cause_.reset();
    if (current_.failure.process < model_.processes.size()) cause_ = current_.failure.process;
    if (cause_) hosts_lost_ += model_.processes[*cause_].hosts;
    lose_copies();
    const bool goes_on_now = goes_on();
    if (!goes_on_now) roll_back();
    const Interruption next = next_;
    if (!model_.recovery.is_interruptible) next_.failure.at = never;
    const Outcome outcome = goes_on_now ? go_on() : come_back();
    if (!model_.recovery.is_interruptible) {
      next_ = next;
      while (next_.failure.at < now_) draw_next();
    }
    if (outcome != Outcome::interrupted) return;
  }
}

}  // namespace sim::fault
