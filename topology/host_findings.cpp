// What is wrong with host groups and the fabric between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "sim/base/units.h"
#include "topology/findings.h"
#include "topology/host_network.h"

namespace topology {

namespace {

using Subject = Findings::Subject;

constexpr std::int64_t devices_max = std::int64_t{1} << 27;
constexpr std::int64_t per_host_max = 1024;

void find_in_names(const std::vector<HostGroup>& groups, Findings& findings) {
  constexpr std::array reserved = {"leaf", "spine", "pod", "core", "switch", "domain", "router"};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string& name = groups[i].name;
    findings.about(Subject::host_group, i);
    if (name.empty()) {
      findings.error("a group of hosts has no name", "", "write 'name: h'");
      continue;
    }
    if (name.find_first_of(".[]* ") != std::string::npos) {
      findings.error(fmt::format("'{}' cannot be the name of hosts", name),
                     "'.', '[', ']', '*' and blanks have a meaning in names of parts");
    }
    const auto is_of_switches = [&](std::string_view word) {
      return name.starts_with(word) &&
             name.find_first_not_of("0123456789", word.size()) == std::string::npos;
    };
    if (std::any_of(reserved.begin(), reserved.end(), is_of_switches)) {
      findings.error(fmt::format("'{}' cannot be the name of hosts", name),
                     "switches have that name");
    }
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const std::string& other = groups[j].name;
      if (j < i && other == name) {
        findings.error(fmt::format("two groups of hosts have the name '{}'", name));
      }
      if (i == j || other.empty() || other.size() >= name.size() || !name.starts_with(other)) {
        continue;
      }
      if (name.find_first_not_of("0123456789", other.size()) == std::string::npos) {
        findings.error(fmt::format("hosts of '{}' and of '{}' have equal names", name, other),
                       fmt::format("'{}' + 0 and '{}' + {}0 are both '{}0'", name, other,
                                   name.substr(other.size()), name));
      }
    }
  }
}

void find_in_scale_up(const HostGroup& group, Findings& findings) {
  const ScaleUp& scale_up = group.type.scale_up;
  findings.check_count("scale_up.domain_hosts", scale_up.domain_hosts, 1, devices_max);
  if (scale_up.domain_hosts < 1) return;
  if (scale_up.kind == ScaleUp::Kind::none) {
    if (scale_up.domain_hosts > 1) {
      findings.error(
          fmt::format("scale_up.domain_hosts is {}, but the kind is none", scale_up.domain_hosts),
          "no link joins the hosts of a domain");
    }
    return;
  }
  findings.check_positive("scale_up.per_device", scale_up.per_device.value(), "450 GB/s");
  findings.check_not_negative("scale_up.latency", scale_up.latency.value());
  if (group.count > 0 && group.count % scale_up.domain_hosts != 0) {
    const std::int64_t domains = group.count / scale_up.domain_hosts;
    findings.error(fmt::format("{} hosts cannot form scale-up domains of {} hosts", group.count,
                               scale_up.domain_hosts),
                   fmt::format("{} = {} x {} + {}", group.count, domains, scale_up.domain_hosts,
                               group.count % scale_up.domain_hosts),
                   fmt::format("write 'count: {}'", (domains + 1) * scale_up.domain_hosts));
  }
}

void find_in_nics(const HostType& type, const Fabric& fabric, Findings& findings) {
  if (fabric.kind == Fabric::Kind::none || type.nics < 1 || type.devices < 1) return;
  findings.check_positive("nic", type.nic.value(), "400 Gbit/s");
  if (type.nics > type.devices && type.nics % type.devices != 0) {
    findings.error(fmt::format("{} NICs cannot be spread over {} devices", type.nics, type.devices),
                   "every device has as many NICs as the others");
  }
  if (type.nics < type.devices && type.devices % type.nics != 0) {
    findings.warning(fmt::format("{} NICs serve {} devices unevenly", type.nics, type.devices),
                     fmt::format("{} / {} is not a whole number", type.devices, type.nics));
  }
  if (type.pcie.value() > 0 && type.nic > type.pcie) {
    findings.warning(
        fmt::format("a NIC is faster than its PCIe slot: {} and {}", sim::to_text(type.nic),
                    sim::to_text(type.pcie)),
        fmt::format("{} / {} = {:.3g}: the NIC delivers at most that share of its rate",
                    sim::to_text(type.pcie), sim::to_text(type.nic), type.pcie / type.nic));
  }
  if (fabric.link.value() > 0 && type.nic > fabric.link) {
    findings.warning(fmt::format("a NIC is faster than its switch port: {} and {}",
                                 sim::to_text(type.nic), sim::to_text(fabric.link)),
                     "it runs at the lower rate");
  }
}

