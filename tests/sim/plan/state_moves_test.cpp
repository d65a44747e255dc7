// Which parts of the state change devices: by hand, and that everybody ends with what it needs.
#include "sim/plan/state_moves.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "tests/approximately.h"

using namespace sim::plan;

namespace {

using Moved = std::map<std::pair<int, int>, double>;

Moved moved(const StateLayout& before, const StateLayout& after, std::vector<UnitBytes> units,
            std::vector<int> hosts = {}) {
  if (hosts.empty()) hosts.resize(64);
  Moved result;
  for (const StateMove& move : state_moves(before, after, units, hosts)) {
    CHECK(move.from != move.to);
    result[{move.from, move.to}] = move.bytes;
  }
  return result;
}

// Stages of so many units, each on the next devices from `first` on, `tensor` of them.
std::vector<StateLayout::Stage> replica(int first, const std::vector<int>& tensor,
                                        const std::vector<int>& units) {
  std::vector<StateLayout::Stage> result;
  int unit = 0;
  for (std::size_t s = 0; s < tensor.size(); ++s) {
    StateLayout::Stage stage{{}, unit, unit + units[s]};
    for (int i = 0; i < tensor[s]; ++i) stage.devices.push_back(first++);
    unit = stage.end_unit;
    result.push_back(stage);
  }
  return result;
}

}  // namespace

TEST_CASE("state moves: layers 4, 4 become 5, 3 -> the fifth goes to the first stage") {
  const StateLayout before{{replica(0, {1, 1}, {4, 4})}, false};
  const StateLayout after{{replica(0, {1, 1}, {5, 3})}, false};
  const std::vector<UnitBytes> units(8, {2, 12});
  CHECK(moved(before, after, units) == Moved{{{1, 0}, 14}});
  CHECK(moved(before, before, units).empty());
}

TEST_CASE("state moves: tensor 2 becomes 1 -> half of each unit, from the nearer replica") {
  // Devices 0, 1 and 2, 3 hold the same; 0 goes on alone, and 1 is idle.
  const StateLayout before{{replica(0, {2}, {3}), replica(2, {2}, {3})}, false};
  StateLayout after{{replica(0, {1}, {3}), replica(2, {2}, {3})}, false};
  const std::vector<UnitBytes> units(3, {2, 12});
  // 3 units of 7 bytes. Weights and states go turn by turn, so that 1 and 3 send alike: of each
  // unit 1 byte of weights and 6 of states. 1 sends 1, then 3 sends 6; 1 sends 1 and 6, and so on.
  const Moved found = moved(before, after, units);
  CHECK(found.at({1, 0}) + found.at({3, 0}) == 21);
  // In the same host is nearer.
  CHECK(moved(before, after, units, {0, 0, 1, 1}) == Moved{{{1, 0}, 21}});
  CHECK(moved(before, after, units, {0, 1, 2, 0}) == Moved{{{3, 0}, 21}});
  // One that held nothing gets all of it.
  after.replicas[0] = replica(4, {1}, {3});
  double sum = 0;
  for (const auto& [pair, bytes] : moved(before, after, units)) sum += bytes;
  CHECK(sum == 42);
}

TEST_CASE("state moves: shared states follow the shares of gradients") {
  // Two replicas of one device share 12 bytes: [0, 6) and [6, 12). With three: [0, 4), [4, 8),
  // [8, 12): the second needs [4, 6) from the first, the third all of its own from the second.
  const StateLayout two{{replica(0, {1}, {1}), replica(1, {1}, {1})}, true};
  const StateLayout three{{replica(0, {1}, {1}), replica(1, {1}, {1}), replica(2, {1}, {1})}, true};
  CHECK(moved(two, three, {{0, 12}}) == Moved{{{0, 1}, 2}, {{1, 2}, 4}});
  // A tensor group of two beside a single device: halves of 6 bytes, of which each replica has 3.
  // Then both have one device: the first half to the first.
  const StateLayout unlike{{replica(0, {2}, {1}), replica(2, {1}, {1})}, true};
  const StateLayout alike{{replica(0, {1}, {1}), replica(2, {1}, {1})}, true};
  // Device 0 has [0, 3) and needs [0, 6): [3, 6) is with 2. Device 2 has [3, 6) and [9, 12) and
  // needs [6, 12): [6, 9) is with 1.
  CHECK(moved(unlike, alike, {{0, 12}}) == Moved{{{1, 2}, 3}, {{2, 0}, 3}});
}

