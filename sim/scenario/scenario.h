// A scenario as read: one struct a section. Names, units and defaults: `maquette catalog schema`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/profile/device_type.h"
#include "sim/base/diagnostics.h"
#include "sim/collective/collective.h"
#include "sim/dnn/stack.h"
#include "sim/dnn/transformer.h"
#include "sim/plan/plan.h"
#include "sim/scenario/job_time.h"
#include "sim/scenario/straggler.h"
#include "sim/training/job.h"
#include "topology/description.h"

namespace sim::scenario {

using training::HandOperation;
using training::TimedDnn;

struct Training {
  std::string precision = "bf16";  // fp32 | tf32 | fp16 | bf16 | fp8
  std::string optimizer = "adam";
  double tokens = 0;  // job time only; 0: not stated
};

struct Run {
  int iterations = 2;
  using Fidelity = training::Fidelity;
  Fidelity fidelity = Fidelity::segments;
  training::Jitter jitter;
};

// What a worked scenario asserts, in its own words.
struct Expectation {
  std::string quantity;  // "iteration", "bubble", "exposed.data", "peak_memory", "memory.weights",
                         // "parameters", ...
  std::variant<Seconds, Bytes, double> value;
  double tolerance = 0;  // relative; 0: exact
  Place place;
};

struct Scenario {
  std::filesystem::path file;
  std::string name;
  topology::Description cluster;
  std::map<std::string, calibrate::profile::DeviceType> device_types;  // every type the cluster has
  std::variant<std::monostate, dnn::Transformer, TimedDnn> dnn;
  dnn::SoftwareStack stack;
  Training training;
  plan::Plan plan;
  std::vector<HandOperation> operations;  // instead of dnn
  std::vector<Straggler> stragglers;
  Run run;
  JobTimeEntry job_time;
  std::vector<Expectation> expect;
  // Defaults taken because the file did not say: "plan.tensor: 1".
  std::vector<std::string> defaults;
  // Place of a value by its path ("plan.tensor"), for errors found later. Falls back to the nearest
  // parent.
  std::map<std::string, Place> places;
  Place place(const std::string& path) const;
};

// Shares of normal that the storage has throughout, all together.
double storage_share(const Scenario& scenario);
// Whether a straggler is the storage of the cluster, which no iteration uses.
bool is_storage(const Scenario& scenario, const Straggler& straggler);

struct Override {
  std::string path, value;  // --set plan.tensor=4
};

// Reads, resolves catalog names and files, checks everything that can be checked without running.
// Returns nothing if an error was found; all of them are in `diagnostics`.
// `catalog`: the folder scenarios/catalog.
std::optional<Scenario> read_scenario(const std::filesystem::path& file,
                                      const std::vector<Override>& overrides,
                                      const std::filesystem::path& catalog,
                                      Diagnostics& diagnostics);

// The same for text that is not in a file; `name` stands for it in messages.
std::optional<Scenario> read_scenario_text(const std::string& name, const std::string& text,
                                           const std::vector<Override>& overrides,
                                           const std::filesystem::path& catalog,
                                           Diagnostics& diagnostics);

// JSON Schema (draft 2020-12) of the scenario format, from the tables the reader uses.
std::string json_schema();

}  // namespace sim::scenario
