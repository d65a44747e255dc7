// Ends of transfers against SimGrid, an independent simulator of flows on shared links.
//
// Its latencies are zero and its network factors one, so that both simulate plain max-min sharing.
// Source: Casanova et al., J. Parallel Distrib. Comput. 74(10), 2014, 2899-2917.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <simgrid/s4u.hpp>

#include "sim/base/fixed.h"
#include "tests/sim/network/hand_system.h"

using namespace sim;
using namespace sim::network;
namespace s4u = simgrid::s4u;

namespace {

struct Flow {
  std::vector<std::int32_t> links;
  std::int64_t bytes = 0, starts_after_us = 0;
};
struct FlowSet {
  std::vector<std::int64_t> capacity;  // bytes/s
  std::vector<Flow> flows;
};

// Links of 1 to 50 GB/s in any combination, transfers of 1 to 400 MB that start within 10 ms.
FlowSet random_set(std::mt19937_64& random) {
  FlowSet result;
  const std::size_t links = 1 + random() % 8, flows = 2 + random() % 15;
  for (std::size_t l = 0; l < links; ++l) {
    result.capacity.push_back(1'000'000 * static_cast<std::int64_t>(1'000 + random() % 49'000));
  }
  for (std::size_t f = 0; f < flows; ++f) {
    Flow flow;
    for (std::size_t l = 0; l < links; ++l) {
      if (random() % 3 == 0) flow.links.push_back(static_cast<std::int32_t>(l));
    }
    if (flow.links.empty()) flow.links.push_back(static_cast<std::int32_t>(random() % links));
    flow.bytes = 1'000'000 + static_cast<std::int64_t>(random() % 400'000'000);
    if (random() % 3 != 0) flow.starts_after_us = static_cast<std::int64_t>(random() % 10'000);
    result.flows.push_back(flow);
  }
  return result;
}

std::vector<double> our_ends(const FlowSet& set) {
  HandSystem system;
  for (const std::int64_t capacity : set.capacity) system.resource("link", capacity);
  for (const Flow& flow : set.flows) {
    std::int64_t alone = INT64_MAX;
    for (const std::int32_t link : flow.links) {
      alone = std::min(alone, set.capacity[static_cast<std::size_t>(link)]);
    }
    Operation transfer{.weight = byte_fair_weight(alone)};
    transfer.work = static_cast<Picoseconds>(Int128{flow.bytes} * 1'000'000'000'000 / alone);
    for (const std::int32_t link : flow.links) transfer.uses.push_back({link, alone});
    system.stream("flow", {{.work = flow.starts_after_us * 1'000'000}, transfer});
  }
  std::vector<double> result;
  for (const Picoseconds end : outcome(system.take()).last_ends) {
    result.push_back(to_seconds(end).value());
  }
  return result;
}

// All sets side by side in one simulation, each in a zone of its own.
class SimGrid {
 public:
  SimGrid() {
    int arguments = 2;
    char name[] = "simgrid_test", quiet[] = "--log=root.thresh:warning";
    char* values[] = {name, quiet, nullptr};
    engine_ = std::make_unique<s4u::Engine>(&arguments, values);
    for (const char* setting :
         {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
          "network/weight-S:0", "network/bandwidth-factor:1", "network/latency-factor:1"}) {
      s4u::Engine::set_config(setting);
    }
    root_ = s4u::create_full_zone("root");
  }

  void add(const FlowSet& set) {
    const std::string name = "set" + std::to_string(ends_.size());
    ends_.emplace_back(set.flows.size(), -1.0);
    s4u::NetZone* zone = s4u::create_full_zone(name)->set_parent(root_);
    std::vector<s4u::Link*> links;
    for (const std::int64_t capacity : set.capacity) {
      links.push_back(zone->create_link(name + "link" + std::to_string(links.size()),
                                        static_cast<double>(capacity)));
      links.back()->set_latency(0)->seal();
    }
    for (std::size_t f = 0; f < set.flows.size(); ++f) {
      const std::string flow = name + "flow" + std::to_string(f);
      s4u::Host* source = zone->create_host(flow + "source", 1e9);
      s4u::Host* target = zone->create_host(flow + "target", 1e9);
      std::vector<s4u::LinkInRoute> route;
      for (const std::int32_t link : set.flows[f].links) {
        route.emplace_back(links[static_cast<std::size_t>(link)]);
      }
      zone->add_route(source->get_netpoint(), target->get_netpoint(), nullptr, nullptr, route,
                      false);
      s4u::Actor::create(
          flow, source,
          [this, source, target, description = set.flows[f],
           where = std::pair(ends_.size() - 1, f)] {
            s4u::this_actor::sleep_until(static_cast<double>(description.starts_after_us) * 1e-6);
            s4u::Comm::sendto(source, target, static_cast<std::uint64_t>(description.bytes));
            ends_[where.first][where.second] = s4u::Engine::get_clock();
          });
    }
    zone->seal();
  }

  const std::vector<std::vector<double>>& run() {
    root_->seal();
    engine_->run();
    return ends_;
  }

 private:
  std::unique_ptr<s4u::Engine> engine_;
  s4u::NetZone* root_ = nullptr;
  std::vector<std::vector<double>> ends_;  // [set][flow] s
};

}  // namespace

TEST_CASE("run: 300 random sets of transfers -> they end when SimGrid says, to 1e-7") {
  SimGrid simgrid;
  std::vector<FlowSet> sets;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    sets.push_back(random_set(random));
    simgrid.add(sets.back());
  }
  const auto& theirs = simgrid.run();
  double largest = 0;
  int compared = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    CAPTURE(i);
    const std::vector<double> ours = our_ends(sets[i]);
    for (std::size_t f = 0; f < ours.size(); ++f) {
      CAPTURE(f);
      REQUIRE(theirs[i][f] > 0);
      const double difference = std::abs(ours[f] - theirs[i][f]) / theirs[i][f];
      // Our rates are whole multiples of 2^-32, 1e-8 of a share of 2 %.
      CHECK(difference < 1e-7);
      largest = std::max(largest, difference);
      ++compared;
    }
  }
  MESSAGE("SimGrid: " << compared << " transfers, largest relative difference " << largest);
  CHECK(compared > 2000);
}
