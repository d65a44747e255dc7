// Partition refinement: which vertices of a labelled graph nothing tells apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sim::fold {

using Vertex = std::int32_t;
using Class = std::int32_t;

// A vertex sees the classes of its neighbours through labelled edges. `also` makes an edge to a
// pair of vertices; -1: to one.
struct Sight {
  Vertex vertex = 0, also = -1;
  std::uint32_t label = 0;
  std::int32_t count = 1;
};

struct SightGraph {
  std::vector<std::uint32_t> colour;  // [vertex] what tells vertices apart from the start
  // Whether it sees how many neighbours of a class there are, or only whether there is one.
  std::vector<char> counts;               // [vertex]
  std::vector<std::int64_t> first = {0};  // [vertex], into sights; one more at the end
  std::vector<Sight> sights;

  // Adds a vertex that sees nothing yet; sights are added to the last vertex.
  void add_vertex(std::uint32_t vertex_colour, bool is_counting) {
    colour.push_back(vertex_colour);
    counts.push_back(is_counting ? 1 : 0);
    first.push_back(first.back());
  }
  void add_sight(const Sight& sight) {
    sights.push_back(sight);
    ++first.back();
  }
  std::span<const Sight> sights_of(Vertex v) const {
    const std::size_t i = static_cast<std::size_t>(v);
    return std::span(sights).subspan(static_cast<std::size_t>(first[i]),
                                     static_cast<std::size_t>(first[i + 1] - first[i]));
  }
};

struct Partition {
  std::vector<Class> class_of;  // [vertex], numbered in the order of their lowest vertices
  std::vector<Vertex> lowest;   // [class]
};

// The coarsest partition, within colours, in which members of a class see the same: the same set of
// (label, class) pairs, or for counting vertices the same number of each.
// Classes are split by a hash of what they see; at the end everything is compared in full, and a
// collision is mended. `hash_bits` below 64 makes collisions likely, for tests.
// O(edges log vertices) where few large classes remain.
// Source: Paige and Tarjan, SIAM J. Comput. 16(6), 1987, section 3 (largest part keeps its name).
Partition refine(const SightGraph& graph, int hash_bits = 64);

}  // namespace sim::fold
