// Finds the links and devices that a name of a part stands for.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "topology/network.h"
#include "topology/part_pattern.h"

namespace topology {

class Parts {
 public:
  explicit Parts(const Network& network) : network_(network) {}
  std::vector<LinkIndex> links(const std::string& part) const;
  std::vector<DeviceIndex> devices(const std::string& part) const;

 private:
  // Hosts that may hold the part, or all in an arbitrary graph, where names say nothing.
  std::vector<HostIndex> hosts(const std::string& part) const;
  std::vector<VertexIndex> vertices(const std::string& part) const;
  std::vector<LinkIndex> links_at(VertexIndex vertex) const;
  std::vector<LinkIndex> ports(const std::string& part) const;
  bool is_graph() const { return network_.first_link.empty(); }

  const Network& network_;
  mutable std::once_flag is_indexed_;
  mutable std::vector<std::size_t> first_at_;  // [vertex], into links_at_; one more at the end
  mutable std::vector<LinkIndex> links_at_;    // that start or end there, ascending
};

}  // namespace topology
