// Fabrics whose switches are all routers with hosts: torus and dragonfly.
#include "topology/direct_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "topology/fabric_layout.h"

namespace topology {
namespace {

// Which of the pairs (0,1), (0,2), (1,2), (0,3), ... REQUIRES: low < high.
std::int64_t pair_number(std::int64_t low, std::int64_t high) {
  return high * (high - 1) / 2 + low;
}

struct Two {
  std::int64_t low, high;
};
Two pair_of(std::int64_t number) {
  std::int64_t high = 1;
  while (pair_number(0, high + 1) <= number) ++high;
  return {number - pair_number(0, high), high};
}

constexpr const char* axes[] = {"x", "y", "z"};

}  // namespace

DirectLayout::DirectLayout(const Fabric& fabric)
    : dimensions_(fabric.dimensions.begin(), fabric.dimensions.end()),
      groups_(fabric.groups),
      a_(fabric.routers_per_group),
      global_links_(fabric.global_links),
      hosts_per_router_(fabric.hosts_per_group),
      is_hashed_(fabric.routing == Fabric::Routing::hashed),
      link_{LinkKind::fabric, fabric.link, fabric.latency} {
  if (fabric.kind == Fabric::Kind::dragonfly) {
    dimensions_.clear();
    routers_ = groups_ * a_;
    pair_count_ = groups_ * pair_number(0, a_) + pair_number(0, groups_);
    return;
  }
  for (const std::int64_t n : dimensions_) routers_ *= n;
  pair_count_ = routers_ * static_cast<std::int64_t>(dimensions_.size());
}

std::int64_t DirectLayout::stride(std::size_t dimension) const {
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < dimension; ++d) stride *= dimensions_[d];
  return stride;
}

std::int64_t DirectLayout::neighbour(std::int64_t router, std::size_t dimension,
                                     bool forwards) const {
  const std::int64_t n = dimensions_[dimension], at = coordinate(router, dimension);
  const std::int64_t to = (at + (forwards ? 1 : n - 1)) % n;
  return router + (to - at) * stride(dimension);
}

// The cable of a router leads forwards; back goes its other direction.
std::int64_t DirectLayout::torus_link(std::int64_t router, std::size_t dimension,
                                      bool forwards) const {
  const std::int64_t owner = forwards ? router : neighbour(router, dimension, false);
  const auto dimensions = static_cast<std::int64_t>(dimensions_.size());
  const std::int64_t pair = owner * dimensions + static_cast<std::int64_t>(dimension);
  return 2 * pair + (forwards ? 0 : 1);
}

std::int64_t DirectLayout::local_link(std::int64_t from, std::int64_t to) const {
  const std::int64_t low = std::min(from, to) % a_, high = std::max(from, to) % a_;
  const std::int64_t pair = from / a_ * pair_number(0, a_) + pair_number(low, high);
  return 2 * pair + (from < to ? 0 : 1);
}

std::int64_t DirectLayout::global_link(std::int64_t from_group, std::int64_t to_group) const {
  const std::int64_t low = std::min(from_group, to_group), high = std::max(from_group, to_group);
  const std::int64_t pair = groups_ * pair_number(0, a_) + pair_number(low, high);
  return 2 * pair + (from_group < to_group ? 0 : 1);
}

LinkEnds DirectLayout::ends(std::int64_t number) const {
  const std::int64_t pair = number / 2;
  std::int64_t from = 0, to = 0;
  if (!dimensions_.empty()) {
    const auto dimensions = static_cast<std::int64_t>(dimensions_.size());
    from = pair / dimensions;
    to = neighbour(from, static_cast<std::size_t>(pair % dimensions), true);
  } else if (pair < groups_ * pair_number(0, a_)) {
    const std::int64_t group = pair / pair_number(0, a_);
    const Two two = pair_of(pair % pair_number(0, a_));
    from = group * a_ + two.low;
    to = group * a_ + two.high;
  } else {
    const Two two = pair_of(pair - groups_ * pair_number(0, a_));
    from = gateway(two.low, two.high);
    to = gateway(two.high, two.low);
  }
  if (number % 2 == 1) std::swap(from, to);
  return {static_cast<VertexIndex>(from), static_cast<VertexIndex>(to)};
}

std::string DirectLayout::switch_name(std::int64_t number) const {
  return fmt::format("router{}", number);
}

