// From devices and links to the replicas that have them.
#include "sim/training/replica_marks.h"

#include <algorithm>

namespace sim::training {

using fold::Replica;

ReplicaGeometry::ReplicaGeometry(const plan::RankGrid& grid)
    : stride(grid.stride(plan::Dimension::data)),
      ranks(grid.ranks()),
      count(grid.extent(plan::Dimension::data)) {}

std::pair<Replica, Replica> ReplicaGeometry::replicas_in(std::int64_t rank, std::int64_t first,
                                                         std::int64_t last) const {
  const auto from = [&](std::int64_t device) {
    return std::clamp<Replica>((device - rank + stride - 1) / stride, 0, count);
  };
  return {from(first), from(last)};
}

bool has_crossbars(const topology::Cluster& cluster) {
  std::vector<topology::DeviceIndex> firsts = cluster.type_borders();
  firsts.push_back(0);
  return std::all_of(firsts.begin(), firsts.end(), [&](topology::DeviceIndex first) {
    const topology::HostType* type = cluster.host_type(cluster.device(first).host);
    return type && type->scale_up.kind == topology::ScaleUp::Kind::crossbar;
  });
}

void ReplicaMarks::add(Replica first, Replica last) {
  if (first >= last || (first == 0 && last == geometry_.count)) return;  // tells nothing apart
  marks_.push_back({first, last, static_cast<std::int32_t>(marks_.size())});
}

// Replicas with devices in [first, last) in this run. Those with all of them there are alike.
void ReplicaMarks::add_devices(std::int64_t run, std::int64_t first, std::int64_t last) {
  const std::int64_t stride = geometry_.stride, start = geometry_.first(run, 0);
  first = std::max(first - start, std::int64_t{0});
  last = std::min(last - start, geometry_.span());
  if (first >= last) return;
  const Replica whole = (first + stride - 1) / stride, end = last / stride;
  add(whole, end);
  if (whole > end) return add(end, whole);  // inside of one
  add(first / stride, whole);
  add(end, (last + stride - 1) / stride);
}

void ReplicaMarks::add_types() {
  for (const topology::DeviceIndex border : job_.cluster->type_borders()) {
    if (border >= geometry_.ranks) continue;
    const std::int64_t run = border / geometry_.span();
    add_devices(run, border, geometry_.first(run + 1, 0));
  }
}

bool ReplicaMarks::add_sample() {
  if (!marks_.empty()) return false;
  const Replica sample = std::min<Replica>(job_.jitter.replicas, geometry_.count);
  for (Replica r = 0; r < sample; ++r) add(r, r + 1);
  return true;
}

void ReplicaMarks::add_disturbances() {
  const std::size_t before = marks_.size();
  for (const Disturbance& d : job_.disturbances) {
    std::int64_t first = d.index, size = 1;
    if (d.kind == Disturbance::Kind::link) {
      first = job_.cluster->first_device(d.index);
      size = part_[static_cast<std::size_t>(job_.cluster->tier(d.index))];
    }
    for (std::int64_t run = 0; run < geometry_.runs(); ++run) add_devices(run, first, first + size);
  }
  for (std::size_t i = before; i < marks_.size(); ++i) {
    disturbed_.emplace_back(marks_[i].first, marks_[i].last);
  }
}

}  // namespace sim::training
