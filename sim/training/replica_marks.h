// Where the ranks of data-parallel replicas lie, and what tells replicas apart.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/fold/replicas.h"
#include "sim/plan/rank_grid.h"
#include "sim/training/job.h"

namespace sim::training {

// A replica's ranks: `stride` in a row at a time, in each of `runs()`; those of the next replica
// follow them.
struct ReplicaGeometry {
  explicit ReplicaGeometry(const plan::RankGrid& grid);

  std::int64_t stride = 1, ranks = 1;
  fold::Replica count = 1;

  std::int64_t span() const { return stride * count; }  // ranks of a run
  std::int64_t runs() const { return ranks / span(); }
  std::int64_t first(std::int64_t run, fold::Replica replica) const {
    return run * span() + replica * stride;
  }
  fold::Replica replica_of(std::int64_t rank) const { return rank / stride % count; }
  // The replicas whose rank `rank` + r * stride is in [first, last); all, if any rank is.
  std::pair<fold::Replica, fold::Replica> replicas_in(std::int64_t rank, std::int64_t first,
                                                      std::int64_t last) const;
};

// Whether the devices of every host, and of its domain, are joined by a crossbar.
bool has_crossbars(const topology::Cluster& cluster);

// Marks of replicas on other types of hosts, with draws of their own, or disturbed.
class ReplicaMarks {
 public:
  ReplicaMarks(const Job& job, const ReplicaGeometry& geometry, const topology::Blocks& blocks)
      : job_(job), geometry_(geometry), part_{blocks.host, blocks.group, blocks.pod} {}

  void add(fold::Replica first, fold::Replica last);
  void add_types();
  // Each of the first replicas for itself. False: types differ, and they tell nothing of the
  // others.
  bool add_sample();
  void add_disturbances();

  const std::vector<fold::Mark>& marks() const { return marks_; }
  const std::vector<std::pair<fold::Replica, fold::Replica>>& disturbed() const {
    return disturbed_;
  }

 private:
  void add_devices(std::int64_t run, std::int64_t first, std::int64_t last);

  const Job& job_;
  const ReplicaGeometry geometry_;
  const std::array<std::int64_t, 3> part_;  // [tier of a link] devices that it is for
  std::vector<fold::Mark> marks_;
  std::vector<std::pair<fold::Replica, fold::Replica>> disturbed_;  // [first, last)
};

}  // namespace sim::training
