// Drawings of a run.
#pragma once

#include <string>

#include "analysis/critical_path.h"
#include "sim/training/result.h"

namespace analysis {

// The streams of the representative ranks and the critical path, over `length_ps`.
std::string timeline(const sim::training::Result& result, const std::vector<PathPiece>& path,
                     std::int64_t length_ps);
// Where the time of the last rank goes, as a bar of `length_ps`.
std::string time_bar(const sim::training::Result& result, std::int64_t length_ps);
// What the fullest rank of each stage holds. Empty where it is not known over time.
std::string memory_plot(const sim::training::Result& result, std::int64_t length_ps);
// The tiers of the cluster that the busiest links join, each class of links as a line, the darker
// the fuller. Empty without links.
std::string link_drawing(const sim::training::Result& result);
// Load of the busiest links over time. Empty where none was recorded.
std::string link_strips(const sim::training::Result& result, std::int64_t length_ps);

// Tiers that a link joins, by its name: 0 device, 1 scale-up switch, 2 PCIe, 3 leaf or switch, 4
// spine or core, 5 other.
struct Tiers {
  int from = 0, to = 0;
};
Tiers tiers_of(const std::string& link);

}  // namespace analysis
