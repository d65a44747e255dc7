// How much slower than normal a part is, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/base/quantity.h"

namespace sim::scenario {

// A recorded course: shares of normal from each instant on. A column that the file does not have is
// empty.
struct StragglerTrace {
  std::string file;  // as the scenario names it
  std::vector<Seconds> at;
  std::vector<double> compute, memory, link, host;
};

struct Straggler {
  struct Periodic {
    Seconds every, lasts;
  };
  struct Ramp {
    Seconds over;
    int steps = 10;
    double start = 1;  // share of normal
  };
  struct Random {
    Seconds on, off;  // means
    std::uint64_t seed = 1;
    bool is_together = false;
  };
  // Which of the parts are slow, and how slow each of them is.
  struct Drawn {
    double hit = 1;
    std::optional<double> up_to;  // uniform between the share of the straggler and this one
    std::optional<double> sigma;  // lognormal with the straggler's share as median, at most normal
    std::uint64_t seed = 1;
  };

  int number = 0;    // in the file; draws depend on it
  std::string part;  // "h0.gpu1", "h[0..3].nic2"; or
  std::optional<int> rank;
  // Of normal: 0.77. With a trace, the least of its column.
  std::optional<double> compute, memory, link, host;
  std::optional<double> slowdown;  // with rank
  Seconds from;
  std::optional<Seconds> to;  // none: until the end
  std::variant<std::monostate, Periodic, Ramp, Random, StragglerTrace> course;
  std::optional<Drawn> drawn;
  Place place;
};

// Whether it is always as slow.
bool is_steady(const Straggler& straggler);

// The part that the cluster's storage is, where it has one.
inline constexpr const char* storage_part = "storage";

}  // namespace sim::scenario
