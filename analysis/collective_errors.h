// Predicted against measured collectives: rows, and how large the errors are in each class.
#pragma once

#include <string>
#include <vector>

#include "sim/base/quantity.h"

namespace analysis {

// One row of nccl-tests beside its prediction.
struct CollectiveError {
  std::string run, operation, chosen;  // chosen: algorithm and protocol
  sim::Bytes size;
  int ranks = 0, hosts = 0;
  sim::BytesPerSecond measured, predicted;  // bus bandwidth, as nccl-tests defines it
  bool in_sample = false;                   // the run is among those that constants were fitted to
  double error() const { return predicted / measured - 1; }
};

// A run that was not predicted.
struct SkippedRun {
  std::string run, why;
  int rows = 0;
};

struct CollectiveReport {
  std::string file;
  std::vector<CollectiveError> rows;
  std::vector<SkippedRun> skipped;
  std::vector<std::string> assumed;
};

// Rows of one sort: inside a host, 2 to 16 hosts, more; small, medium or large; seen by a fit or
// not.
struct ErrorClass {
  std::string place, sizes;
  bool in_sample = false;
  int rows = 0, runs = 0;
  double median_absolute = 0, mean_absolute = 0, bias = 0, worst = 0;  // relative, bias: median
};

// In the order inside, over hosts, small to large, out of sample before in sample; empty classes
// left out.
std::vector<ErrorClass> error_classes(const std::vector<CollectiveError>& rows);

std::string to_text(const CollectiveReport& report, bool is_brief);
std::string to_json(const CollectiveReport& report);

}  // namespace analysis
