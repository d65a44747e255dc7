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
  PassTimes& operator+=(const PassTimes& other);
  friend PassTimes operator-(const PassTimes& a, const PassTimes& b) {
    return {a.forward - b.forward, a.backward - b.backward, a.in_two - b.in_two};
  }
};

// Of ranks in the order of their group, with the profile of the first in the cluster.
std::unique_ptr<Communicator> communicator_of(const Job& job, const std::vector<int>& ranks);

// The operators of one rank, for all plans that give it the same ones. At least: collectives that
// operators may run beside, only as far as they take longer; launches nothing.
class RankTimes {
 public:
  // `costs` and the groups' communicators must outlive it; none where the rank is alone.
  using Communicators = std::array<const Communicator*, rank_group_count>;
  RankTimes(const JobCosts& costs, const Communicators& communicators);

  // Of layers begin .. end, with what comes before the first and after the last. Remembered.
  PassTimes of_part(std::size_t begin, std::size_t end);
  // In forward order.
  PassTimes of_units(std::vector<const UnitCosts*> units) const;

 private:
  // Operators one after the other. A collective that some may run beside adds what it takes longer
  // than they do; nothing where another one comes in between.
  struct Passed {
    Picoseconds total = 0;
    Picoseconds beside = 0;  // what is left of a collective
    int left = 0;            // operators that may run beside it
  };
  void pass(const std::vector<CostedOperator>& operators, Passed& passed) const;
  Picoseconds least(const std::vector<const UnitCosts*>& units,
                    std::vector<CostedOperator> UnitCosts::*pass) const;
  Picoseconds duration(const CostedOperator& collective) const;
  void sum_up();
  std::vector<const UnitCosts*> last_units() const;

  const JobCosts& costs_;
  Communicators communicators_;
  bool adds_up_ = false;                                 // no collective lasts into the next unit
  std::vector<PassTimes> sums_;                          // [layer] of those before it, if so
  PassTimes first_, last_;                               // what comes before and after the layers
  std::map<std::vector<std::size_t>, PassTimes> parts_;  // otherwise
};

}  // namespace sim::training
