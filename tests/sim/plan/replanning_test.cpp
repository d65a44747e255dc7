// Tensor groups cut around stragglers, and whether to do so.
#include "sim/plan/replanning.h"

#include <algorithm>
#include <bit>
#include <set>

#include "tests/approximately.h"

using namespace sim;
using namespace sim::plan;

namespace {

using Counts = std::vector<int>;
using Groups = std::vector<std::vector<int>>;

UnevenJob healthy_job(std::size_t replicas, std::size_t stages, std::size_t tensor,
                      std::vector<double> penalties, int layers) {
  UnevenJob job;
  job.slowdowns.assign(replicas, {stages, std::vector<double>(tensor, 1)});
  job.penalties = std::move(penalties);
  job.layers_max = [layers](int, int, int) { return layers; };
  job.layers = layers;
  job.micro_batches = 64;
  return job;
}

// 60 layers on 32 devices, and 80 on 64: a healthy step takes 15 x 16 = 240 and 20 x 32 = 640.
UnevenJob job_of_32() { return healthy_job(4, 4, 2, {1, 2, 4, 8}, 60); }
UnevenJob job_of_64() { return healthy_job(2, 4, 8, {1, 1.90, 3.66, 7.22}, 80); }

std::vector<DevicePlace> places(int stage, const Counts& indices) {
  std::vector<DevicePlace> result;
  for (const int index : indices) result.push_back({stage, index});
  return result;
}

}  // namespace

