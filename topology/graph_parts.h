// Finds the links and devices of an arbitrary graph that a name of a part stands for.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "topology/graph_data.h"
#include "topology/part_pattern.h"

namespace topology {

class GraphParts {
 public:
  explicit GraphParts(const GraphData& data) : data_(data) {}
  std::vector<LinkIndex> links(const std::string& part) const;
  std::vector<DeviceIndex> devices(const std::string& part) const;

 private:
  std::vector<LinkIndex> links_at(VertexIndex vertex) const;

  const GraphData& data_;
  mutable std::once_flag is_indexed_;
  mutable std::vector<std::size_t> first_at_;  // [vertex], into links_at_; one more at the end
  mutable std::vector<LinkIndex> links_at_;    // that start or end there, ascending
};

}  // namespace topology
