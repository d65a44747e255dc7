// Fabrics whose switches are all routers with hosts: torus and dragonfly.
//
// Torus: router r has the coordinates r mod n0, r / n0 mod n1, ...; a cable leads from every router
// to the next one along each dimension, round at the end. Routes go along the first dimension
// until the coordinate is right, then along the second, ...; the short way round, and where both
// are equally long half of the bytes each (sprayed) or one way (hashed).
// Dragonfly: routers are numbered group by group. Every two of a group are joined, and every two
// groups by one cable: the cables of a group lead to the groups after it, in order, and start at
// its routers in order, `global_links` at each. Routes: to the router with the cable, over it, to
// the target's router. Sources: Dally and Seitz, Distributed Computing 1, 1986, 187-196
// (dimension order); Kim, Dally, Scott, Abts, ISCA 2008 (dragonfly, minimal routes).
#pragma once

#include "topology/fabric_shape.h"

namespace topology {

class DirectLayout : public FabricShape {
 public:
  // REQUIRES: fabric.is_direct(), with as many routers as the hosts need.
  explicit DirectLayout(const Fabric& fabric);

  std::int64_t leaf_of(std::int64_t host, int /*nic*/) const override {
    return host / hosts_per_router_;
  }
  std::int64_t leaves() const override { return routers_; }
  Plugged plugged(std::int64_t leaf) const override {
    return {leaf * hosts_per_router_, (leaf + 1) * hosts_per_router_, std::nullopt};
  }
  std::int64_t switch_count() const override { return routers_; }
  std::string switch_name(std::int64_t number) const override;
  std::int64_t link_count() const override { return 2 * pair_count_; }
  std::string link_name(std::int64_t number) const override;
  LinkEnds ends(std::int64_t number) const override;
  const Link& link(std::int64_t /*number*/) const override { return link_; }
  int tier(std::int64_t /*number*/) const override { return 1; }
  std::int64_t first_host(std::int64_t number) const override {
    return ends(number).from * hosts_per_router_;
  }
  void route(std::int64_t source, std::int64_t target, std::uint64_t hash,
             std::vector<Hop>& hops) const override;
  bool has_halves() const override { return !dimensions_.empty() && !is_hashed_; }
  std::int64_t hosts_per_group() const override { return 0; }
  std::int64_t hosts_per_pod() const override { return 0; }
  std::int64_t links_per_group() const override { return 0; }
  std::int64_t links_per_pod() const override { return 0; }
  BytesPerSecond capacity_below(std::int64_t number, BytesPerSecond nic) const override;
  bool has_alike_blocks() const override { return false; }
  std::vector<std::int64_t> switches_of_part(const PartPattern& pattern) const override;
  std::vector<std::int64_t> links_named(const PartPattern& pattern) const override;
  std::vector<std::int64_t> links_at(std::int64_t number) const override;

 private:
  std::int64_t stride(std::size_t dimension) const;
  std::int64_t coordinate(std::int64_t router, std::size_t dimension) const {
    return router / stride(dimension) % dimensions_[dimension];
  }
  // One step along a dimension, forwards or backwards.
  std::int64_t neighbour(std::int64_t router, std::size_t dimension, bool forwards) const;
  std::int64_t torus_link(std::int64_t router, std::size_t dimension, bool forwards) const;
  // Steps along one dimension; returns the router they end at.
  std::int64_t walk(std::int64_t from, std::size_t dimension, std::int64_t steps, bool forwards,
                    Hop like, std::vector<Hop>& hops) const;
  void route_torus(std::int64_t source, std::int64_t target, std::uint64_t hash,
                   std::vector<Hop>& hops) const;
  void route_dragonfly(std::int64_t source, std::int64_t target, std::vector<Hop>& hops) const;
  // The router of `group` with the cable to `other`.
  std::int64_t gateway(std::int64_t group, std::int64_t other) const {
    return group * a_ + ((other - group - 1 + groups_) % groups_) / global_links_;
  }
  std::int64_t local_link(std::int64_t from, std::int64_t to) const;
  std::int64_t global_link(std::int64_t from_group, std::int64_t to_group) const;

  std::vector<std::int64_t> dimensions_;                // empty: a dragonfly
  std::int64_t groups_ = 0, a_ = 0, global_links_ = 0;  // a: routers of a group
  std::int64_t routers_ = 1, hosts_per_router_ = 1, pair_count_ = 0;
  bool is_hashed_ = false;
  Link link_;
};

}  // namespace topology
