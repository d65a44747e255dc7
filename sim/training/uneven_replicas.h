// Data-parallel replicas where leaves and pods are no whole blocks of them: they are told apart by
// where the borders of leaves and pods cut them, which repeats from one replica to another.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/fold/periodic.h"
#include "sim/training/replica_marks.h"

namespace sim::training {

// Groups of hosts, or pods, by the links that join them to the next tier.
struct Parts {
  // Of those whose links carry the same, the lowest is kept.
  struct Part {
    std::int64_t number = 0, alike = 1;
  };
  std::int64_t size = 0;          // in devices; 0: no links join such parts
  topology::LinkIndex links = 0;  // of each
  std::vector<Part> kept;         // ascending

  // 0: not kept, another stands for it.
  std::int64_t alike(std::int64_t number) const;
};

// Members of a group of data-parallel ranks, with the numbers of their hosts in its ring.
struct ListedMembers {
  std::vector<fold::Replica> replicas;  // ascending; all members of each host
  std::vector<int> host_numbers;
  int hosts = 0;  // of the ring
};

class UnevenReplicas {
 public:
  UnevenReplicas(ReplicaGeometry geometry, fold::PeriodicReplicas classes,
                 const topology::Blocks& blocks);

  const fold::PeriodicReplicas& classes() const { return classes_; }
  const Parts& parts(std::size_t tier) const { return parts_[tier - 1]; }
  // Visits the kept parts that stand for those in which replicas like kept replica `index` load
  // this link of `tier`, with how many of these replicas do so in each.
  using VisitLink = std::function<void(topology::LinkIndex link, std::int64_t count)>;
  void each_alike(std::size_t index, std::size_t tier, topology::LinkIndex link,
                  topology::DeviceIndex first_device, const VisitLink& visit) const;
  // Of the group of `rank`, all whose hops load a resource that is kept, those before and after
  // them, and every kind of hop.
  ListedMembers listed(std::int64_t rank) const;

 private:
  void find_parts(Parts& parts) const;

  ReplicaGeometry geometry_;
  fold::PeriodicReplicas classes_;
  fold::Replicas kept_;
  std::int64_t host_ = 1;       // devices
  bool changes_rails_ = false;  // hops inside a group of hosts may use its links
  std::array<Parts, 2> parts_;  // [tier - 1]
};

}  // namespace sim::training
