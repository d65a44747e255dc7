// Which ranks run an operation together, and where they are.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/dnn/operators.h"
#include "sim/plan/rank_grid.h"
#include "topology/cluster.h"

namespace sim::training {

inline constexpr std::size_t rank_group_count = 4;  // dnn::RankGroup

// That the rank is in, in order of its dimension.
std::vector<int> group_of(const plan::RankGrid& grid, dnn::RankGroup group, int rank);

// Groups with equal places cost the same: those in one host of equal types; between hosts, what a
// group costs depends on where they are. The places in a host of this type; or, without a type,
// the devices.
using GroupPlaces = std::pair<const topology::HostType*, std::vector<int>>;
GroupPlaces places_of(const topology::Cluster& cluster,
                      std::span<const topology::DeviceIndex> members);

}  // namespace sim::training
