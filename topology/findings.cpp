// The entry to all checks of a description, and the checks that both kinds of cluster share.
#include "topology/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "topology/host_network.h"

namespace topology {

void Findings::check_positive(std::string_view what, double value, std::string_view unit_hint) {
  if (std::isfinite(value) && value > 0) return;
  if (value == 0) {
    error(fmt::format("{} is missing or zero", what), "nothing could pass",
          fmt::format("write '{}: {}'", what, unit_hint));
  } else {
    error(fmt::format("{} is not a positive number", what));
  }
}

void Findings::check_not_negative(std::string_view what, double value) {
  if (!std::isfinite(value) || value < 0) error(fmt::format("{} is negative or not finite", what));
}

void Findings::check_count(std::string_view what, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
  if (value < least) {
    error(fmt::format("{} is {}, the least is {}", what, value, least));
  } else if (value > most) {
    error(fmt::format("{} is {}, the most is {}", what, value, most));
  }
}

bool Findings::has_errors() const {
  return std::any_of(list_.begin(), list_.end(), [](const Finding& f) { return f.is_error; });
}

namespace {

void find_in_spares(const Description& description, std::int64_t hosts, Findings& findings) {
  findings.about(Findings::Subject::cluster);
  if (description.spares < 0) findings.error("spares is negative");
  if (description.spares > 0 && description.spares >= hosts) {
    findings.error(
        fmt::format("{} spare hosts of {} leave none to work", description.spares, hosts));
  }
  if (description.storage) {
    findings.check_positive("storage.write", description.storage->write.value(), "100 GB/s");
    findings.check_positive("storage.read", description.storage->read.value(), "200 GB/s");
  }
}

std::int64_t hosts_described(const Graph& graph) {
  std::set<std::string> names;
  for (const GraphDevice& device : graph.devices) {
    names.insert(device.host.empty() ? device.name : device.host);
  }
  return static_cast<std::int64_t>(names.size());
}

}  // namespace

std::vector<Finding> Cluster::findings(const Description& description) {
  Findings findings;
  if (description.graph && !description.hosts.empty()) {
    findings.error("both hosts and a graph are given", "a cluster is one or the other",
                   "write a fabric for the hosts, or every device and link in the graph");
  } else if (description.graph) {
    find_in_graph(*description.graph, findings);
    find_in_spares(description, hosts_described(*description.graph), findings);
  } else if (description.hosts.empty()) {
    findings.error("the cluster has no hosts", "",
                   "write 'hosts: [{name: h, count: 4, type: hgx-h100}]'");
  } else {
    find_in_hosts(description, findings);
    find_in_spares(description, hosts_described(description), findings);
  }
  return findings.take();
}

}  // namespace topology
