// Measured training runs: one YAML a source, `rows` with one mapping a line.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"

namespace sim::scenario {

// One run. Values as written; nested mappings flattened with a dot ("derived.iter_time_s"); null
// and empty values are absent.
struct MeasuredRow {
  std::map<std::string, std::string> values;
  Place place;

  std::optional<std::string> text(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
};

struct MeasuredFile {
  std::string title;
  std::string framework;         // of all rows that state none
  std::map<double, double> ffn;  // of such rows, by their params_b
  std::vector<MeasuredRow> rows;
};

std::optional<MeasuredFile> read_measured(const std::filesystem::path& file,
                                          Diagnostics& diagnostics);

// A scenario for the row, as text, and what had to be assumed to write it; or why there is none.
struct MeasuredScenario {
  std::string text;
  std::vector<std::string> assumed;
  std::string impossible;  // empty: possible
};
MeasuredScenario scenario_of(const MeasuredRow& row, const MeasuredFile& file);

}  // namespace sim::scenario
