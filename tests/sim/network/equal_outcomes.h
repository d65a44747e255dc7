// Two runs that must have given the same.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "sim/network/run.h"

namespace sim::network {

// REQUIRES: the run comes to an end.
inline Outcome outcome_of(const System& system, const RunOptions& options) {
  auto result = run(system, options);
  if (const auto* stuck = std::get_if<Stuck>(&result)) invariant(false, stuck->cycle.c_str());
  return std::get<Outcome>(std::move(result));
}

// (stream, step) -> (start, end): records of one instant have no order among streams.
inline std::map<std::pair<int, int>, std::pair<Picoseconds, Picoseconds>> ends(
    const Outcome& outcome) {
  std::map<std::pair<int, int>, std::pair<Picoseconds, Picoseconds>> result;
  for (const Record& r : outcome.records) {
    REQUIRE(result.try_emplace({r.stream, r.step}, r.started_at, r.ended_at).second);
  }
  return result;
}

// All that is kept; not how many events it took.
inline void check_equal(const Outcome& a, const Outcome& b) {
  REQUIRE(a.iteration_ends == b.iteration_ends);
  REQUIRE(a.fingerprint == b.fingerprint);
  REQUIRE(ends(a) == ends(b));
  REQUIRE(a.times == b.times);
  REQUIRE(a.last_ends == b.last_ends);
  REQUIRE(a.loads.size() == b.loads.size());
  for (std::size_t i = 0; i < a.loads.size(); ++i) {
    REQUIRE(a.loads[i].observed == b.loads[i].observed);
    REQUIRE(a.loads[i].at == b.loads[i].at);
    REQUIRE((a.loads[i].load == b.loads[i].load));
  }
}

}  // namespace sim::network