// In a torus by direction: two routers along a dimension of 2 are joined twice.
std::string DirectLayout::link_name(std::int64_t number) const {
  const LinkEnds e = ends(number);
  if (dimensions_.empty()) return fmt::format("router{}.router{}", e.from, e.to);
  const auto dimension = static_cast<std::size_t>(number / 2) % dimensions_.size();
  return fmt::format("router{}.{}{}", e.from, axes[dimension], number % 2 == 0 ? "+" : "-");
}

std::int64_t DirectLayout::walk(std::int64_t from, std::size_t dimension, std::int64_t steps,
                                bool forwards, Hop like, std::vector<Hop>& hops) const {
  for (std::int64_t i = 0; i < steps; ++i) {
    like.link = torus_link(from, dimension, forwards);
    hops.push_back(like);
    from = neighbour(from, dimension, forwards);
  }
  return from;
}

void DirectLayout::route_torus(std::int64_t source, std::int64_t target, std::uint64_t hash,
                               std::vector<Hop>& hops) const {
  std::int64_t at = source;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::int64_t n = dimensions_[d];
    const std::int64_t ahead = (coordinate(target, d) - coordinate(source, d) + n) % n;
    if (ahead == 0) continue;
    if (2 * ahead == n && !is_hashed_) {
      walk(at, d, ahead, true, {.is_half = true}, hops);
      at = walk(at, d, ahead, false, {.is_half = true, .is_beside = true}, hops);
      continue;
    }
    const bool forwards = 2 * ahead == n ? (hash >> (d + 1)) % 2 == 0 : 2 * ahead < n;
    at = walk(at, d, forwards ? ahead : n - ahead, forwards, {}, hops);
  }
}

void DirectLayout::route_dragonfly(std::int64_t source, std::int64_t target,
                                   std::vector<Hop>& hops) const {
  const std::int64_t from = source / a_, to = target / a_;
  if (from == to) {
    hops.push_back({local_link(source, target)});
    return;
  }
  const std::int64_t out = gateway(from, to), in = gateway(to, from);
  if (source != out) hops.push_back({local_link(source, out)});
  hops.push_back({global_link(from, to)});
  if (in != target) hops.push_back({local_link(in, target)});
}

void DirectLayout::route(std::int64_t source, std::int64_t target, std::uint64_t hash,
                         std::vector<Hop>& hops) const {
  if (source == target) return;
  if (dimensions_.empty()) return route_dragonfly(source, target, hops);
  route_torus(source, target, hash, hops);
}

// Routes of others pass too.
BytesPerSecond DirectLayout::capacity_below(std::int64_t /*number*/, BytesPerSecond /*nic*/) const {
  return BytesPerSecond(std::numeric_limits<double>::infinity());
}

std::vector<std::int64_t> DirectLayout::switches_of_part(const PartPattern& pattern) const {
  std::vector<std::int64_t> result;
  pattern.each_number("router", 0, routers_, [&](std::int64_t router) {
    if (pattern.matches_part_of(switch_name(router))) result.push_back(router);
  });
  return result;
}

std::vector<std::int64_t> DirectLayout::links_named(const PartPattern& pattern) const {
  std::vector<std::int64_t> result;
  pattern.each_number("router", 0, routers_, [&](std::int64_t router) {
    for (const std::int64_t link : links_at(router)) {
      if (ends(link).from == router && pattern.matches_part_of(link_name(link))) {
        result.push_back(link);
      }
    }
  });
  return result;
}

std::vector<std::int64_t> DirectLayout::links_at(std::int64_t number) const {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t link) {
    result.push_back(link);
    result.push_back(link ^ 1);
  };
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    add(torus_link(number, d, true));
    add(torus_link(number, d, false));
  }
  if (!dimensions_.empty()) return result;
  const std::int64_t group = number / a_;
  for (std::int64_t other = group * a_; other < (group + 1) * a_; ++other) {
    if (other != number) add(local_link(number, other));
  }
  for (std::int64_t other = 0; other < groups_; ++other) {
    if (other != group && gateway(group, other) == number) add(global_link(group, other));
  }
  return result;
}

std::unique_ptr<const FabricShape> fabric_shape(const Fabric& fabric, std::int64_t hosts,
                                                int nics) {
  if (fabric.is_direct()) return std::make_unique<DirectLayout>(fabric);
  return std::make_unique<FabricLayout>(fabric, hosts, nics);
}

}  // namespace topology
