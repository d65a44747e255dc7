// Listing the catalog and reading single entries of it.
#include "sim/scenario/catalog.h"

#include <algorithm>

#include "sim/scenario/resolve.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

template <class T>
std::optional<T> read_entry(const std::string& name, const std::filesystem::path& catalog,
                            Diagnostics& diagnostics, const std::string& kind, Section<T> table) {
  Reader reader(diagnostics, catalog, ".");
  Value value;
  value.kind = Value::Kind::text;
  value.text = name;
  value.file = std::make_shared<const std::string>(name);
  const std::string noun = kind.substr(0, kind.size() - 1);
  const auto found = catalog_kind(kind, noun, table, Naming::text).read(reader, value, noun);
  return reader.is_clean("") ? found : std::nullopt;
}

}  // namespace

std::vector<std::string> catalog_names(const std::filesystem::path& catalog,
                                       const std::string& kind) {
  std::vector<std::string> names;
  std::error_code status;
  for (std::filesystem::directory_iterator at(catalog / kind, status), end; !status && at != end;
       at.increment(status)) {
    if (at->path().extension() == ".yaml") names.push_back(at->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<calibrate::profile::DeviceType> read_device(const std::string& name,
                                                          const std::filesystem::path& catalog,
                                                          Diagnostics& diagnostics) {
  return read_entry(name, catalog, diagnostics, "devices", device_table());
}

std::optional<topology::HostType> read_host(const std::string& name,
                                            const std::filesystem::path& catalog,
                                            Diagnostics& diagnostics) {
  const auto host = read_entry(name, catalog, diagnostics, "hosts", host_table());
  return host ? std::optional<topology::HostType>(host->type) : std::nullopt;
}

std::optional<topology::Description> read_cluster(const std::string& name,
                                                  const std::filesystem::path& catalog,
                                                  Diagnostics& diagnostics) {
  const auto cluster = read_entry(name, catalog, diagnostics, "clusters", cluster_table());
  return cluster ? std::optional<topology::Description>(cluster->description) : std::nullopt;
}

std::optional<Machines> read_machines(const std::string& name, const std::filesystem::path& catalog,
                                      Diagnostics& diagnostics) {
  auto cluster = read_entry(name, catalog, diagnostics, "clusters", cluster_table());
  if (!cluster) return std::nullopt;
  return Machines{std::move(cluster->description), std::move(cluster->device_types)};
}

std::optional<dnn::Transformer> read_dnn(const std::string& name,
                                         const std::filesystem::path& catalog,
                                         Diagnostics& diagnostics) {
  return read_entry(name, catalog, diagnostics, "dnns", transformer_table());
}

std::optional<dnn::SoftwareStack> read_stack(const std::string& name,
                                             const std::filesystem::path& catalog,
                                             Diagnostics& diagnostics) {
  return read_entry(name, catalog, diagnostics, "stacks", stack_table());
}

}  // namespace sim::scenario
