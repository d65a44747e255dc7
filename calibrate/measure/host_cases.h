// What is measured on a CPU, and the memory that it works on.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calibrate/measure/team.h"
#include "calibrate/profile/measurement.h"

namespace calibrate::measure {

// Operands come from a ring of memory larger than the caches.
class Arena {
 public:
  Arena();
  // REQUIRES: at most half of it.
  float* take(std::size_t count);

 private:
  std::vector<float> memory_;
  std::size_t next_ = 0;
};

struct HostCase {
  profile::MeasuredCase what;  // no samples yet
  std::function<void()> run;
};

// The same list, in the same order, in every process of a team. Keeps references to both.
std::vector<HostCase> host_cases(Team& team, Arena& arena);

}  // namespace calibrate::measure
