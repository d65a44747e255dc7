// Shortest routes found on an arbitrary graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topology/graph_data.h"

namespace topology {

class Router {
 public:
  virtual ~Router() = default;
  virtual Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const = 0;
};

// REQUIRES: every device can reach every other. Keeps a reference to the data.
std::unique_ptr<Router> graph_router(const GraphData& data, Fabric::Routing routing);

// Two vertices where no path leads from the first to the second, if there are such; both among the
// first `device_count` vertices.
struct Cut {
  VertexIndex from = 0, to = 0;
};
std::vector<Cut> cuts(VertexIndex vertex_count, VertexIndex device_count,
                      const std::vector<LinkEnds>& ends);

}  // namespace topology
