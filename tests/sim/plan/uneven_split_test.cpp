// Layers and micro-batches over parts of unequal speed: worked figures, and all small inputs.
#include "sim/plan/uneven_split.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "tests/approximately.h"

using namespace sim;
using namespace sim::plan;

namespace {

using Counts = std::vector<int>;

// 32 devices: 4 pipelines of 4 stages of 2 devices, 60 layers, 64 micro-batches. A stage holds l
// layers if memory x l + 1200 + 5500 <= 81252 - 4096 = 77156 MB, with 4608, 4124, 3642 and 3130 MB
// a layer: 15.3, 17.1, 19.3 and 22.5. (It does not matter which stages have the 1200 of the
// embedding: without it, 15.5, 17.4, 19.7 and 22.9.)
constexpr std::array per_layer = {4608, 4124, 3642, 3130};
int layers_held(std::size_t stage) { return (81252 - 4096 - 5500 - 1200) / per_layer[stage]; }
constexpr double healthy_step = 15 * 16;

std::vector<StageSpeed> pipeline(double slowdown, std::size_t straggler, bool is_bound) {
  std::vector<StageSpeed> stages(4);
  for (std::size_t s = 0; s < 4; ++s) {
    stages[s].rate = s == straggler ? slowdown : 1;
    stages[s].layers_max = is_bound ? layers_held(s) : 60;
  }
  return stages;
}

// One straggler in the job.
double longest(double slowdown, std::size_t straggler, bool is_bound) {
  std::vector<std::vector<StageSpeed>> pipelines(4, pipeline(1, 0, is_bound));
  pipelines[2] = pipeline(slowdown, straggler, is_bound);
  return uneven_split(pipelines, 60, 64)->longest;
}

std::vector<StageSpeed> stages_of(const std::vector<double>& rates, int layers_max) {
  std::vector<StageSpeed> stages;
  for (const double rate : rates) stages.push_back({.rate = rate, .layers_max = layers_max});
  return stages;
}

// Visits all ways to write `total` as a sum of counts.
void each_split(int total, std::size_t parts, Counts& counts,
                const std::function<void(const Counts&)>& visit) {
  if (counts.size() + 1 == parts) {
    counts.push_back(total);
    visit(counts);
    counts.pop_back();
    return;
  }
  for (int count = 0; count <= total; ++count) {
    counts.push_back(count);
    each_split(total - count, parts, counts, visit);
    counts.pop_back();
  }
}

// Visits all lists of so many of these.
template <class T>
void each_list(const std::vector<T>& values, std::size_t length, std::vector<T>& list,
               const std::function<void(const std::vector<T>&)>& visit) {
  if (list.size() == length) return visit(list);
  for (const T& value : values) {
    list.push_back(value);
    each_list(values, length, list, visit);
    list.pop_back();
  }
}

// Largest product, sum of products, sum of squares, and what ranks more first as less.
using Merit = std::tuple<double, double, int, Counts>;
Merit merit(const std::vector<double>& rates, const Counts& counts) {
  Merit merit{0, 0, 0, {}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double product = rates[i] * counts[i];
    std::get<0>(merit) = std::max(std::get<0>(merit), product);
    std::get<1>(merit) += product;
    std::get<2>(merit) += counts[i] * counts[i];
    std::get<3>(merit).push_back(-counts[i]);
  }
  return merit;
}

// Of all splits within bounds.
std::optional<Merit> best_by_trying(int total, const std::vector<double>& rates,
                                    const Counts& least, const Counts& most) {
  std::optional<Merit> best;
  Counts counts;
  each_split(total, rates.size(), counts, [&](const Counts& split) {
    for (std::size_t i = 0; i < split.size(); ++i) {
      if (split[i] < least[i] || split[i] > most[i]) return;
    }
    const Merit next = merit(rates, split);
    if (!best || next < *best) best = next;
  });
  return best;
}

// Quarters, so that sums are exact.
const std::vector<double> some_rates = {1, 1.25, 2.5, 4.75};

}  // namespace

TEST_CASE("uneven split: a group is as slow as its slowest device -> 5.14") {
  CHECK(group_rate(std::array{1.0, 2.57}, 2) == approximately(5.14));
  CHECK(group_rate(std::array{1.0}, 7.22) == approximately(7.22));
}

