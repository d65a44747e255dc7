// What a run of a system gives.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/fixed.h"

namespace sim::network {

inline constexpr int kind_max = 16;

struct Record {
  std::int32_t stream = 0, step = 0;
  Picoseconds started_at = 0, ended_at = 0;  // since the start of the run
};
struct LoadRecord {
  std::int32_t observed = 0;  // index in System::observed
  Picoseconds at = 0;
  Int128 load = 0;  // in units of 2^-32 of the capacity's unit
};

struct Outcome {
  std::vector<Picoseconds> iteration_ends;
  // Of all operations of all streams stood for: what ended when, since the start of its iteration.
  std::uint64_t fingerprint = 0;
  std::uint64_t events = 0;  // operations that were run
  // Of the last iteration:
  std::vector<std::array<Picoseconds, kind_max>>
      times;  // [stream], accounted ones; idle ends excluded
  // [stream] since the start of the run; of a stream without steps, the start of the iteration.
  std::vector<Picoseconds> last_ends;
  std::vector<Record> records;  // in order of end
  std::vector<LoadRecord> loads;
};

// Nothing can happen any more, and not everything has ended.
struct Stuck {
  Picoseconds at = 0;
  std::string cycle;  // who waits for whom, one line each
};

}  // namespace sim::network
