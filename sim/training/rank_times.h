// How long a rank computes and communicates in each pass, one operator after the other.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "sim/training/communication.h"
#include "sim/training/costs.h"
#include "sim/training/rank_group.h"

namespace sim::training {

struct PassTimes {
  Picoseconds forward = 0, backward = 0, in_two = 0;  // in_two: backward where it comes in two
};

using RankGroups =
    std::array<std::vector<int>, rank_group_count>;  // [RankGroup] empty: a rank alone

// The operators of one rank, for all plans that give it the same ones. At least: collectives that
// operators may run beside, only as far as they take longer; launches nothing.
class RankTimes {
 public:
  // `costs` must outlive it.
  RankTimes(const Job& job, const JobCosts& costs, const RankGroups& groups);

  // Of layers begin .. end, with what comes before the first and after the last. Remembered.
  const PassTimes& of_part(std::size_t begin, std::size_t end);
  // In forward order.
  PassTimes of_units(std::vector<const UnitCosts*> units) const;

 private:
  Picoseconds least(const std::vector<const UnitCosts*>& units,
                    std::vector<CostedOperator> UnitCosts::*pass) const;
  Picoseconds duration(const CostedOperator& collective) const;

  const JobCosts& costs_;
  std::array<std::unique_ptr<Communicator>, rank_group_count> communicators_;
  std::map<std::vector<std::size_t>, PassTimes> parts_;
};

}  // namespace sim::training
