// A cluster written as an arbitrary graph: its network, and shortest routes found on it.
#pragma once

#include <memory>

#include "topology/network.h"

namespace topology {

// Appends everything to an empty network.
void add_graph(const Graph& graph, Network& network);

// REQUIRES: every device can reach every other.
std::unique_ptr<Router> graph_router(const Network& network, Fabric::Routing routing);

// Two vertices where no path leads from the first to the second, if there are such; both among the
// first `device_count` vertices.
struct Cut {
  VertexIndex from = 0, to = 0;
};
std::vector<Cut> cuts(VertexIndex vertex_count, VertexIndex device_count,
                      const std::vector<LinkEnds>& ends);

}  // namespace topology