void find_in_type(const HostGroup& group, const Fabric& fabric, Findings& findings) {
  const HostType& type = group.type;
  findings.check_count("count", group.count, 1, devices_max);
  findings.check_count("devices", type.devices, 1, per_host_max);
  findings.check_count("nics", type.nics, 0, per_host_max);
  findings.check_count("devices_per_pcie_switch", type.devices_per_pcie_switch, 1, per_host_max);
  findings.check_count("sockets", type.sockets, 1, per_host_max);
  findings.check_count("cores", type.cores, 0, devices_max);
  findings.check_not_negative("pcie_latency", type.pcie_latency.value());
  findings.check_not_negative("socket_link", type.socket_link.value());
  findings.check_not_negative("memory", type.memory.value());
  findings.check_not_negative("memory_rate", type.memory_rate.value());
  findings.check_not_negative("optimizer_rate", type.optimizer_rate.value());
  findings.check_not_negative("power", type.power_watts);
  find_in_scale_up(group, findings);
  find_in_nics(type, fabric, findings);
  const bool peers_by_pcie = type.devices > 1 && type.scale_up.kind == ScaleUp::Kind::none;
  if (peers_by_pcie || (type.nics > 0 && fabric.kind != Fabric::Kind::none)) {
    findings.check_positive("pcie", type.pcie.value(), "64 GB/s");
  } else {
    findings.check_not_negative("pcie", type.pcie.value());
  }
}

void find_in_fabric(const Fabric& fabric, Findings& findings) {
  findings.about(Subject::fabric);
  if (fabric.kind == Fabric::Kind::none) return;
  findings.check_count("hosts_per_group", fabric.hosts_per_group, 1, devices_max);
  findings.check_count("leaves_per_pod", fabric.leaves_per_pod, 0, devices_max);
  findings.check_positive("link", fabric.link.value(), "400 Gbit/s");
  findings.check_not_negative("latency", fabric.latency.value());
  if (!std::isfinite(fabric.oversubscription) || fabric.oversubscription < 1) {
    findings.error(
        fmt::format("oversubscription is {:.4g}, the least is 1", fabric.oversubscription),
        "it is the down capacity of a leaf over its up capacity");
  }
}

constexpr int routers_max = 1 << 20;

// Returns the routers, or none where a number is wrong.
std::int64_t routers_of_torus(const Fabric& fabric, Findings& findings) {
  if (fabric.dimensions.size() < 2 || fabric.dimensions.size() > 3) {
    findings.error(fmt::format("a torus of {} dimensions", fabric.dimensions.size()),
                   "it has 2 or 3", "write 'dimensions: [4, 4, 4]'");
    return 0;
  }
  std::int64_t routers = 1;
  for (const int n : fabric.dimensions) {
    findings.check_count("dimensions", n, 2, 4096);
    routers *= std::clamp(n, 1, 4096);
  }
  return routers;
}

std::int64_t routers_of_dragonfly(const Fabric& fabric, Findings& findings) {
  findings.check_count("groups", fabric.groups, 2, 65536);
  findings.check_count("routers_per_group", fabric.routers_per_group, 1, 4096);
  findings.check_count("global_links", fabric.global_links, 1, 4096);
  if (findings.has_errors()) return 0;
  const std::int64_t ports = std::int64_t{fabric.routers_per_group} * fabric.global_links;
  if (ports < fabric.groups - 1) {
    findings.error(
        fmt::format("{} groups, but a group has cables to {} others", fabric.groups, ports),
        fmt::format("routers_per_group {} x global_links {} = {}; every two groups are joined",
                    fabric.routers_per_group, fabric.global_links, ports),
        fmt::format("write 'global_links: {}'",
                    (fabric.groups - 2) / fabric.routers_per_group + 1));
  }
  return std::int64_t{fabric.groups} * fabric.routers_per_group;
}

