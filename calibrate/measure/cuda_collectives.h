// Collectives of NCCL over the GPUs of this machine, all from one process.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/profile/measurement.h"

namespace calibrate::measure {

class NcclCollectives {
 public:
  // Communicators of 2, 4, ... and all of `devices`, buffers of 1 GiB on each. Throws DeviceError.
  explicit NcclCollectives(int devices);
  ~NcclCollectives();
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  // Every kind over every number of ranks, 256 B to 1 GiB as nccl-tests counts.
  const std::vector<profile::MeasuredCase>& cases() const;
  // Seconds of so many executions of a case, until the last device is done.
  double run(std::size_t which, std::size_t executions);
  std::string version() const;
  // Ranks of an all-reduce over all devices whose sums are wrong.
  int wrong_ranks();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace calibrate::measure
