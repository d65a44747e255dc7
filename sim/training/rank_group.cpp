// Rank groups from the grid, their places from the cluster.
#include "sim/training/rank_group.h"

#include "sim/base/invariant.h"

namespace sim::training {

std::vector<int> group_of(const plan::RankGrid& grid, dnn::RankGroup group, int rank) {
  switch (group) {
    case dnn::RankGroup::tensor:
      return grid.group(plan::Dimension::tensor, rank);
    case dnn::RankGroup::context:
      return grid.group(plan::Dimension::context, rank);
    case dnn::RankGroup::expert:
      return grid.group(plan::ExpertDimension::expert, rank);
    case dnn::RankGroup::expert_tensor:
      return grid.group(plan::ExpertDimension::tensor, rank);
  }
  bug("unknown rank group");
}

GroupPlaces places_of(const topology::Cluster& cluster,
                      std::span<const topology::DeviceIndex> members) {
  const topology::HostIndex host = cluster.device(members.front()).host;
  const topology::HostType* type = cluster.host_type(host);
  std::vector<int> places;
  for (const topology::DeviceIndex member : members) {
    const topology::Device device = cluster.device(member);
    if (device.host != host) type = nullptr;
    places.push_back(device.index_in_host);
  }
  if (!type) places.assign(members.begin(), members.end());
  return {type, std::move(places)};
}

}  // namespace sim::training
