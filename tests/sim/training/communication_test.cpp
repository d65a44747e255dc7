// Costs of collectives and transfers on links that are known.
#include "sim/training/communication.h"

#include "tests/approximately.h"

using namespace sim;
using namespace sim::training;

namespace {

// Devices around one switch; each cable 50 GB/s and 2.5 us.
topology::Cluster star(int devices) {
  topology::Graph graph;
  graph.switches = {"s"};
  for (int i = 0; i < devices; ++i) {
    const std::string name = "d" + std::to_string(i);
    graph.devices.push_back({name, "ideal", ""});
    graph.links.push_back({name, "s", gigabytes_per_second(50), microseconds(2.5), false});
  }
  topology::Description description;
  description.graph = graph;
  return topology::Cluster(description);
}

std::unique_ptr<calibrate::profile::Profile> ideal() {
  calibrate::profile::DeviceType device;
  device.name = "ideal";
  device.is_ideal = true;
  device.memory_rate = gigabytes_per_second(1000);
  device.multiprocessors = 100;
  return calibrate::profile::ideal_profile(device);
}

}  // namespace

TEST_CASE("communication: ring all-reduce of 1 GB over 4 devices -> 30 us of latency, 30 ms") {
  // 2 * 3 steps of 5 us; 2 * 3/4 GB through every port at 50 GB/s.
  const auto cluster = star(4);
  const auto profile = ideal();
  const Communicator group(cluster, *profile, {0, 1, 2, 3});
  const auto [path, cost] = group.cost(collective::Operation::all_reduce, gigabytes(1),
                                       {.algorithm = collective::Algorithm::ring});
  CHECK(cost.lag == 30'000'000);
  CHECK(cost.work == 30'000'000'000);
  CHECK(cost.amount == 50'000'000'000);
  CHECK(path->links.size() == 8);  // each port, both ways
  for (const auto& [link, bytes] : path->links) CHECK(bytes == approximately(1.5));
}

TEST_CASE("communication: transfers side by side into one device share its port") {
  // Two sources, 1 GB each, one target: 2 GB through its port at 50 GB/s.
  const auto cluster = star(3);
  const auto profile = ideal();
  const std::vector<std::pair<DeviceIndex, DeviceIndex>> pairs = {{0, 2}, {1, 2}};
  const TransferCost cost = transfer_cost(side_by_side(cluster, *profile, pairs), gigabytes(1));
  CHECK(cost.lag == 5'000'000);
  CHECK(cost.work == 40'000'000'000);
}

TEST_CASE("communication: a group of one or a size of zero takes no time of the links") {
  const auto cluster = star(2);
  const auto profile = ideal();
  const Communicator alone(cluster, *profile, {0});
  CHECK(alone.cost(collective::Operation::all_reduce, gigabytes(1)).second.work == 0);
  const Communicator pair(cluster, *profile, {0, 1});
  CHECK(pair.cost(collective::Operation::all_reduce, Bytes(0)).second.work == 0);
}

TEST_CASE("communication: groups that are placed alike have equal signatures") {
  const auto cluster = star(6);
  const auto profile = ideal();
  const Communicator a(cluster, *profile, {0, 1, 2}), b(cluster, *profile, {3, 4, 5});
  const Communicator larger(cluster, *profile, {0, 1, 2, 3});
  CHECK(a.signature() == b.signature());
  CHECK(a.signature() != larger.signature());
}

// Each sends 1 GB to the next, the last to the first: 20 ms through every port at 50 GB/s.
TEST_CASE("communication: round a ring every port is used once each way") {
  const auto cluster = star(4);
  const auto profile = ideal();
  const Communicator group(cluster, *profile, {0, 1, 2, 3});
  const TransferCost cost = transfer_cost(group.shift(), gigabytes(1));
  CHECK(cost.work == 20'000'000'000);
  CHECK(group.shift().links.size() == 8);
  for (const auto& [link, bytes] : group.shift().links) CHECK(bytes == approximately(1));
}

// Even: 3/4 of 1 GB through every port, 15 ms. Rank 0 is sent twice its share: 3 * 2/4 GB, 30 ms;
// what the others send shrinks and grows with it: rank 1 sends 1/4 (2 + 1 + 0) GB.
TEST_CASE("communication: more rows for one expert rank take the time of its port") {
  const auto cluster = star(4);
  const auto profile = ideal();
  const Communicator group(cluster, *profile, {0, 1, 2, 3});
  const auto loads = std::make_shared<const std::vector<double>>(std::vector<double>{2, 1, 1, 0});
  const Picoseconds even = group.cost(collective::Operation::all_to_all, gigabytes(1)).second.work;
  CHECK(even == 15'000'000'000);
  for (const bool is_to_experts : {true, false}) {
    const auto [path, cost] = group.skewed(gigabytes(1), {loads, is_to_experts});
    CHECK(cost.work == 30'000'000'000);
    CHECK(cost.amount == 50'000'000'000);
    CHECK(path->reference == approximately(1.5));
    double bytes = 0;  // up and down: 2 of 1/4 (3 * 2 + 3 + 3)
    for (const auto& [link, share] : path->links) bytes += share;
    CHECK(bytes == approximately(2 * 12.0 / 4));
  }
  const auto ones = std::make_shared<const std::vector<double>>(std::vector<double>{1, 1, 1, 1});
  CHECK(group.skewed(gigabytes(1), {ones, true}).second.work == even);
}