// Rate 2.57: in 18 three stages do 54, the straggler up to 18 / 2.57 = 7; below 18, 51 + 6 are
// short of 60. 6 are enough, and cheaper. Rate 4.79: in 19, 57 + 3; below, 54 + 3. Rate 12.53: in
// 20, 60 + 1, as in 19 only 57 + 1.
TEST_CASE("uneven split: layers around one straggler, without bounds -> 18, 19 and 20") {
  const LayerSplit mild = *split_layers(60, pipeline(2.57, 0, false));
  CHECK(mild.layers == Counts{6, 18, 18, 18});
  CHECK(mild.slowest == 18);
  const LayerSplit strong = *split_layers(60, pipeline(4.79, 2, false));
  CHECK(strong.layers == Counts{19, 19, 3, 19});
  CHECK(strong.slowest == 19);
  const LayerSplit extreme = *split_layers(60, pipeline(12.53, 3, false));
  CHECK(extreme.layers == Counts{20, 20, 19, 1});
  CHECK(extreme.slowest == 20);
}

// In 255 three healthy pipelines do 17 micro-batches of 15 each, 51; the slow one 14 of 18, or 13
// of 19, together 64 or more; below 255, 48 + 14. With 20 it does 12, one short: in 260 it does 13.
TEST_CASE("uneven split: one straggler of 32, without bounds -> 1.0625, 1.0625, 1.083") {
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CAPTURE(stage);
    CHECK(longest(1, stage, false) == healthy_step);
    CHECK(longest(2.57, stage, false) == 1.0625 * healthy_step);
    CHECK(longest(4.79, stage, false) == 1.0625 * healthy_step);
    CHECK(longest(12.53, stage, false) == approximately(260.0 / 240 * healthy_step));
  }
  const std::vector<PipelineSpeed> speeds = {{18, 4}, {15, 4}, {15, 4}, {15, 4}};
  CHECK(split_micro_batches(64, speeds)->micro_batches == Counts{13, 17, 17, 17});
}

// n devices, of which one is slow, do at most what n - 1 + 1 / x healthy ones do. Of 32 a share of
// (1 - 1 / 2.57) / 32 = 1.909 % is lost, 2.473 % and 2.876 %: 1 / 0.98091 = 1.0195, 1.0254, 1.0296.
TEST_CASE("uneven split: no split beats the devices that are there -> 1.0195, 1.0254, 1.0296") {
  for (const auto& [slowdown, bound] :
       {std::pair{2.57, 1.0195}, std::pair{4.79, 1.0254}, std::pair{12.53, 1.0296}}) {
    const double ideal = 32 / (31 + 1 / slowdown);
    CHECK(ideal == approximately(bound, 5e-5));
    for (std::size_t stage = 0; stage < 4; ++stage) {
      CHECK(longest(slowdown, stage, false) >= ideal * healthy_step);
      CHECK(longest(slowdown, stage, true) >= longest(slowdown, stage, false));
    }
  }
}

// Stages hold 15, 17, 19 and 22. The straggler has at least what the others do not hold: 2, 4, 6 or
// 9 layers, by its stage.
//  2.57: 7 + 17 + 18 + 18 in 18; 15 + 7 + 19 + 19 in 19; 15 + 17 + 8 + 20 in 20.56; 9 of 60 in
//        23.13. So 13 x 19 <= 17 x 15 = 255; 13 x 20.56; 11 x 23.13 <= 18 x 15 = 270.
//  4.79: 4 + 17 + 19 + 20 in 20; 15 + 4 + 19 + 22 in 22; 6 in 28.74; 9 in 43.11. So 13 x 20;
//        18 x 15; 9 x 28.74 <= 19 x 15 = 285; 6 x 43.11 <= 20 x 15 = 300.
//  12.53: 2, 4, 6, 9 in 25.06, 50.12, 75.18, 112.77. So 18 x 15; 20 x 15; and the least 4
//        micro-batches, 4 x 75.18 and 4 x 112.77.
TEST_CASE("uneven split: one straggler of 32, bound by memory") {
  CHECK(Counts{layers_held(0), layers_held(1), layers_held(2), layers_held(3)} ==
        Counts{15, 17, 19, 22});
  const std::vector<std::pair<double, std::array<double, 4>>> expected = {
      {2.57, {255, 255, 267.28, 270}},
      {4.79, {260, 270, 285, 300}},
      {12.53, {270, 300, 300.72, 451.08}}};
  for (const auto& steps : expected) {
    const double slowdown = steps.first;
    for (std::size_t stage = 0; stage < 4; ++stage) {
      CAPTURE(slowdown);
      CAPTURE(stage);
      CHECK(longest(slowdown, stage, true) == approximately(steps.second[stage]));
    }
  }
  CHECK(split_layers(60, pipeline(12.53, 0, true))->layers == Counts{2, 17, 19, 22});
}

