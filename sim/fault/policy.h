// What to do about a failure: the seam for recovery policies. A policy is one file that defines a
// class and a function that makes it, listed in policies.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace sim::fault {

struct Situation {
  int replicas = 0;           // of the whole job
  int replicas_running = 0;   // before this; at a checkpoint: now
  int replicas_possible = 0;  // with the hosts that work, spares too; at most `replicas`
  int replicas_lost = 0;      // by this failure, at worst
  // Hosts of one more replica, that lacks some: where replicas span whole hosts and more than one.
  int part_possible = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Whether failures do anything at all.
  virtual bool ignores_failures() const { return false; }
  // Whether the global batch stays: replicas that are missing leave their micro-batches to others.
  virtual bool keeps_batch() const { return false; }
  // Whether the hosts that whole replicas leave over are one more replica, a shorter pipeline.
  virtual bool uses_part() const { return false; }
  // Whether what survives holds all of the state and goes on after recovery.reconfigure: nothing is
  // undone, restarted or read. Asked where hosts are lost, and where some come in again.
  virtual bool goes_on(const Situation& /*situation*/) const { return false; }
  // Data-parallel replicas to go on with; 0: wait until a host has been repaired, and ask again.
  virtual int replicas_after_failure(const Situation& situation) const = 0;
  // The same where a checkpoint in storage has been completed: another number than that running
  // stops the job, which restarts from it, or goes on.
  virtual int replicas_at_checkpoint(const Situation& situation) const {
    return situation.replicas_running;
  }
};

struct NamedPolicy {
  std::string name, about;
  std::unique_ptr<Policy> (*make)();
};
const std::vector<NamedPolicy>& policies();
// REQUIRES: one has that name.
std::unique_ptr<Policy> policy(const std::string& name);

std::unique_ptr<Policy> make_ignore();
std::unique_ptr<Policy> make_restart();
std::unique_ptr<Policy> make_shrink();
std::unique_ptr<Policy> make_reroute();
std::unique_ptr<Policy> make_replan();

}  // namespace sim::fault
