// How fast the storage is in the course of a job.
#pragma once

#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "sim/fault/process.h"

namespace sim::fault {

// The storage has `share` of its rates, between `from` and `to`. Several multiply.
struct Slowness {
  struct Periodic {  // for `lasts`, again and again
    Seconds every, lasts;
  };
  struct OnOff {  // exponential times with these means, off first; each history draws its own
    Seconds on, off;
    std::uint64_t seed = 1;
  };
  struct Recorded {  // since `from`, ascending; normal before the first
    std::vector<Seconds> at;
    std::vector<double> share;
  };

  double share = 1;  // of normal, above 0; not of what is recorded
  Seconds from;
  std::optional<Seconds> to;
  std::variant<std::monostate, Periodic, OnOff, Recorded> course;
};

// In one history.
class StorageSpeed {
 public:
  // Nobody looks beyond `end` [s]; `slowness` must outlive it.
  StorageSpeed(const std::vector<Slowness>& slowness, const Draws& draws,
               double end = std::numeric_limits<double>::infinity());

  // Seconds from `start` [s] on until something is done that takes `seconds` with the storage at
  // its rates, where it could be `room` times as slow before anything takes longer.
  // Worked: at half its rates from 10 s to 14 s, 5 s of work that begin at 8 s take 7 s, and with
  // a room of 2, 5 s. Infinite where it is not done by the end. REQUIRES: room >= 1.
  double takes(double start, double seconds, double room = 1);

 private:
  struct State {
    double share = 1, until = 0;  // [s]
  };
  State at(double time);
  State at(std::size_t number, double time);
  State drawn(std::size_t number, const Slowness::OnOff& course, double since);

  const std::vector<Slowness>& slowness_;
  Draws draws_;
  double end_;
  std::vector<std::vector<double>> changes_;  // [slowness][s since `from`] as drawn so far
};

}  // namespace sim::fault
