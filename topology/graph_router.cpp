// Shortest routes on an arbitrary graph, by breadth-first search from each target.
#include "topology/graph_router.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "sim/base/invariant.h"
#include "topology/network.h"

namespace topology {

namespace {

using Edge = boost::property<boost::edge_index_t, LinkIndex>;
using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                      boost::no_property, Edge>;

Digraph digraph(VertexIndex vertex_count, const std::vector<LinkEnds>& ends) {
  Digraph graph(static_cast<std::size_t>(vertex_count));
  for (std::size_t link = 0; link < ends.size(); ++link) {
    boost::add_edge(static_cast<std::size_t>(ends[link].from),
                    static_cast<std::size_t>(ends[link].to), static_cast<LinkIndex>(link), graph);
  }
  return graph;
}

// Vertices that can be reached from `start`, nearest first.
template <class AnyGraph>
std::vector<std::size_t> search(const AnyGraph& graph, std::size_t start) {
  struct Recorder : boost::default_bfs_visitor {
    explicit Recorder(std::vector<std::size_t>& found) : found_(&found) {}
    void discover_vertex(std::size_t vertex, const AnyGraph&) { found_->push_back(vertex); }
    std::vector<std::size_t>* found_;
  };
  std::vector<std::size_t> found;
  boost::breadth_first_search(graph, start, boost::visitor(Recorder(found)));
  return found;
}

// Distance to one target. Latencies are compared in whole picoseconds, so that sums in another
// order are still equal.
struct Distance {
  std::int32_t links = 0;
  std::int64_t picoseconds = 0;
  auto operator<=>(const Distance&) const = default;
};
using Tree = std::vector<std::optional<Distance>>;  // [vertex]; none where no path leads there

// The capacity that the shares of a route leave to one flow.
BytesPerSecond route_capacity(const GraphData& data, const std::vector<LinkShare>& links) {
  BytesPerSecond least = data.link(links.front().link).capacity / links.front().share;
  for (const LinkShare& l : links) least = std::min(least, data.link(l.link).capacity / l.share);
  return least;
}

class GraphRouter : public Router {
 public:
  GraphRouter(const GraphData& data, Fabric::Routing routing)
      : data_(data),
        routing_(routing),
        graph_(digraph(data.vertex_of_switch(data.switches.size()), data.ends)) {
    for (const Link& link : data.links) {
      picoseconds_.push_back(std::llround(link.latency.value() * 1e12));
    }
  }

  Route route(DeviceIndex source, DeviceIndex target, std::uint64_t flow) const override {
    const auto out = only_link(source, /*is_out=*/true);
    const auto in = only_link(target, /*is_out=*/false);
    const VertexIndex from = out ? data_.ends[static_cast<std::size_t>(*out)].to : source;
    const VertexIndex to = in ? data_.ends[static_cast<std::size_t>(*in)].from : target;
    Route route;
    if (out) route.links.push_back({*out, 1});
    {
      const std::lock_guard lock(mutex_);
      if (routing_ == Fabric::Routing::sprayed) {
        append_sprayed(from, to, route);
      } else {
        const std::uint64_t seed = mixed(mixed(flow, static_cast<std::uint64_t>(source)),
                                         static_cast<std::uint64_t>(target));
        append_hashed(from, to, seed, route);
      }
    }
    if (out) route.latency += data_.link(*out).latency;
    if (in) {
      route.links.push_back({*in, 1});
      route.latency += data_.link(*in).latency;
    }
    route.capacity = route_capacity(data_, route.links);
    route.inside_host = data_.device(source).host == data_.device(target).host;
    return route;
  }

 private:
  struct Sprayed {
    std::vector<LinkShare> links;
    Seconds latency;
  };

  // The only link out of (into) a device, where that leads to (comes from) a switch: routes of
  // devices on one switch then share what lies beyond.
  std::optional<LinkIndex> only_link(DeviceIndex device, bool is_out) const {
    const auto vertex = static_cast<std::size_t>(device);
    const auto only = [&](auto range) -> std::optional<LinkIndex> {
      const LinkIndex link = boost::get(boost::edge_index, graph_, *range.first);
      const LinkEnds ends = data_.ends[static_cast<std::size_t>(link)];
      const auto peer = static_cast<std::size_t>(is_out ? ends.to : ends.from);
      return peer < data_.devices.size() ? std::nullopt : std::optional(link);
    };
    if (is_out) {
      if (boost::out_degree(vertex, graph_) != 1) return std::nullopt;
      return only(boost::out_edges(vertex, graph_));
    }
    if (boost::in_degree(vertex, graph_) != 1) return std::nullopt;
    return only(boost::in_edges(vertex, graph_));
  }

  const Tree& tree(VertexIndex target) const {
    const auto known = trees_.find(target);
    if (known != trees_.end()) return known->second;
    if (trees_.size() * picoseconds_.size() > tree_entries_max) trees_.clear();
    Tree& distances = trees_[target];
    distances.resize(boost::num_vertices(graph_));
    const auto order = search(boost::make_reverse_graph(graph_), static_cast<std::size_t>(target));
    distances[order.front()] = Distance{};
    for (std::size_t i = 1; i < order.size(); ++i) {
      std::optional<Distance> best;
      for (auto [e, end] = boost::out_edges(order[i], graph_); e != end; ++e) {
        const auto through = distance_over(*e, distances);
        if (through && (!best || *through < *best)) best = through;
      }
      distances[order[i]] = best;
    }
    return distances;
  }