TEST_CASE("uneven split: equal stages are even, the remainder first, or where it fits") {
  CHECK(split_layers(14, stages_of({1, 1, 1, 1}, 9))->layers == Counts{4, 4, 3, 3});
  std::vector<StageSpeed> stages = stages_of({1, 1, 1, 1}, 9);
  stages[0].layers_max = 2;
  CHECK(split_layers(14, stages)->layers == Counts{2, 4, 4, 4});
  CHECK(split_layers(13, stages)->layers == Counts{2, 4, 4, 3});
}

TEST_CASE("uneven split: none where stages hold too little, or are more than layers") {
  CHECK(!split_layers(3, stages_of({1, 1, 1, 1}, 9)));
  CHECK(split_layers(4, stages_of({1, 1, 1, 1}, 9)));
  CHECK(!split_layers(9, stages_of({1, 1}, 4)));
  CHECK(!split_layers(9, stages_of({1, 1}, 0)));
  CHECK(!split_layers(9, {}));
  CHECK(split_layers(9, stages_of({1, 1}, std::numeric_limits<int>::max())));
  CHECK(!split_micro_batches(7, std::vector<PipelineSpeed>{{1, 4}, {1, 4}}));
  CHECK(split_micro_batches(8, std::vector<PipelineSpeed>{{1, 4}, {9, 4}})->longest == 36);
  CHECK(!uneven_split(std::vector{stages_of({1, 1, 1}, 9), stages_of({1, 1}, 9)}, 9, 4));
  CHECK(!uneven_split(std::vector{stages_of({1, 1}, 9), stages_of({1, 1}, 4)}, 9, 40));
}

TEST_CASE("uneven split: layers as by trying all splits") {
  for (std::size_t stages = 1; stages <= 4; ++stages) {
    std::vector<double> list;
    each_list<double>(some_rates, stages, list, [&](const std::vector<double>& rates) {
      Counts maxima;
      each_list<int>({2, 8}, stages, maxima, [&](const Counts& most) {
        std::vector<StageSpeed> speeds = stages_of(rates, 0);
        for (std::size_t s = 0; s < stages; ++s) speeds[s].layers_max = most[s];
        for (int layers = 0; layers <= 8; ++layers) {
          const auto best = best_by_trying(layers, rates, Counts(stages, 1), most);
          const auto split = split_layers(layers, speeds);
          REQUIRE(split.has_value() == best.has_value());
          if (!split) continue;
          REQUIRE(merit(rates, split->layers) == *best);
          REQUIRE(split->slowest == std::get<0>(*best));
        }
      });
    });
  }
}

TEST_CASE("uneven split: micro-batches as by trying all splits") {
  for (std::size_t pipelines = 1; pipelines <= 3; ++pipelines) {
    std::vector<double> list;
    each_list<double>(some_rates, pipelines, list, [&](const std::vector<double>& slowest) {
      Counts minima;
      each_list<int>({0, 1, 3}, pipelines, minima, [&](const Counts& least) {
        std::vector<PipelineSpeed> speeds;
        for (std::size_t p = 0; p < pipelines; ++p) speeds.push_back({slowest[p], least[p]});
        for (int total = 0; total <= 10; ++total) {
          const auto best = best_by_trying(total, slowest, least, Counts(pipelines, total));
          const auto split = split_micro_batches(total, speeds);
          REQUIRE(split.has_value() == best.has_value());
          if (!split) continue;
          REQUIRE(merit(slowest, split->micro_batches) == *best);
          REQUIRE(split->longest == std::get<0>(*best));
        }
      });
    });
  }
}

