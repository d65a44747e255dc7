// The catalog: what can be named in a scenario, one YAML file each.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/profile/device_type.h"
#include "sim/base/diagnostics.h"
#include "sim/dnn/stack.h"
#include "sim/dnn/transformer.h"
#include "topology/description.h"

namespace sim::scenario {

// Names of the entries of a kind ("devices", "hosts", "clusters", "dnns", "stacks"), sorted.
std::vector<std::string> catalog_names(const std::filesystem::path& catalog,
                                       const std::string& kind);

// One entry by its name, or nothing after reporting why.
std::optional<calibrate::profile::DeviceType> read_device(const std::string& name,
                                                          const std::filesystem::path& catalog,
                                                          Diagnostics& diagnostics);
std::optional<topology::HostType> read_host(const std::string& name,
                                            const std::filesystem::path& catalog,
                                            Diagnostics& diagnostics);
std::optional<topology::Description> read_cluster(const std::string& name,
                                                  const std::filesystem::path& catalog,
                                                  Diagnostics& diagnostics);
// A cluster with the types of its devices, by name.
struct Machines {
  topology::Description description;
  std::map<std::string, calibrate::profile::DeviceType> device_types;
};
std::optional<Machines> read_machines(const std::string& name, const std::filesystem::path& catalog,
                                      Diagnostics& diagnostics);
std::optional<dnn::Transformer> read_dnn(const std::string& name,
                                         const std::filesystem::path& catalog,
                                         Diagnostics& diagnostics);
std::optional<dnn::SoftwareStack> read_stack(const std::string& name,
                                             const std::filesystem::path& catalog,
                                             Diagnostics& diagnostics);

}  // namespace sim::scenario
