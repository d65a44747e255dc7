// A storage that is slow for a while: how long things take by hand, and what becomes of
// checkpoints.
#include "sim/fault/checkpoint_cost.h"
#include "sim/fault/storage_speed.h"
#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;

namespace {

Slowness between(double share, double from, double to) {
  return {share, Seconds(from), Seconds(to), {}};
}

double takes(const std::vector<Slowness>& slowness, double start, double seconds, double room = 1) {
  return StorageSpeed(slowness, {}).takes(start, seconds, room);
}

}  // namespace

TEST_CASE("storage: what takes longer while it is slow, by hand") {
  CHECK(takes({}, 8, 5) == 5);
  // 2 s, then 4 s for 2 s of work, then the last second.
  CHECK(takes({between(0.5, 10, 14)}, 8, 5) == 7);
  CHECK(takes({between(0.5, 10, 14)}, 8, 5, 2) == 5);
  // The storage could be 1.5 times as slow: 0.5 x 1.5 = 0.75 of the speed: 2 + 3 of 5, 0 after.
  CHECK(takes({between(0.5, 10, 14)}, 8, 5, 1.5) == 6);
  CHECK(takes({between(0.5, 10, 14)}, 14, 5) == 5);
  CHECK(takes({between(0.5, 0, 1e9), between(0.5, 0, 1e9)}, 3, 1) == 4);
  // Each 10 s are 8.5 s of work: 11 times 8.5 are 93.5, half a second in 2 s, then 6 s.
  const Slowness periodic{0.25, Seconds(0), {}, Slowness::Periodic{Seconds(10), Seconds(2)}};
  CHECK(takes({periodic}, 0, 100) == approximately(118.0));
  // Until 10 s only: 2 s for half a second, then as normal.
  const Slowness once{0.25, Seconds(0), Seconds(10), Slowness::Periodic{Seconds(10), Seconds(2)}};
  CHECK(takes({once}, 0, 100) == approximately(101.5));
  // 3 s, 5 s for 2.5 s of work, then 4.5 s.
  const Slowness recorded{
      1, Seconds(3), {}, Slowness::Recorded{{Seconds(0), Seconds(5)}, {0.5, 1}}};
  CHECK(takes({recorded}, 0, 10) == approximately(12.5));
}

TEST_CASE("storage: what would last beyond the end is not followed there") {
  // All but a millionth of the time at a millionth: a second takes about half a million of them.
  const std::vector<Slowness> all = {
      {1e-6, Seconds(0), {}, Slowness::Periodic{Seconds(2), Seconds(2 - 2e-6)}}};
  CHECK(StorageSpeed(all, {}, 1e5).takes(0, 1) == std::numeric_limits<double>::infinity());
  CHECK(StorageSpeed(all, {}, 1e6).takes(0, 1) == doctest::Approx(5e5).epsilon(1e-3));
  Model model = eight_hosts(1);
  model.checkpoint.write_room = 1;
  model.storage = all;
  // The first checkpoint, at 100 s, is not done at 1000 s.
  const History found = run(model, "restart");
  CHECK(found.wall == 1000);
  CHECK(found.work == 100);
  CHECK(found.checkpoints == 0);
  // Beside training it holds up the next one, 100 s of training after the copy.
  model.checkpoint.write = Seconds(5);
  model.checkpoint.drain = Seconds(10);
  CHECK(run(model, "restart").work == 200);
}

TEST_CASE("storage: slow at random, it has its share of the time") {
  // A quarter of the time at half: 0.875 of its rates in the long run.
  const Slowness random{0.5, Seconds(0), {}, Slowness::OnOff{Seconds(1), Seconds(3)}};
  CHECK(takes({random}, 0, 70000) == doctest::Approx(80000).epsilon(0.01));
  Slowness other = random;
  std::get<Slowness::OnOff>(other.course).seed = 2;
  CHECK(takes({other}, 0, 70) != takes({random}, 0, 70));
  const std::vector<Slowness> all = {random};
  CHECK(StorageSpeed(all, {1, 1}).takes(0, 70) != takes(all, 0, 70));
}

TEST_CASE("storage: two pieces of work take as long as both at once") {
  const std::vector<Slowness> all = {
      {0.3, Seconds(5), Seconds(1234), Slowness::Periodic{Seconds(7), Seconds(3)}},
      {0.6, Seconds(2), {}, Slowness::OnOff{Seconds(4), Seconds(9)}},
      {1, Seconds(40), {}, Slowness::Recorded{{Seconds(1), Seconds(50)}, {0.2, 0.9}}}};
  for (int i = 0; i < 200; ++i) {
    const double start = 1.7 * i, first = 0.1 * (i % 13), second = 3.1 * (i % 7);
    const double after = takes(all, start, first);
    CAPTURE(i);
    CHECK(takes(all, start, first + second) ==
          doctest::Approx(after + takes(all, start + after, second)).epsilon(1e-12));
    CHECK(takes(all, start, first) >= first * (1 - 1e-12));
  }
}

