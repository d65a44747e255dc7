// What is wrong with an arbitrary graph.
#include <fmt/format.h>

#include <map>

#include "sim/base/diagnostics.h"
#include "topology/findings.h"
#include "topology/graph_router.h"

namespace topology {

namespace {

using Subject = Findings::Subject;

void check_name(const std::string& name, std::string_view what, Findings& findings) {
  if (name.empty()) {
    findings.error(fmt::format("a {} has no name", what));
  } else if (name.find_first_of("[]* ") != std::string::npos ||
             name.find("->") != std::string::npos) {
    findings.error(fmt::format("'{}' cannot be the name of a {}", name, what),
                   "'[', ']', '*', '->' and blanks have a meaning in names of parts");
  }
}

using Vertices = std::map<std::string, VertexIndex>;

Vertices find_in_vertices(const Graph& graph, Findings& findings) {
  Vertices vertices;
  const auto add = [&](const std::string& name, std::string_view what) {
    check_name(name, what, findings);
    if (!vertices.emplace(name, static_cast<VertexIndex>(vertices.size())).second) {
      findings.error(fmt::format("two parts of the graph have the name '{}'", name));
    }
  };
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    findings.about(Subject::graph_device, i);
    add(graph.devices[i].name, "device");
  }
  findings.about(Subject::cluster);
  if (graph.devices.empty()) findings.error("the graph has no devices");
  for (const std::string& name : graph.switches) add(name, "switch");
  return vertices;
}

// A device without a host of its own name would fall in with the devices of that host.
void find_in_graph_hosts(const Graph& graph, Findings& findings) {
  std::map<std::string, bool> hosts;
  for (const GraphDevice& device : graph.devices) hosts[device.host] = true;
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    const GraphDevice& device = graph.devices[i];
    if (!device.host.empty() || device.name.empty() || !hosts.contains(device.name)) continue;
    findings.about(Subject::graph_device, i);
    findings.error(
        fmt::format("device '{0}' has no host, and another device's host is '{0}'", device.name),
        "a device without a host is a host of its own, with its name");
  }
}

std::vector<std::string> names(const Vertices& vertices) {
  std::vector<std::string> result;
  for (const auto& [name, vertex] : vertices) result.push_back(name);
  return result;
}

void find_in_link(const GraphLink& link, const Vertices& vertices, Findings& findings) {
  for (const std::string& end : {link.from, link.to}) {
    if (vertices.contains(end)) continue;
    const auto known = sim::nearest(end, names(vertices));
    findings.error(fmt::format("link {} - {}: no device or switch '{}'", link.from, link.to, end),
                   "", known ? fmt::format("did you mean '{}'?", *known) : "");
  }
  if (link.from == link.to) {
    findings.error(fmt::format("link {} - {} starts where it ends", link.from, link.to));
  }
  findings.check_positive("capacity", link.capacity.value(), "50 GB/s");
  findings.check_not_negative("latency", link.latency.value());
}

}  // namespace

void find_in_graph(const Graph& graph, Findings& findings) {
  const Vertices vertices = find_in_vertices(graph, findings);
  find_in_graph_hosts(graph, findings);
  std::vector<LinkEnds> ends;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& link = graph.links[i];
    findings.about(Subject::graph_link, i);
    find_in_link(link, vertices, findings);
    const auto from = vertices.find(link.from), to = vertices.find(link.to);
    if (from == vertices.end() || to == vertices.end()) continue;
    ends.push_back({from->second, to->second});
    if (!link.one_way) ends.push_back({to->second, from->second});
  }
  if (findings.has_errors()) return;
  const auto name = [&](VertexIndex device) {
    return graph.devices[static_cast<std::size_t>(device)].name;
  };
  for (const Cut& cut : cuts(static_cast<VertexIndex>(vertices.size()),
                             static_cast<VertexIndex>(graph.devices.size()), ends)) {
    findings.about(Subject::graph_device, static_cast<std::size_t>(std::max(cut.from, cut.to)));
    findings.error(fmt::format("no path leads from '{}' to '{}'", name(cut.from), name(cut.to)),
                   "every device has to reach every other");
  }
  std::vector<bool> is_used(vertices.size());
  for (const LinkEnds& e : ends) {
    is_used[static_cast<std::size_t>(e.from)] = is_used[static_cast<std::size_t>(e.to)] = true;
  }
  findings.about(Subject::cluster);
  for (const std::string& name_of_switch : graph.switches) {
    if (is_used[static_cast<std::size_t>(vertices.at(name_of_switch))]) continue;
    findings.warning(fmt::format("no link reaches switch '{}'", name_of_switch));
  }
}

}  // namespace topology
