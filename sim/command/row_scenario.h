// From a measured run to the scenario that it is predicted by.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "sim/command/options.h"
#include "sim/scenario/measured.h"
#include "sim/scenario/scenario.h"

namespace sim::command {

// What every prediction of a run says.
struct RowNotes {
  std::string id, why_not;           // why_not: it is skipped
  std::vector<std::string> assumed;  // where the row does not say
};

std::string id_of(const scenario::MeasuredRow& row);
// Nothing after noting why.
std::optional<scenario::Scenario> row_scenario(const scenario::MeasuredRow& row,
                                               const scenario::MeasuredFile& file,
                                               const Common& common, bool shows, RowNotes& notes);
std::string first_error(const Diagnostics& diagnostics);

// Each assumption once.
std::vector<std::string> all_assumed(const std::vector<const RowNotes*>& rows);
template <class Prediction>
std::vector<std::string> all_assumed(const std::vector<Prediction>& predictions) {
  std::vector<const RowNotes*> rows;
  for (const Prediction& p : predictions) rows.push_back(&p);
  return all_assumed(rows);
}
template <class Prediction>
void print_assumed(const std::vector<Prediction>& predictions) {
  for (const std::string& assumed : all_assumed(predictions)) {
    fmt::print("  assumed where not stated: {}\n", assumed);
  }
}

}  // namespace sim::command