TEST_CASE("regroup: by hand") {
  CHECK(regroup(std::vector<double>(8, 1.0), 1.2) == Groups{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(regroup(std::vector<double>{1, 1, 1, 1, 1, 2.57, 1, 1}, 1.2) ==
        Groups{{5}, {4}, {6, 7}, {0, 1, 2, 3}});
  // 7 healthy devices with one at the threshold, which is none of the stragglers.
  CHECK(regroup(std::vector<double>{3, 1, 1, 1, 1.2, 1, 1, 1}, 1.2) ==
        Groups{{0}, {1}, {2, 3}, {4, 5, 6, 7}});
  // 6 = 4 + 2, but no aligned block of 4 is whole.
  CHECK(regroup(std::vector<double>{2, 1, 1, 1, 3, 1, 1, 1}, 1.2) ==
        Groups{{0}, {4}, {6, 7}, {1, 2, 3, 5}});
  CHECK(regroup(std::vector<double>{1, 2}, 1.2) == Groups{{1}, {0}});
  CHECK(regroup(std::vector<double>{2}, 1.2) == Groups{{0}});
}

TEST_CASE("regroup: every choice of stragglers among up to 16 devices") {
  for (std::size_t n = 1; n <= 16; n *= 2) {
    for (unsigned chosen = 0; chosen < (1U << n); ++chosen) {
      std::vector<double> slowdowns(n, 1);
      for (std::size_t i = 0; i < n; ++i) {
        if ((chosen >> i & 1U) != 0) slowdowns[i] = 1.5;
      }
      const Groups groups = regroup(slowdowns, 1.2);
      std::multiset<int> devices;
      bool are_alone = true, are_powers = true;
      for (const std::vector<int>& group : groups) {
        are_powers = are_powers && std::has_single_bit(group.size());
        for (const int device : group) {
          devices.insert(device);
          are_alone = are_alone && ((chosen >> device & 1U) == 0 || group.size() == 1);
        }
      }
      const auto stragglers = static_cast<std::size_t>(std::popcount(chosen));
      REQUIRE(devices.size() == n);
      REQUIRE(std::set<int>(devices.begin(), devices.end()).size() == n);
      REQUIRE(are_alone);
      REQUIRE(are_powers);
      REQUIRE(groups.size() ==
              stragglers + static_cast<std::size_t>(std::popcount(n - stragglers)));
      REQUIRE(std::is_sorted(groups.begin(), groups.end(),
                             [](const auto& a, const auto& b) { return a.size() < b.size(); }));
    }
  }
}

TEST_CASE("replanning: nothing is slow -> nothing changes") {
  const Replanning result = *best_uneven_split(job_of_32());
  CHECK(result.changes == std::vector<Change>(4, Change::keep));
  CHECK(result.split.layers == Groups(4, Counts(4, 15)));
  CHECK(result.split.micro_batches == Counts(4, 16));
  CHECK(result.split.longest == 240);
}

// Kept: 18 and 255, by uneven_split_test. Cut: 17, with 51 + 8 + 3. But to end before 255, three
// pipelines with 16 micro-batches of 15 each would leave 16 of 17, which take 272.
TEST_CASE("replanning: a mild straggler -> its group is kept") {
  UnevenJob job = job_of_32();
  job.slowdowns[0][1][0] = 2.57;
  const Replanning result = *best_uneven_split(job);
  CHECK(result.changes == std::vector<Change>(4, Change::keep));
  CHECK(result.split.longest == 255);
}

// Kept: 20 and 260. Cut: the straggler takes 2 x 12.53 = 25.06 for its one layer. Left out: three
// stages do 54 in 18, its partner, at rate 2, up to 9; below 18, 51 + 8. Then 17 x 15 = 255.
TEST_CASE("replanning: a device that hardly works -> it is left out, 255") {
  UnevenJob job = job_of_32();
  job.slowdowns[0][1][0] = 12.53;
  const Replanning result = *best_uneven_split(job);
  CHECK(result.changes ==
        std::vector<Change>{Change::drop, Change::keep, Change::keep, Change::keep});
  CHECK(result.devices[0] ==
        std::vector{places(0, {0, 1}), places(1, {1}), places(2, {0, 1}), places(3, {0, 1})});
  CHECK(result.split.layers[0] == Counts{18, 6, 18, 18});
  CHECK(result.split.micro_batches == Counts{13, 17, 17, 17});
  CHECK(result.split.longest == 255);
}

// Groups of 8, which lose less than half their speed with half their devices. Kept: 72 + 9 in 24,
// 69 + 8 below 23.13; 29 of 24 and 35 of 20 in 700. Cut, in 21: 63 of three whole stages, 11 of the
// 4 at rate 1.90, 5 of the 2, 2 of the 1, 1 of the straggler at 7.22 x 2.57 = 18.55: 82. Without
// the straggler 81, also in 21. Then 31 of 21 and 33 of 20, in 660.
TEST_CASE("replanning: a large group -> it is cut, 660") {
  UnevenJob job = job_of_64();
  job.slowdowns[1][2][5] = 2.57;
  const Replanning result = *best_uneven_split(job);
  const Counts all = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(result.changes == std::vector<Change>{Change::keep, Change::regroup});
  CHECK(result.devices[1] == std::vector{places(0, all), places(1, all), places(2, {5}),
                                         places(2, {4}), places(2, {6, 7}), places(2, {0, 1, 2, 3}),
                                         places(3, all)});
  CHECK(result.split.layers[1] == Counts{21, 21, 1, 1, 4, 11, 21});
  CHECK(result.split.micro_batches == Counts{33, 31});
  CHECK(result.split.longest == 660);
  // Where a single device holds no layer, nothing can be cut.
  job.layers_max = [](int, int, int tensor) { return tensor == 1 ? 0 : 80; };
  CHECK(best_uneven_split(job)->changes == std::vector<Change>(2, Change::keep));
  CHECK(best_uneven_split(job)->split.longest == 700);
  job.layers_max = [](int, int, int) { return 19; };
  CHECK(!best_uneven_split(job));
}

// 63 micro-batches; by the cases above the first replica takes 18, 17 or 18, the second 20, 25.06
// or 18. Cut and left out: 15 of 17, 14 of 18 and 2 x 17 of 15 in 255. All kept 14 + 12 + 34, all
// cut 15 + 10 + 34, all left out 14 + 14 + 34.
TEST_CASE("replanning: two stragglers -> each replica has its own change, 255") {
  UnevenJob job = job_of_32();
  job.micro_batches = 63;
  job.slowdowns[0][0][1] = 2.57;
  job.slowdowns[1][3][0] = 12.53;
  const Replanning result = *best_uneven_split(job);
  CHECK(result.changes ==
        std::vector<Change>{Change::regroup, Change::drop, Change::keep, Change::keep});
  CHECK(result.split.micro_batches == Counts{15, 14, 17, 17});
  CHECK(result.split.longest == 255);
}

// First stages hold 10 layers, later ones 20, so a healthy replica takes 10 + 17 + 17 + 16 in 17.
// Cut in place: 50 layers of rates 5.14, 2, 1, 1 take 19. The pieces first, 5.14 and 2: 51 + 8 + 1
// in 17, so that each replica does 16 micro-batches in 272.
TEST_CASE("replanning: first stages that hold little -> the slow ones come first, 272") {
  UnevenJob job = job_of_32();
  job.slowdowns[0][1][0] = 2.57;
  job.layers_max = [](int stage, int, int) { return stage == 0 ? 10 : 20; };
  const Replanning result = *best_uneven_split(job);
  CHECK(result.order == StageOrder::slow_first);
  CHECK(result.changes.front() == Change::regroup);
  CHECK(result.devices[0] == std::vector{places(1, {0}), places(1, {1}), places(0, {0, 1}),
                                         places(2, {0, 1}), places(3, {0, 1})});
  CHECK(result.split.layers[0] == Counts{1, 8, 17, 17, 17});
  CHECK(result.split.layers[1] == Counts{10, 17, 17, 16});
  CHECK(result.split.longest == 272);
}

// A head of 2 layers behind the last of 4 stages: 16, 16, 15, 13 in 16.
TEST_CASE("replanning: what stages do beside their layers counts") {
  UnevenJob job = job_of_32();
  job.ends.last = 2;
  const Replanning result = *best_uneven_split(job);
  CHECK(result.split.layers[2] == Counts{16, 16, 15, 13});
  CHECK(result.split.longest == 256);
}

TEST_CASE("replanning: all that can be done is listed once, the least of it is the best") {
  CHECK(uneven_splits(job_of_32()).size() == 1);
  UnevenJob job = job_of_32();
  job.slowdowns[0][1][0] = 12.53;
  const std::vector<Replanning> all = uneven_splits(job);
  CHECK(all.front().changes == std::vector<Change>(4, Change::keep));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(best_uneven_split(job)->split.longest <= all[i].split.longest);
    for (std::size_t k = 0; k < i; ++k) {
      CHECK((all[i].devices != all[k].devices || all[i].split.layers != all[k].split.layers ||
             all[i].split.micro_batches != all[k].split.micro_batches));
    }
  }
}

TEST_CASE("replanning: a replica of one slow device has nothing to leave out") {
  UnevenJob lone = healthy_job(2, 1, 1, {1}, 6);
  lone.slowdowns[0][0][0] = 3;
  // 16 x 18 = 288, and 48 x 6 = 288.
  const Replanning result = *best_uneven_split(lone);
  CHECK(result.changes == std::vector<Change>(2, Change::keep));
  CHECK(result.split.micro_batches == Counts{16, 48});
}

// Penalties that double with every halving: n devices do at most what n - 1 + 1 / x do.
TEST_CASE("replanning: no better than the devices that are there, no worse than what is kept") {
  for (const double slowdown : {1.1, 2.34, 2.57, 3.8, 4.79, 12.53}) {
    for (std::size_t stage = 0; stage < 4; ++stage) {
      CAPTURE(slowdown);
      CAPTURE(stage);
      UnevenJob job = job_of_32();
      job.slowdowns[3][stage][1] = slowdown;
      const double longest = best_uneven_split(job)->split.longest;
      CHECK(longest >= 32 / (31 + 1 / slowdown) * 240);
      job.threshold = 100;
      CHECK(longest <= best_uneven_split(job)->split.longest);
    }
  }
}
