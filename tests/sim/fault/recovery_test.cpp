// Copies in memory, and policies under which what survives goes on, by hand.
#include "sim/fault/checkpoint_cost.h"
#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;

namespace {

// A state in memory after each 20 s of training: a stop of 1 s, 4 s until the peer has it. So five
// times 20 s of training take 109 s with the 5 s for storage, which serves as the fifth.
Model with_memory() {
  Model model = eight_hosts(1);
  model.memory = MemoryLevel{{Seconds(20), Seconds(1), Seconds(4), {}, Seconds(2), 1}, 1};
  model.processes = {timed_failures(250, 1e6, 1, 1e5)};
  return model;
}

Model without_restarts(int spares) {
  Model model = eight_hosts(spares);
  model.recovery.reconfigure = Seconds(7);
  model.processes = {timed_failures(250, 1e6, 1, 1e5)};
  return model;
}

}  // namespace

TEST_CASE("recovery: what a peer keeps in memory undoes less") {
  // Storage at 218 s with work 200, memory at 239 s with 220, at the peer by 243 s; at 250 s the
  // work is 231. Detection 10 s, restart 20 s, read 2 s: on at 282 s. 718 s are 6 times 109 and
  // 64 s, of which 3 are stops.
  const History found = run(with_memory(), "restart");
  CHECK(lost(found, Loss::rework) == 11);
  CHECK(lost(found, Loss::read) == 2);
  CHECK(lost(found, Loss::checkpoint) == 2 * 9 + 1 + 6 * 9 + 3);
  CHECK(found.work == 220 + 600 + 61);
  CHECK(found.checkpoints == 2 + 6);
  CHECK(found.memory_checkpoints == 2 * 4 + 1 + 6 * 4 + 2);
}

TEST_CASE("recovery: a copy in memory is lost with more hosts than it outlasts") {
  Model model = with_memory();
  model.processes[0].hosts = 2;
  model.machines.spares = 2;
  CHECK(lost(run(model, "restart"), Loss::rework) == 31);
  CHECK(lost(run(model, "restart"), Loss::read) == 3);
  // Only the own host keeps it: it outlasts what takes no host.
  model = with_memory();
  model.memory->hosts_lost = 0;
  CHECK(lost(run(model, "restart"), Loss::rework) == 31);
  model.processes[0].hosts = 0;
  CHECK(lost(run(model, "restart"), Loss::rework) == 11);
  // The second host goes while the job comes back from the first: storage after all.
  model = with_memory();
  model.machines.spares = 2;
  model.processes.push_back(timed_failures(265, 1e6, 1, 1e5));
  CHECK(lost(run(model, "restart"), Loss::rework) == 31);
  // Not at the peer yet.
  model = with_memory();
  model.processes[0].calendar->first = Seconds(241);
  CHECK(lost(run(model, "restart"), Loss::rework) == 22);
}

TEST_CASE("recovery: found late, a copy in memory is as wrong as the checkpoints since") {
  Model model = with_memory();
  model.processes[0].calendar->first = Seconds(230);
  model.processes[0].found_after = Distribution::fixed(Seconds(20));
  CHECK(lost(run(model, "restart"), Loss::rework) == 31);
}

TEST_CASE("recovery: what survives goes on with a quarter less") {
  // Nothing is undone: work 240 at 250 s, on at 267 s with three of four replicas. 60 s later the
  // next checkpoint, then 668 s of six times 105 and 38: 698 s of training at 0.75.
  const History found = run(without_restarts(0), "reroute");
  CHECK(lost(found, Loss::rework) == 0);
  CHECK(lost(found, Loss::read) == 0);
  CHECK(lost(found, Loss::detect) == 10);
  CHECK(lost(found, Loss::restart) == 7);
  CHECK(lost(found, Loss::shrunk) == 698 * 0.25);
  CHECK(found.work == 240 + 698 * 0.75);
  CHECK(found.checkpoints == 9);
}

TEST_CASE("recovery: a spare comes in at the next checkpoint") {
  // From 332 s another 7 s, then 661 s of six times 105 and 31.
  const History found = run(without_restarts(1), "reroute");
  CHECK(lost(found, Loss::rework) == 0);
  CHECK(lost(found, Loss::restart) == 14);
  CHECK(found.growing == 7);
  CHECK(found.work == 240 + 60 * 0.75 + 631);
}

