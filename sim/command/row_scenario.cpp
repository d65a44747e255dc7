// Scenarios of measured runs, and what had to be assumed for them.
#include "sim/command/row_scenario.h"

#include <fmt/format.h>

#include <algorithm>

namespace sim::command {

std::string id_of(const scenario::MeasuredRow& row) { return row.text("id").value_or("row"); }

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.sorted()) {
    if (d.severity == Severity::error) return d.message;
  }
  return "";
}

std::optional<scenario::Scenario> row_scenario(const scenario::MeasuredRow& row,
                                               const scenario::MeasuredFile& file,
                                               const Common& common, bool shows, RowNotes& notes) {
  const scenario::MeasuredScenario written = scenario_of(row, file);
  notes.assumed = written.assumed;
  if (shows) fmt::print("# {}\n{}\n", notes.id, written.text);
  if (!written.impossible.empty()) {
    notes.why_not = written.impossible;
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto read = scenario::read_scenario_text(notes.id, written.text, common.overrides, catalog(),
                                           diagnostics);
  if (!read) notes.why_not = first_error(diagnostics);
  return read;
}

std::vector<std::string> all_assumed(const std::vector<const RowNotes*>& rows) {
  std::vector<std::string> all;
  for (const RowNotes* row : rows) {
    for (const std::string& assumed : row->assumed) {
      if (std::find(all.begin(), all.end(), assumed) == all.end()) all.push_back(assumed);
    }
  }
  return all;
}

}  // namespace sim::command
