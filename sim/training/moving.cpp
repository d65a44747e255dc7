// Each move is a transfer; all of them begin at once.
#include "sim/training/moving.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "sim/base/invariant.h"
#include "sim/plan/memory.h"
#include "sim/plan/rank_grid.h"
#include "sim/plan/state_moves.h"
#include "sim/training/costs.h"
#include "sim/training/simulate.h"

namespace sim::training {
namespace {

using plan::StateLayout;

// Stages of one replica, whose layers are dealt so. The embedding comes first, the head last.
std::vector<StateLayout::Stage> stages_of(const std::vector<int>& layers,
                                          std::vector<std::vector<int>> devices) {
  std::vector<StateLayout::Stage> result;
  int unit = 1;
  for (std::size_t s = 0; s < layers.size(); ++s) {
    result.push_back({std::move(devices[s]), unit, unit + layers[s]});
    unit += layers[s];
  }
  result.front().first_unit = 0;
  ++result.back().end_unit;
  return result;
}

StateLayout layout_of(const Job& job, const plan::Plan& plan) {
  StateLayout layout;
  layout.shares_optimizer = plan.sharding != plan::Sharding::none;
  for (const plan::Replica& replica : plan.replicas) {
    std::vector<std::vector<int>> devices;
    auto device = replica.devices.begin();
    for (const int degree : replica.tensor) {
      devices.emplace_back(device, device + degree);
      device += degree;
    }
    layout.replicas.push_back(stages_of(replica.layers, std::move(devices)));
  }
  if (!plan.replicas.empty()) return layout;
  const plan::RankGrid grid(plan);
  for (int replica = 0; replica < plan.data; ++replica) {
    std::vector<std::vector<int>> devices;
    for (int stage = 0; stage < plan.stages; ++stage) {
      devices.push_back(grid.group(plan::Dimension::tensor, grid.rank({0, 0, replica, stage})));
    }
    layout.replicas.push_back(stages_of(layers_of_parts(job, plan), std::move(devices)));
  }
  return layout;
}

// A tied embedding has a copy with the head, where there are several stages.
std::vector<plan::UnitBytes> units_of(const Job& job, dnn::Transformer dnn) {
  if (job.plan.stages > 1) dnn.tied_embedding = false;
  plan::Plan whole = job.plan;
  whole.tensor = 1;
  const dnn::Shard shard = plan::shard_of(whole, plan::weight_bytes);
  const dnn::LayerKinds kinds = dnn::layer_kinds(dnn);
  const auto parameters = [&](const dnn::LayerKind& kind) {
    return dnn::shard_parameters(dnn, shard, job.stack, kind);
  };
  std::vector<double> counts = {parameters(kinds.kinds.front()).embedding};
  for (const std::size_t kind : kinds.of_layer) {
    counts.push_back(parameters(kinds.kinds[kind]).layer);
  }
  const dnn::ShardParameters module = parameters(dnn::prediction_kind(dnn));
  counts.push_back(parameters(kinds.kinds.front()).head +
                   dnn.prediction_modules * (module.layer + module.prediction));
  std::vector<plan::UnitBytes> result;
  for (const double count : counts) {
    result.push_back({count * plan::weight_bytes, count * plan::optimizer_bytes});
  }
  return result;
}

Picoseconds time_of(const Job& job, const std::vector<plan::StateMove>& moves) {
  Job transfers = job;
  transfers.dnn = {};
  transfers.iterations = 1;
  transfers.jitter = {};
  for (const plan::StateMove& move : moves) {
    transfers.operations.push_back(
        {.name = fmt::format("{} to {}", move.from, move.to),
         .after = {},
         .what = HandOperation::Transfer{job.cluster->device_name(move.from),
                                         job.cluster->device_name(move.to), Bytes(move.bytes)},
         .place = {}});
  }
  const auto outcome = simulate(transfers);
  const auto* result = std::get_if<Result>(&outcome);
  invariant(result != nullptr, "transfers alone do not end");
  return result->iteration_ps();
}

}  // namespace

std::optional<Moving> moving(const Job& job, const plan::Plan& next) {
  const auto* dnn = std::get_if<dnn::Transformer>(&job.dnn);
  if (dnn == nullptr) return std::nullopt;
  std::vector<int> hosts;
  for (topology::DeviceIndex d = 0; d < job.cluster->device_count(); ++d) {
    hosts.push_back(job.cluster->device(d).host);
  }
  const auto moves =
      plan::state_moves(layout_of(job, job.plan), layout_of(job, next), units_of(job, *dnn), hosts);
  Moving result;
  std::map<int, double> into;
  for (const plan::StateMove& move : moves) {
    result.total = result.total + Bytes(move.bytes);
    into[move.to] += move.bytes;
    result.into_one = std::max(result.into_one, Bytes(into[move.to]));
  }
  if (!moves.empty()) result.time = time_of(job, moves);
  return result;
}

}  // namespace sim::training
