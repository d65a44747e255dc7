// Memory of measured runs: the peak, and whether they fit.
#pragma once

#include <string>
#include <vector>

#include "sim/command/row_scenario.h"

namespace sim::command {

struct MemoryPrediction : RowNotes {
  std::optional<bool> ran;           // none: the row does not say
  std::optional<double> measured_b;  // peak of the allocator
  double predicted_b = 0;            // the same
  bool fits = true;
};

struct MemoryStatistics {
  int ran = 0, failed = 0;             // of those that say
  int false_alarms = 0, misses = 0;    // ran, predicted not to fit; failed, predicted to
  int measured = 0;                    // with a peak
  double mean_absolute = 0, bias = 0;  // of the peak, relative
  double right() const {
    return ran + failed == 0 ? 1 : 1 - static_cast<double>(false_alarms + misses) / (ran + failed);
  }
};

// Nothing is simulated. A run that is out of memory has the status OOM, one that ran a time; other
// rows are skipped. The peak is compared without the stack's reserve, which allocators do not see,
// with mem_reserved_gb or mem_gb, taken as GiB.
std::vector<MemoryPrediction> memory_predictions(const scenario::MeasuredFile& file,
                                                 const Common& common, bool shows_scenarios);
MemoryStatistics statistics(const std::vector<MemoryPrediction>& predictions);
void print_memory(const std::string& title, const std::vector<MemoryPrediction>& predictions,
                  bool is_brief);
void print_memory_json(const std::string& file, const std::vector<MemoryPrediction>& predictions);

}  // namespace sim::command
