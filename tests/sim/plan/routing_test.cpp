// Loads of experts and of the ranks that hold them.
#include "sim/plan/routing.h"

#include <algorithm>
#include <numeric>

#include "tests/approximately.h"

using namespace sim;
using namespace sim::plan;

namespace {

Routing histogram(std::vector<double> shares) {
  Routing routing;
  routing.distribution = Routing::Distribution::histogram;
  routing.histogram = std::move(shares);
  return routing;
}

Routing zipf(double exponent, Routing::Draw draw) {
  Routing routing;
  routing.distribution = Routing::Distribution::zipf;
  routing.exponent = exponent;
  routing.draw = draw;
  return routing;
}

}  // namespace

// Shares 4, 2, 1, 1 have a mean of 2: experts get 2, 1, 1/2 and 1/2 of the even rows; the first
// rank's two 3/2 of them, and of its rows the larger one has 2 / 1.5.
TEST_CASE("routing: four experts on two ranks by hand") {
  const Routing routing = histogram({4, 2, 1, 1});
  CHECK(expert_loads(routing, 4, {7}) == std::vector<double>{2, 1, 0.5, 0.5});
  const auto ranks = rank_loads(routing, 4, 2, {7});
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].load == approximately(1.5));
  CHECK(ranks[0].imbalance == approximately(2 / 1.5));
  CHECK(ranks[1] == RankLoad{0.5, 1});
}

// 1 + 1/2 + 1/3 + 1/4 = 25/12: the most popular expert gets 48/25 of the even rows.
TEST_CASE("routing: Zipf over four experts") {
  auto loads = expert_loads(zipf(1, Routing::Draw::fixed), 4, {});
  std::sort(loads.rbegin(), loads.rend());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(loads[i] == approximately(48.0 / 25 / static_cast<double>(i + 1)));
  }
}

TEST_CASE("routing: loads are shares, in all layers the same or shuffled for each") {
  const Routing fixed = zipf(1.2, Routing::Draw::fixed);
  const Routing drawn = zipf(1.2, Routing::Draw::per_layer);
  int changed = 0;
  for (int layer = 0; layer < 20; ++layer) {
    const auto loads = expert_loads(drawn, 64, {layer});
    CHECK(std::accumulate(loads.begin(), loads.end(), 0.0) == approximately(64));
    CHECK(expert_loads(fixed, 64, {layer}) == expert_loads(fixed, 64, {}));
    changed += loads != expert_loads(drawn, 64, {layer + 1});
    double sum = 0;
    for (const RankLoad& rank : rank_loads(drawn, 64, 8, {layer})) {
      sum += rank.load;
      CHECK(rank.imbalance >= 1);
    }
    CHECK(sum == approximately(8));
  }
  CHECK(changed == 20);
  Routing other = fixed;
  other.seed = 2;
  CHECK(expert_loads(other, 64, {}) != expert_loads(fixed, 64, {}));
}

TEST_CASE("routing: rows that none of a rank's experts get leave it without imbalance") {
  const auto ranks = rank_loads(histogram({1, 1, 0, 0}), 4, 2, {});
  CHECK(ranks[1] == RankLoad{0, 1});
}

TEST_CASE("routing: shuffled for each micro-batch and group, or alike") {
  Routing routing = zipf(1.2, Routing::Draw::per_micro_batch);
  const auto at = [&](int layer, int micro_batch, int group) {
    return expert_loads(routing, 64, {layer, micro_batch, group});
  };
  CHECK(at(3, 0, 0) == expert_loads(zipf(1.2, Routing::Draw::per_layer), 64, {3}));
  CHECK(at(3, 1, 0) != at(3, 0, 0));
  CHECK(at(3, 1, 5) == at(3, 1, 0));
  routing.are_groups_alike = false;
  CHECK(at(3, 1, 5) != at(3, 1, 0));
  CHECK(at(3, 1, 5) != at(3, 2, 5));
  routing.draw = Routing::Draw::fixed;
  CHECK(at(3, 1, 5) == at(4, 2, 5));
  CHECK(at(3, 1, 5) != at(3, 1, 4));
  auto sorted = at(3, 1, 5), other = at(0, 0, 1);
  std::sort(sorted.begin(), sorted.end());
  std::sort(other.begin(), other.end());
  CHECK(sorted == other);  // the same shares, of other experts
}