// The splits are made one after the other; here all are tried together.
TEST_CASE("uneven split: two pipelines as by trying all splits of both") {
  std::vector<double> list;
  each_list<double>(some_rates, 4, list, [&](const std::vector<double>& rates) {
    double best = std::numeric_limits<double>::infinity();
    for (int a = 1; a < 5; ++a) {
      for (int b = 1; b < 5; ++b) {
        const double first = std::max(rates[0] * a, rates[1] * (5 - a));
        const double second = std::max(rates[2] * b, rates[3] * (5 - b));
        for (int m = 2; m <= 5; ++m) best = std::min(best, std::max(first * m, second * (7 - m)));
      }
    }
    const std::vector pipelines = {stages_of({rates[0], rates[1]}, 5),
                                   stages_of({rates[2], rates[3]}, 5)};
    REQUIRE(uneven_split(pipelines, 5, 7)->longest == best);
  });
}

TEST_CASE("uneven split: slower stages take no less, and pipelines may stand in any order") {
  const std::vector<double> rates = {1, 1.1, 2.57, 4.79, 12.53};
  std::vector<double> list;
  each_list<double>(rates, 4, list, [&](const std::vector<double>& some) {
    std::vector<std::vector<StageSpeed>> pipelines = {stages_of({some[0], some[1]}, 9),
                                                      stages_of({some[2], some[3]}, 8),
                                                      stages_of({1, 1, 2}, 7)};
    const UnevenSplit split = *uneven_split(pipelines, 12, 20);
    CHECK(std::accumulate(split.micro_batches.begin(), split.micro_batches.end(), 0) == 20);
    std::vector<std::vector<StageSpeed>> slower = pipelines;
    slower[1][0].rate *= 1.3;
    CHECK(uneven_split(slower, 12, 20)->longest >= split.longest);
    std::swap(pipelines[0], pipelines[2]);
    std::swap(pipelines[1], pipelines[2]);
    CHECK(uneven_split(pipelines, 12, 20)->longest == split.longest);
  });
}

// In 19 the last does 17 and the head, the two others 38, the straggler 5 of its up to 7. In 18, 7
// + 18 + 18 + 16 are 59. A first stage at half the rate with an embedding of 1: 2 x (1 + 1) = 4.
TEST_CASE("uneven split: a head of 2 layers -> 5, 19, 19, 17") {
  std::vector<StageSpeed> stages(4, {.rate = 1, .layers_max = 60});
  stages[0].rate = 2.57;
  stages[3].extra = 2;
  const LayerSplit split = *split_layers(60, stages);
  CHECK(split.layers == std::vector<int>{5, 19, 19, 17});
  CHECK(split.slowest == 19);
  const std::vector<StageSpeed> two = {{.rate = 2, .layers_max = 9, .extra = 1},
                                       {.rate = 1, .layers_max = 9}};
  CHECK(split_layers(5, two)->layers == std::vector<int>{1, 4});
  CHECK(split_layers(5, two)->slowest == 4);
}

// 9 + 3 in 12, and 2 x (5 + 1). In 11 three times 8 and 4 are 28. Without filling: 10 in 10.
TEST_CASE("uneven split: pipelines that are filled and drained -> 9, 9, 9, 5 in 12") {
  std::vector<PipelineSpeed> pipelines(4, {.slowest = 1, .least = 4, .fill = 3});
  pipelines[3] = {.slowest = 2, .least = 2, .fill = 1};
  const BatchSplit split = *split_micro_batches(32, pipelines);
  CHECK(split.micro_batches == std::vector<int>{9, 9, 9, 5});
  CHECK(split.longest == 12);
  std::vector<std::vector<StageSpeed>> stages(3, std::vector<StageSpeed>(4, {1, 2}));
  stages.emplace_back(2, StageSpeed{1, 2});
  CHECK(uneven_split(stages, 4, 32, true)->micro_batches == std::vector<int>{9, 9, 9, 5});
  CHECK(uneven_split(stages, 4, 32, true)->longest == 12);
  CHECK(uneven_split(stages, 4, 32)->longest == 10);
}
