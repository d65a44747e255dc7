// Layers and micro-batches dealt to parts of unequal speed, so that the slowest is done soonest.
//
// A stage that takes `rate` per layer takes rate x layers per micro-batch, a pipeline as long as
// its slowest stage, an iteration as long as the slowest pipeline for all its micro-batches:
//   longest = max over pipelines of micro-batches x max over stages of rate x (layers + extra)
// in units of one layer of a healthy group at full degree. Communication is left out, and filling
// and draining pipelines unless it is asked for: (micro-batches - 1) x the slowest stage + all
// stages. Source: Li et al., "Malleus: Straggler-Resilient Hybrid Parallel Training via Malleable
// Data and Model Parallelization", SIGMOD 2025, and its planner in PKU-DAIR/Hetu.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sim::plan {

// Time per layer of a tensor group. `slowdowns`: of its devices, 1 is healthy; `penalty`: what a
// layer takes at its degree, relative to the full one.
// Worked: slowdowns 1 and 2.57 at half the degree, penalty 2 -> 5.14.
// REQUIRES: slowdowns is not empty.
double group_rate(std::span<const double> slowdowns, double penalty);

struct StageSpeed {
  double rate = 1;     // per layer
  int layers_max = 0;  // that its memory holds
  double extra = 0;    // what else it does, in layers: the embedding, the head
};
// What the first and the last stage do beside their layers, in layers: the embedding, the head.
struct Ends {
  double first = 0, last = 0;
  double at(std::size_t stage, std::size_t stages) const {
    return (stage == 0 ? first : 0) + (stage + 1 == stages ? last : 0);
  }
};
struct LayerSplit {
  std::vector<int> layers;  // of each stage
  double slowest = 0;       // the most that a stage takes
};
// The split with the least `slowest` in which every stage has a layer and none more than it holds.
// Of these the one with the least sum of rate x layers, which is what filling the pipeline takes;
// then what stages of one rate do is as even as their memory lets it be, the earlier ones with the
// remainder. None: there is no split. O(layers x log stages).
// Worked: 60 layers, rates 2.57, 1, 1, 1 -> 6, 18, 18, 18 in 18, where 7, 17, 18, 18 takes as long.
// With a head of 2 layers behind the last: 5, 19, 19, 17 in 19.
// REQUIRES: rates > 0, extra >= 0.
std::optional<LayerSplit> split_layers(int layers, std::span<const StageSpeed> stages);

struct PipelineSpeed {
  double slowest = 1;  // per micro-batch
  int least = 0;       // micro-batches that it must have
  double fill = 0;     // what filling and draining takes, in micro-batches: stages - 1 if all alike
};
// Of stages with these layers.
PipelineSpeed pipeline_speed(std::span<const StageSpeed> stages, std::span<const int> layers);
struct BatchSplit {
  std::vector<int> micro_batches;  // of each pipeline
  double longest = 0;              // the most that a pipeline takes
};
// The split with the least `longest`; of these the one with the least sum of slowest x
// micro-batches, then even and with the remainder first, as for layers. None: there is no split.
// O(total x log pipelines).
// Worked: 64 over 18, 15, 15, 15 -> 13, 17, 17, 17 in 255. 32 over three pipelines of 4 stages of 1
// and one of 2 stages of 2 -> 9, 9, 9, 5 in 12.
// REQUIRES: slowest > 0, least >= 0, fill >= 0.
std::optional<BatchSplit> split_micro_batches(int total, std::span<const PipelineSpeed> pipelines);

struct UnevenSplit {
  std::vector<std::vector<int>> layers;  // [pipeline][stage]
  std::vector<int> micro_batches;        // [pipeline]
  double longest = 0;
};
// Both splits. A pipeline has as many micro-batches as stages or more. `fills`: filling and
// draining count. None: there is no split.
std::optional<UnevenSplit> uneven_split(std::span<const std::vector<StageSpeed>> pipelines,
                                        int layers, int micro_batches, bool fills = false);

}  // namespace sim::plan