TEST_CASE("recovery: what no replica outlasts restarts from the checkpoint") {
  // Four hosts may be in four replicas. The four that are left make two replicas.
  Model model = without_restarts(0);
  model.processes[0].hosts = 4;
  CHECK(lost(run(model, "reroute"), Loss::rework) == 40);
  CHECK(run(model, "reroute").work == 200 + 0.5 * (1000 - 283 - 6 * 5));
  // Software takes no host, and all of the job with it.
  model.processes[0].hosts = 0;
  CHECK(lost(run(model, "reroute"), Loss::rework) == 40);
  CHECK(lost(run(model, "reroute"), Loss::shrunk) == 0);
  // Survivors of silent corruption hold what is wrong.
  model = without_restarts(0);
  model.processes[0].found_after = Distribution::fixed(Seconds(1));
  CHECK(lost(run(model, "reroute"), Loss::rework) == 41);
}

TEST_CASE("recovery: planned anew, hosts that are left over are half a replica") {
  // As shrink: on at 283 s with work 200, then 717 s of six times 105 and 87. Seven hosts are three
  // replicas and a half.
  Model model = without_restarts(0);
  const History found = run(model, "replan", true);
  CHECK(lost(found, Loss::rework) == 40);
  CHECK(found.work == 200 + 0.875 * (1000 - 283 - 6 * 5));
  CHECK(found.work > run(model, "shrink").work);
  // Five hosts are two and a half, six are three.
  model.processes[0].hosts = 3;
  CHECK(run(model, "replan").work == 200 + 0.625 * (1000 - 283 - 6 * 5));
  model.processes[0].hosts = 2;
  CHECK(run(model, "replan").work == 200 + 0.75 * (1000 - 283 - 6 * 5));
  // Without a whole replica it waits: until 600 s, and is on 23 s later, with three times 105
  // and 62.
  model.processes[0].hosts = 7;
  model.processes[0].repair = Distribution::fixed(Seconds(350));
  CHECK(run(model, "replan").work == 200 + (1000 - 623 - 3 * 5));
  CHECK(lost(run(model, "replan"), Loss::wait) == 600 - 260);
}

TEST_CASE("recovery: planned anew at the checkpoint after a host came back") {
  // Repaired at 350 s; the checkpoint is done at 388 s, on at 411 s: five times 105 and 64.
  Model model = without_restarts(0);
  model.processes[0].repair = Distribution::fixed(Seconds(100));
  const History found = run(model, "replan");
  CHECK(found.growing == 23);
  CHECK(found.work == 200 + 87.5 + (1000 - 411 - 5 * 5));
}

TEST_CASE("recovery: replicas of one host leave none over") {
  Model model = without_restarts(0);
  model.machines = {8, 0, 8, 8, 8};
  CHECK(run(model, "replan").work == run(model, "shrink").work);
}

TEST_CASE("recovery: maintenance that is announced needs no drain where others go on") {
  Model model = without_restarts(0);
  model.processes[0].is_planned = true;
  const History found = run(model, "reroute");
  CHECK(lost(found, Loss::detect) == 0);
  CHECK(lost(found, Loss::restart) == 7);
  CHECK(found.checkpoints == 9);
}

TEST_CASE("recovery: times of a checkpoint in memory by PCIe and NICs") {
  // 5.6 TB on 16,384 devices of 2,048 hosts: 341.8 MB each, 2734 MB a host; 8 NICs of 50 GB/s.
  CheckpointFacts facts;
  facts.size = Bytes(5.6e12);
  facts.hosts = facts.writing_hosts = 2048;
  facts.writing_devices = 16384;
  facts.nics = 8;
  facts.nic = facts.pcie = gigabytes_per_second(50);
  const CheckpointCost peer = memory_checkpoint_cost(facts, {});
  CHECK(peer.stall.value() == approximately(341.796875e6 / 50e9));
  CHECK(peer.write.value() == approximately(2734.375e6 / 200e9));
  CHECK(peer.read.value() == approximately(2734.375e6 / 400e9 + 341.796875e6 / 50e9));
  CHECK(peer.per_nic.value() == approximately(25e9));
  const CheckpointCost own = memory_checkpoint_cost(facts, {false, {}, {}, {}});
  CHECK(own.write.value() == 0);
  CHECK(own.read.value() == own.stall.value());
  CHECK(own.per_nic.value() == 0);
  const CheckpointCost slow = memory_checkpoint_cost(facts, {true, {}, Seconds(2), {}});
  CHECK(slow.per_nic.value() == approximately(2734.375e6 / 8 / 2));
}
