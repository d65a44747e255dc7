// From the entries of plan.replicas to replicas on devices.
#include <algorithm>
#include <numeric>
#include <set>

#include "sim/scenario/checks.h"
#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

using plan::Plan;
using plan::Replica;

// What every replica says itself.
bool check_others(Reader& reader) {
  const std::size_t before = reader.error_count();
  for (const char* const path : {"plan.tensor", "plan.data.degree", "plan.pipeline.stages",
                                 "plan.pipeline.layers", "placement.order"}) {
    if (!reader.is_given(path)) {
      reader.drop_default(path);
      continue;
    }
    reader.error(path, reader.place(path), fmt::format("{} beside plan.replicas", path),
                 "each replica has tensor degrees, stages, layers and devices of its own",
                 "leave it out");
  }
  return reader.error_count() == before;
}

// The devices that the entries name: [entry].
std::optional<std::vector<std::vector<int>>> named_devices(Reader& reader, const Draft& draft) {
  std::vector<std::vector<int>> result(draft.replicas.size());
  const bool is_any = std::any_of(draft.replicas.begin(), draft.replicas.end(),
                                  [](const ReplicaEntry& e) { return !e.devices.empty(); });
  if (!is_any) return result;
  bool is_fine = true;
  const topology::Cluster cluster(draft.scenario.cluster);
  for (std::size_t i = 0; i < draft.replicas.size(); ++i) {
    for (std::size_t k = 0; k < draft.replicas[i].devices.size(); ++k) {
      const std::string& name = draft.replicas[i].devices[k];
      const auto found = cluster.devices_of_part(name);
      result[i].insert(result[i].end(), found.begin(), found.end());
      if (!found.empty()) continue;
      const std::string path = fmt::format("plan.replicas.{}.devices.{}", i, k);
      reader.error(path, reader.place(path), fmt::format("no device '{}'", shown(name, 40)), "",
                   fmt::format("the first is {}", cluster.device_name(0)));
      is_fine = false;
    }
  }
  if (!is_fine) return std::nullopt;
  return result;
}

// Of so many devices those that nobody names, for the entries that name none.
std::vector<int> free_devices(const std::vector<std::vector<int>>& named, std::int64_t count) {
  std::set<int> taken;
  for (const auto& devices : named) taken.insert(devices.begin(), devices.end());
  std::vector<int> result;
  for (int device = 0; device < count; ++device) {
    if (!taken.contains(device)) result.push_back(device);
  }
  return result;
}

Replica replica_of(const ReplicaEntry& entry, std::size_t index) {
  Replica replica;
  replica.layers = entry.layers;
  replica.tensor = entry.tensor;
  if (replica.tensor.size() == 1) replica.tensor.resize(entry.layers.size(), entry.tensor.front());
  replica.micro_batches = entry.micro_batches;
  replica.entry = static_cast<int>(index);
  return replica;
}

}  // namespace

bool derive_replicas(Reader& reader, Draft& draft, std::int64_t devices) {
  Plan& plan = draft.scenario.plan;
  if (!check_others(reader)) return false;
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < draft.replicas.size(); ++i) {
    ranks += std::int64_t{draft.replicas[i].count} * replica_of(draft.replicas[i], i).ranks();
  }
  const auto named = named_devices(reader, draft);
  if (!named) return false;
  const bool is_any_named = std::any_of(named->begin(), named->end(),
                                        [](const auto& devices) { return !devices.empty(); });
  if (ranks > devices || (ranks < devices && !is_any_named)) {
    reader.error(
        "plan.replicas", reader.place("plan.replicas"),
        fmt::format("{} ranks in all replicas, but the cluster has {} devices", ranks, devices),
        "a replica's ranks are the sum of the tensor degrees of its stages",
        ranks > devices ? "" : "write devices: for those that work; others are idle then");
    return false;
  }
  const std::vector<int> free = free_devices(*named, devices);
  std::size_t next_free = 0;
  std::vector<Replica> replicas;
  for (std::size_t i = 0; i < draft.replicas.size(); ++i) {
    const ReplicaEntry& entry = draft.replicas[i];
    const Replica replica = replica_of(entry, i);
    const auto each = static_cast<std::size_t>(replica.ranks());
    const bool is_named = !(*named)[i].empty();
    const std::vector<int>& from = is_named ? (*named)[i] : free;
    std::size_t next = is_named ? 0 : next_free;
    const std::size_t needed = each * static_cast<std::size_t>(entry.count);
    if (from.size() - next < needed || (is_named && from.size() != needed)) {
      const std::string path = fmt::format("plan.replicas.{}", i) + (is_named ? ".devices" : "");
      reader.error(path, reader.place(path),
                   fmt::format("{} devices for {} ranks", from.size() - next, needed),
                   fmt::format("{} replica{} of {} ranks each", entry.count,
                               entry.count == 1 ? "" : "s", each));
      return false;
    }
    for (int k = 0; k < entry.count; ++k, next += each) {
      Replica& placed = replicas.emplace_back(replica);
      placed.devices.assign(from.begin() + static_cast<std::ptrdiff_t>(next),
                            from.begin() + static_cast<std::ptrdiff_t>(next + each));
    }
    if (!is_named) next_free = next;
  }
  plan::set_replicas(plan, std::move(replicas));
  return true;
}

}  // namespace sim::scenario
