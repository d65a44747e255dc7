// Which data-parallel replicas a job simulates.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sim/fold/replicas.h"
#include "sim/plan/rank_grid.h"
#include "sim/training/job.h"
#include "sim/training/uneven_replicas.h"

namespace sim::training {

struct ReplicaPlan {
  fold::Replicas replicas = fold::Replicas::all(1);
  // [topology tier of a link] level of the replicas that share it: 0 where each has its own.
  std::array<std::size_t, 3> level_of_tier{};
  std::array<fold::Replica, 3> block_of_tier{1, 1, 1};  // replicas of such a block
  int members_per_host = 1;                             // of a group of data-parallel ranks
  std::vector<std::pair<fold::Replica, fold::Replica>> disturbed;  // [first, last)
  bool is_sample = false;  // those kept for their draws stand for all
  // Where links between switches are not shared by whole blocks of replicas.
  std::optional<UnevenReplicas> uneven;

  // In ring order: those kept, and the neighbours that show what crosses between blocks.
  std::vector<fold::Replica> ring() const;
  // How many parts of a tier there are like that of `replica`; 0: none of its replicas is kept,
  // another part stands for it.
  std::int64_t alike(std::size_t tier, fold::Replica replica) const;
};

// Whether so many replicas are left out that it is worth it.
bool is_worth_it(const ReplicaPlan& plan);

// Replicas along the data dimension can be exchanged where hosts, leaves and pods are whole blocks
// of them, routes are sprayed and rings join them; disturbed ones, and those on other types of
// hosts, are kept apart. With jitter the first `replicas` are too, one type of device provided.
// `may_be_uneven`: also where leaves and pods are no whole blocks; that is exact only if none of
// their links can bind, but disturbed ones.
// Otherwise, and where little would be gained, all are kept.
ReplicaPlan replica_plan(const Job& job, const plan::RankGrid& grid, bool may_be_uneven);

}  // namespace sim::training