void find_in_routers(const Fabric& fabric, std::int64_t hosts, Findings& findings) {
  findings.about(Subject::fabric);
  if (!fabric.is_direct()) return;
  const bool is_torus = fabric.kind == Fabric::Kind::torus;
  const std::int64_t routers =
      is_torus ? routers_of_torus(fabric, findings) : routers_of_dragonfly(fabric, findings);
  if (findings.has_errors()) return;
  findings.check_count("routers", routers, 1, routers_max);
  if (routers * fabric.hosts_per_group == hosts) return;
  findings.error(
      fmt::format("{} routers x hosts_per_group {} = {} hosts, but the cluster has {}", routers,
                  fabric.hosts_per_group, routers * fabric.hosts_per_group, hosts),
      is_torus ? "the routers are the product of the dimensions"
               : "the routers are groups x routers_per_group");
}

// Hosts of several scale-up domains meet on the fabric only.
void find_unconnected(const Description& description, Findings& findings) {
  const std::vector<HostGroup>& groups = description.hosts;
  const auto domains = [](const HostGroup& group) {
    const bool is_joined = group.type.scale_up.kind != ScaleUp::Kind::none;
    return is_joined ? group.count / group.type.scale_up.domain_hosts : group.count;
  };
  std::int64_t total = 0;
  for (const HostGroup& group : groups) total += domains(group);
  if (total < 2) return;
  if (description.fabric.kind == Fabric::Kind::none) {
    const bool is_in_first = domains(groups.front()) > 1;
    const HostGroup& other = groups[is_in_first ? 0 : 1];
    const int number = is_in_first ? groups.front().count / domains(groups.front()) : 0;
    findings.about(Subject::fabric);
    findings.error(
        fmt::format("no link joins {}0 and {}{}", groups.front().name, other.name, number),
        "the cluster has several hosts and no fabric",
        "write 'fabric: {kind: leaf-spine, link: 400 Gbit/s, latency: 0.6 us}'");
    return;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].type.nics > 0) continue;
    findings.about(Subject::host_group, i);
    findings.error(fmt::format("hosts '{}' have no NICs, so nothing reaches them", groups[i].name),
                   "", "write 'nics: 8' and 'nic: 400 Gbit/s' in the host type");
  }
}

void find_in_size(const Description& description, Findings& findings) {
  std::int64_t devices = 0;
  for (const HostGroup& group : description.hosts) {
    devices += std::int64_t{group.count} * group.type.devices;
  }
  findings.about(Subject::cluster);
  if (devices > devices_max) {
    findings.error(
        fmt::format("the cluster has {} devices, the most is 2^27 = {}", devices, devices_max));
    return;
  }
  // In floating point: only the size matters, and nothing overflows.
  double links = 0;
  for (const HostGroup& group : description.hosts) {
    const HostLayout layout(group.type, description.fabric.kind != Fabric::Kind::none,
                            description.reaches_host_memory);
    links += static_cast<double>(layout.link_count()) * group.count;
  }
  const auto fabric =
      fabric_shape(description.fabric, hosts_described(description), nics_max(description));
  links += static_cast<double>(fabric->link_count());
  // Vertices need no check: a device counts with at most 3 switches in its host, 4 x 2^27 = 2^29 in
  // all, and switches between hosts are at most 3/4 of the links between them.
  constexpr double most = std::numeric_limits<LinkIndex>::max();
  if (links > most) {
    findings.error(fmt::format("the cluster has {:.3g} links, the most is {:.3g}", links, most), "",
                   "write 'routing: sprayed', or a crossbar instead of a mesh");
    return;
  }
  // Sprayed links of a switch are one link as fast as all of them.
  constexpr double fastest = 9e15;
  for (std::int64_t number = 0; number < fabric->link_count(); number += fabric->link_count() - 1) {
    const double rate = fabric->link(number).capacity.value();
    if (rate < fastest) continue;
    findings.error(fmt::format("the links from one switch up carry {:.3g} TB/s together, the most "
                               "is {:.3g} TB/s",
                               rate * 1e-12, fastest * 1e-12),
                   "", "write fewer hosts_per_group or leaves_per_pod");
    return;
  }
}

}  // namespace

void find_in_hosts(const Description& description, Findings& findings) {
  find_in_names(description.hosts, findings);
  for (std::size_t i = 0; i < description.hosts.size(); ++i) {
    findings.about(Subject::host_group, i);
    find_in_type(description.hosts[i], description.fabric, findings);
  }
  find_in_fabric(description.fabric, findings);
  find_in_routers(description.fabric, hosts_described(description), findings);
  if (findings.has_errors()) return;
  find_unconnected(description, findings);
  find_in_size(description, findings);
}

}  // namespace topology