TEST_CASE("storage: a blocking checkpoint waits for it") {
  // Checkpoints of 5 s after each 100 s; the first takes 10 s, so 8 more begin at 210, ..., 945.
  Model model = eight_hosts(1);
  model.checkpoint.write_room = model.checkpoint.read_room = 1;
  model.storage = {between(0.5, 100, 110)};
  History found = run(model, "restart");
  CHECK(lost(found, Loss::checkpoint) == 10 + 8 * 5);
  CHECK(found.work == 950);
  CHECK(found.checkpoints == 9);
  // NICs at half the storage's rate bound it: nothing changes.
  model.checkpoint.write_room = 2;
  CHECK(lost(run(model, "restart"), Loss::checkpoint) == 9 * 5);
}

TEST_CASE("storage: reading at a restart waits for it, and so does a planned stop") {
  // At 250 s work is 240, saved 200; 10 s and 20 s later 3 s of reading at a quarter take 12.
  Model model = eight_hosts(1);
  model.checkpoint.write_room = model.checkpoint.read_room = 1;
  model.processes = {timed_failures(250, 1e6, 1, 1e5)};
  model.storage = {between(0.25, 260, 300)};
  CHECK(lost(run(model, "restart"), Loss::read) == 12);
  // Announced: 5 s for the checkpoint become 20 s.
  model.processes[0].is_planned = true;
  model.storage = {between(0.25, 245, 275)};
  const double drained = lost(run(model, "restart"), Loss::checkpoint);
  model.storage = {};
  CHECK(drained - lost(run(model, "restart"), Loss::checkpoint) == 15);
}

TEST_CASE("storage: writing beside training loads the network less where it takes longer") {
  Model model = eight_hosts(1);
  model.checkpoint = {Seconds(100), Seconds(1), Seconds(20), Seconds(21), Seconds(3), 0, 1, 1};
  model.storage = {between(0.5, 100, 150)};
  model.horizon.duration = Seconds(150);
  std::vector<int> percents;
  Rates rates([&](const ClusterState& state) {
    if (state.writing != Writing::none) percents.push_back(state.percent);
    return state.writing == Writing::none ? 4.0 : 4 - 0.4 * state.percent / 100;
  });
  const History slow = history(model, *policy("restart"), rates, {});
  // 100 s, 1 s for the copy, 40 s at half of a tenth slower, 9 s.
  CHECK(percents == std::vector<int>{50});
  CHECK(lost(slow, Loss::checkpoint) == approximately(1 + 40 * 0.05));
  CHECK(slow.work == approximately(100 + 40 * 0.95 + 9));
  CHECK(slow.checkpoints == 1);
}

TEST_CASE("storage: up links beyond the leaves bound a checkpoint that passes them") {
  // 16 NICs of 50 GB/s have 800 GB/s, and at 4:1 a quarter of it up.
  CheckpointFacts facts;
  facts.size = Bytes(4e12);
  facts.hosts = facts.writing_hosts = 2;
  facts.writing_devices = 16;
  facts.nics = 8;
  facts.nic = facts.pcie = gigabytes_per_second(50);
  facts.storage_write = gigabytes_per_second(400);
  facts.storage_read = gigabytes_per_second(900);
  CheckpointCost cost = checkpoint_cost(facts);
  CHECK(cost.stall.value() == approximately(10.0));
  CHECK(cost.write_room == 1);
  CHECK(cost.read.value() == approximately(5.0));
  CHECK(cost.read_room == approximately(900.0 / 800));
  facts.up = gigabytes_per_second(12.5);
  cost = checkpoint_cost(facts);
  CHECK(cost.stall.value() == approximately(20.0));
  CHECK(cost.write_room == approximately(2.0));
  CHECK(cost.read.value() == approximately(20.0));
  CHECK(cost.notes[0] ==
        "checkpoint written in 20 s: 3.638 TiB at 200 GB/s of the up links of 16 NICs");
  // Half of an up link beside training.
  facts.is_async = true;
  cost = checkpoint_cost(facts);
  CHECK(cost.write.value() == approximately(40.0));
  CHECK(cost.per_nic.value() == approximately(6.25e9));
}