namespace {

StateLayout random_layout(std::mt19937& random, int units) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<int> devices(24);
  std::iota(devices.begin(), devices.end(), 0);
  std::shuffle(devices.begin(), devices.end(), random);
  auto next = devices.begin();
  StateLayout layout;
  layout.shares_optimizer = below(2) == 0;
  const int replicas = 1 + below(3);
  for (int r = 0; r < replicas; ++r) {
    const int stages = 1 + below(std::min(units, 2));
    std::vector<int> cuts = {0, units};
    if (stages == 2) cuts.insert(cuts.begin() + 1, 1 + below(units - 1));
    auto& replica = layout.replicas.emplace_back();
    for (int s = 0; s < stages; ++s) {
      const auto degree = 1 << below(3);
      replica.push_back({{next, next + degree},
                         cuts[static_cast<std::size_t>(s)],
                         cuts[static_cast<std::size_t>(s) + 1]});
      next += degree;
    }
  }
  return layout;
}

constexpr int grains = 4 * 4 * 6;  // every interval is a whole number of them

// [device] grains of a unit's weights or states that it holds, written without intervals.
std::map<int, std::set<int>> held(const StateLayout& layout, int unit, bool is_state) {
  std::map<int, std::set<int>> result;
  std::vector<const StateLayout::Stage*> stages;
  std::size_t widest = 0;
  for (const auto& replica : layout.replicas) {
    for (const auto& stage : replica) {
      if (unit < stage.first_unit || unit >= stage.end_unit) continue;
      stages.push_back(&stage);
      widest = std::max(widest, stage.devices.size());
    }
  }
  for (std::size_t r = 0; r < stages.size(); ++r) {
    for (int g = 0; g < grains; ++g) {
      const auto rank = static_cast<std::size_t>(g) * stages[r]->devices.size() / grains;
      const std::size_t of_share = static_cast<std::size_t>(g) % (grains / widest);
      const std::size_t owner = of_share * stages.size() / (grains / widest);
      if (!is_state || !layout.shares_optimizer || owner == r) {
        result[stages[r]->devices[rank]].insert(g);
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("state moves: of 300 random pairs of layouts, just what is missing is moved") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const int units = 1 + i % 5;
    const StateLayout before = random_layout(random, units), after = random_layout(random, units);
    for (const bool is_state : {false, true}) {
      std::map<int, double> missing;  // [device] grains
      std::map<int, std::set<int>> has;
      for (int unit = 0; unit < units; ++unit) {
        auto old_ones = held(before, unit, is_state);
        for (const auto& [device, grains_needed] : held(after, unit, is_state)) {
          for (const int g : grains_needed) missing[device] += old_ones[device].contains(g) ? 0 : 1;
        }
        for (const auto& [device, all] : old_ones) has[device].insert(all.begin(), all.end());
      }
      const std::vector<UnitBytes> sizes(
          static_cast<std::size_t>(units),
          is_state ? UnitBytes{0, double{grains}} : UnitBytes{double{grains}, 0});
      std::map<int, double> arrived;
      for (const auto& [pair, bytes] : moved(before, after, sizes)) {
        arrived[pair.second] += bytes;
        CHECK(!has[pair.first].empty());
      }
      for (const auto& [device, count] : missing) {
        CHECK(arrived[device] == doctest::Approx(count).epsilon(1e-12));
        arrived.erase(device);
      }
      CHECK(arrived.empty());
    }
  }
}
