// A study as read: a base scenario, the axes along which it changes, and what is wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/scenario/expression.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/tree.h"
#include "sim/training/plan_space.h"

namespace sim::scenario {

// Fields of the scenario that change together. A value is written as after --set.
struct Axis {
  std::vector<std::string> paths;
  std::vector<std::vector<std::string>> values;  // [value][path]
  std::vector<std::vector<std::string>> shown;   // the same for people
  // The axis is there only where each of these has one of the values; else the base's value stays.
  std::map<std::string, std::vector<std::string>> when;
  Place place;
};

// Quantities of a candidate that can be wanted or limited.
enum class Measure {
  iteration_time,
  tokens_per_second,
  tokens_per_dollar,
  tokens_per_mwh,
  purchase,
  cost_per_hour,
  power,
  memory,
  devices,
  effective_time,
};
struct MeasureTraits {
  Measure measure;
  const char* name;  // "tokens per dollar"
  const char* key;   // "tokens-per-dollar"
  const char* unit;
  bool is_more_better;
  bool needs_prices;
};
const MeasureTraits& traits(Measure measure);
const std::vector<MeasureTraits>& all_measures();

struct Limit {
  Measure measure = Measure::memory;
  std::optional<double> least, most;  // base units
  Place place;
};

struct Price {
  std::string type;                      // of a host, or of a device
  std::optional<double> purchase, rent;  // [USD] each; [USD/h] each
  std::string source;
  Place place;
};
struct Sourced {
  double value = 0;
  std::string source;
};
struct Prices {
  std::vector<Price> hosts, devices;
  std::optional<Sourced> network;      // [USD] for each device, bought
  std::optional<Sourced> energy;       // [USD/J], of bought machines
  std::optional<Sourced> pue;          // facility power : power of the machines
  std::optional<Sourced> other_power;  // [W] for each device: switches, storage
  std::optional<Sourced> staff;        // [USD/h] of the whole cluster
  std::optional<Sourced> upkeep;       // of purchases, each year: maintenance, space
  std::optional<Seconds> life;         // over which a purchase is written off
};

struct Filter {
  Comparison comparison;
  Place place;
};

struct Study {
  std::filesystem::path file, base;
  std::string name;
  std::vector<Axis> axes;
  std::vector<Filter> filters;
  std::vector<Measure> objectives;  // at least one; the first orders the table
  std::vector<Limit> constraints;
  std::optional<Prices> prices;
  std::optional<training::PlanSpace> search;  // plans that are tried on each candidate
  bool counts_failures = false;               // of the scenario, with its checkpoints and recovery
};

// Returns nothing after reporting why.
std::optional<Study> read_study(const std::filesystem::path& file, Diagnostics& diagnostics);

// The format as a JSON Schema, with the defaults in it.
std::string study_schema();

// One point of the grid: what is set, in the order of the axes.
struct Candidate {
  std::vector<Override> overrides;
  std::vector<std::string> shown;  // [override]
};
inline constexpr std::size_t candidates_max = 1'000'000;

// All points that the filters let through, the last axis changing fastest.
struct Grid {
  std::vector<Candidate> candidates;
  std::int64_t filtered = 0;  // points that the filters left out
};
// `base` gives what conditions and filters ask for and no axis sets. Errors: too many points, a
// field that neither has, a filter on what is no number.
std::optional<Grid> grid(const Study& study, const Value& base, Diagnostics& diagnostics);

}  // namespace sim::scenario
