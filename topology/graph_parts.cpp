// Compares a pattern with every name of a graph, where names say nothing of what is where.
#include "topology/graph_parts.h"

#include <algorithm>
#include <numeric>

namespace topology {

std::vector<DeviceIndex> GraphParts::devices(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<DeviceIndex> result;
  for (std::size_t d = 0; d < data_.devices.size(); ++d) {
    const auto host = static_cast<std::size_t>(data_.devices[d].host);
    if (pattern.matches(data_.hosts[host]) || pattern.matches_part_of(data_.device_names[d])) {
      result.push_back(static_cast<DeviceIndex>(d));
    }
  }
  return result;
}

std::vector<LinkIndex> GraphParts::links_at(VertexIndex vertex) const {
  std::call_once(is_indexed_, [&] {
    first_at_.assign(data_.devices.size() + data_.switches.size() + 1, 0);
    for (const LinkEnds& ends : data_.ends) {
      ++first_at_[static_cast<std::size_t>(ends.from) + 1];
      ++first_at_[static_cast<std::size_t>(ends.to) + 1];
    }
    std::partial_sum(first_at_.begin(), first_at_.end(), first_at_.begin());
    links_at_.resize(first_at_.back());
    std::vector<std::size_t> next = first_at_;
    for (std::size_t link = 0; link < data_.ends.size(); ++link) {
      for (const VertexIndex end : {data_.ends[link].from, data_.ends[link].to}) {
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

std::vector<LinkIndex> GraphParts::links(const std::string& part) const {
  const PartPattern pattern(part);
  std::vector<LinkIndex> result;
  const auto add_at = [&](VertexIndex vertex) {
    const std::vector<LinkIndex> own = links_at(vertex);
    result.insert(result.end(), own.begin(), own.end());
  };
  for (const DeviceIndex device : devices(part)) add_at(device);
  for (std::size_t i = 0; i < data_.switches.size(); ++i) {
    if (pattern.matches_part_of(data_.switches[i])) add_at(data_.vertex_of_switch(i));
  }
  for (std::size_t i = 0; i < data_.links.size(); ++i) {
    if (pattern.matches_part_of(data_.link_names[i])) result.push_back(static_cast<LinkIndex>(i));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace topology