  // None where its end does not lead to the target.
  std::optional<Distance> distance_over(Digraph::edge_descriptor edge,
                                        const Tree& distances) const {
    const std::optional<Distance>& next = distances[boost::target(edge, graph_)];
    if (!next) return std::nullopt;
    const LinkIndex link = boost::get(boost::edge_index, graph_, edge);
    return Distance{next->links + 1,
                    next->picoseconds + picoseconds_[static_cast<std::size_t>(link)]};
  }

  // Links of shortest paths that leave a vertex, in the order they were written.
  std::vector<LinkIndex> next_links(std::size_t vertex, const Tree& distances) const {
    std::vector<LinkIndex> result;
    for (auto [e, end] = boost::out_edges(vertex, graph_); e != end; ++e) {
      if (distance_over(*e, distances) != distances[vertex]) continue;
      result.push_back(boost::get(boost::edge_index, graph_, *e));
    }
    return result;
  }

  void append_sprayed(VertexIndex from, VertexIndex to, Route& route) const {
    const std::uint64_t key =
        (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
    auto known = sprayed_.find(key);
    if (known == sprayed_.end()) {
      if (sprayed_links_ > sprayed_links_max) {
        sprayed_.clear();
        sprayed_links_ = 0;
      }
      known = sprayed_.emplace(key, spray(from, to)).first;
      sprayed_links_ += known->second.links.size();
    }
    route.links.insert(route.links.end(), known->second.links.begin(), known->second.links.end());
    route.latency += known->second.latency;
  }

  Sprayed spray(VertexIndex from, VertexIndex to) const {
    const Tree& distances = tree(to);
    const std::optional<Distance>& distance = distances[static_cast<std::size_t>(from)];
    if (!distance) sim::bug("no path in a connected graph");
    Sprayed result;
    result.latency = Seconds(static_cast<double>(distance->picoseconds) * 1e-12);
    std::map<std::size_t, double> level{{static_cast<std::size_t>(from), 1.0}};
    while (level.size() > 1 || level.begin()->first != static_cast<std::size_t>(to)) {
      std::map<std::size_t, double> next_level;
      for (const auto& [vertex, share] : level) {
        const std::vector<LinkIndex> links = next_links(vertex, distances);
        sim::invariant(!links.empty(), "no path in a connected graph");
        const double part = share / static_cast<double>(links.size());
        for (const LinkIndex link : links) {
          result.links.push_back({link, part});
          next_level[static_cast<std::size_t>(data_.ends[static_cast<std::size_t>(link)].to)] +=
              part;
        }
      }
      level = std::move(next_level);
    }
    return result;
  }

  void append_hashed(VertexIndex from, VertexIndex to, std::uint64_t seed, Route& route) const {
    const Tree& distances = tree(to);
    while (from != to) {
      const auto links = next_links(static_cast<std::size_t>(from), distances);
      sim::invariant(!links.empty(), "no path in a connected graph");
      const LinkIndex link = links[mixed(seed, static_cast<std::uint64_t>(from)) % links.size()];
      route.links.push_back({link, 1});
      route.latency += data_.link(link).latency;
      from = data_.ends[static_cast<std::size_t>(link)].to;
    }
  }

  static constexpr std::size_t tree_entries_max = std::size_t{1} << 23;
  static constexpr std::size_t sprayed_links_max = std::size_t{1} << 23;

  const GraphData& data_;
  const Fabric::Routing routing_;
  const Digraph graph_;
  std::vector<std::int64_t> picoseconds_;  // [link]
  mutable std::mutex mutex_;               // guards what was found before
  mutable std::map<VertexIndex, Tree> trees_;
  mutable std::unordered_map<std::uint64_t, Sprayed> sprayed_;
  mutable std::size_t sprayed_links_ = 0;
};

}  // namespace

std::unique_ptr<Router> graph_router(const GraphData& data, Fabric::Routing routing) {
  return std::make_unique<GraphRouter>(data, routing);
}

// If device 0 reaches every device and is reached by every device, all reach all.
std::vector<Cut> cuts(VertexIndex vertex_count, VertexIndex device_count,
                      const std::vector<LinkEnds>& ends) {
  const Digraph graph = digraph(vertex_count, ends);
  const auto missing = [&](const std::vector<std::size_t>& found) -> std::optional<VertexIndex> {
    std::vector<bool> is_found(static_cast<std::size_t>(vertex_count));
    for (const std::size_t vertex : found) is_found[vertex] = true;
    for (VertexIndex v = 0; v < device_count; ++v) {
      if (!is_found[static_cast<std::size_t>(v)]) return v;
    }
    return std::nullopt;
  };
  std::vector<Cut> result;
  if (device_count == 0) return result;
  if (const auto v = missing(search(graph, 0))) result.push_back({0, *v});
  if (const auto v = missing(search(boost::make_reverse_graph(graph), 0))) {
    result.push_back({*v, 0});
  }
  return result;
}

}  // namespace topology
