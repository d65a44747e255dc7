// Looks up the parts that a pattern names: host by host, then the fabric.
#include "topology/parts.h"

#include <algorithm>
#include <numeric>

namespace topology {

namespace {

// What stands before the first point that is not inside a range: "h[0..3]".
std::string_view first_name(std::string_view part) {
  bool is_range = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '[' || part[i] == ']') is_range = part[i] == '[';
    if (part[i] == '.' && !is_range) return part.substr(0, i);
  }
  return part;
}

}  // namespace

std::vector<HostIndex> Parts::hosts(const std::string& part) const {
  const PartPattern pattern(first_name(part));
  std::vector<HostIndex> result;
  for (std::size_t h = 0; h < network_.hosts.size(); ++h) {
    if (is_graph() || pattern.matches(network_.hosts[h])) {
      result.push_back(static_cast<HostIndex>(h));
    }
  }
  return result;
}

std::vector<DeviceIndex> Parts::devices(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<DeviceIndex> result;
  for (const HostIndex host : hosts(part)) {
    const auto h = static_cast<std::size_t>(host);
    const bool is_all = pattern.matches(network_.hosts[h]);
    for (std::size_t i = network_.first_device[h]; i < network_.first_device[h + 1]; ++i) {
      const DeviceIndex device = network_.devices_by_host[i];
      if (is_all || pattern.matches_part_of(network_.device(device).name)) {
        result.push_back(device);
      }
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<VertexIndex> Parts::vertices(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<VertexIndex> result = devices(part);
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (pattern.matches_part_of(network_.switches[i])) {
        result.push_back(network_.vertex_of_switch(i));
      }
    }
  };
  if (is_graph()) {
    add(0, network_.switches.size());
    return result;
  }
  for (const HostIndex host : hosts(part)) {
    const auto h = static_cast<std::size_t>(host);
    add(network_.first_switch[h], network_.first_switch[h + 1]);
  }
  add(network_.first_switch.back(), network_.switches.size());
  return result;
}

std::vector<LinkIndex> Parts::links_at(VertexIndex vertex) const {
  std::call_once(is_indexed_, [&] {
    first_at_.assign(network_.devices.size() + network_.switches.size() + 1, 0);
    for (const LinkEnds& ends : network_.ends) {
      ++first_at_[static_cast<std::size_t>(ends.from) + 1];
      ++first_at_[static_cast<std::size_t>(ends.to) + 1];
    }
    std::partial_sum(first_at_.begin(), first_at_.end(), first_at_.begin());
    links_at_.resize(first_at_.back());
    std::vector<std::size_t> next = first_at_;
    for (std::size_t link = 0; link < network_.ends.size(); ++link) {
      for (const VertexIndex end : {network_.ends[link].from, network_.ends[link].to}) {
        links_at_[next[static_cast<std::size_t>(end)]++] = static_cast<LinkIndex>(link);
      }
    }
  });
  const auto v = static_cast<std::size_t>(vertex);
  const auto at = [&](std::size_t i) {
    return links_at_.begin() + static_cast<std::ptrdiff_t>(first_at_[i]);
  };
  return {at(v), at(v + 1)};
}

// "leaf3.port5": ports are numbered in the order of the NICs plugged in.
std::vector<LinkIndex> Parts::ports(const std::string& part) const {
  std::vector<LinkIndex> result;
  const std::size_t dot = part.rfind(".port");
  if (dot == std::string::npos || is_graph()) return result;
  const PartPattern leaves(std::string_view(part).substr(0, dot));
  const PartPattern port(std::string_view(part).substr(dot + 1));
  for (std::size_t i = network_.first_switch.back(); i < network_.switches.size(); ++i) {
    if (!leaves.matches(network_.switches[i])) continue;
    const VertexIndex leaf = network_.vertex_of_switch(i);
    int number = 0;
    for (const LinkIndex link : links_at(leaf)) {
      const bool is_out = network_.ends[static_cast<std::size_t>(link)].to == leaf;
      if (network_.link(link).kind != LinkKind::nic || !is_out) continue;
      if (port.matches("port" + std::to_string(number++))) {
        result.push_back(link);
        result.push_back(link + 1);
      }
    }
  }
  return result;
}

std::vector<LinkIndex> Parts::links(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<LinkIndex> result = ports(part);
  for (const VertexIndex vertex : vertices(part)) {
    const std::vector<LinkIndex> own = links_at(vertex);
    result.insert(result.end(), own.begin(), own.end());
  }
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (pattern.matches_part_of(network_.links[i].name)) {
        result.push_back(static_cast<LinkIndex>(i));
      }
    }
  };
  if (is_graph()) {
    add(0, network_.links.size());
  } else {
    for (const HostIndex host : hosts(part)) {
      const auto h = static_cast<std::size_t>(host);
      add(network_.first_link[h], network_.first_link[h + 1]);
    }
    add(network_.first_link.back(), network_.links.size());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace topology
