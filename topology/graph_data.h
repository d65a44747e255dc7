// Devices, switches and links of an arbitrary graph, with their names.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace topology {

struct GraphData {
  std::vector<Device> devices;  // views into the graph
  std::vector<std::string> device_names;
  std::vector<std::string> switches;  // names of the vertices after the devices
  std::vector<Link> links;
  std::vector<std::string> link_names;
  std::vector<LinkEnds> ends;  // ends[link]
  std::vector<std::string> hosts;
  std::vector<DeviceIndex> devices_by_host;  // host after host
  std::vector<std::size_t> first_device;     // [host], into devices_by_host; one more at the end

  VertexIndex vertex_of_switch(std::size_t index) const {
    return static_cast<VertexIndex>(devices.size() + index);
  }
  const Link& link(LinkIndex index) const { return links[static_cast<std::size_t>(index)]; }
  const Device& device(DeviceIndex index) const { return devices[static_cast<std::size_t>(index)]; }
};

// The graph must outlive what is returned.
GraphData graph_data(const Graph& graph);

}  // namespace topology
