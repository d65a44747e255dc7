// What every fabric between hosts can answer, by arithmetic.
//
// Switches and links are numbered from 0; links in pairs, number ^ 1 goes the other way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.h"
#include "topology/part_pattern.h"

namespace topology {

class FabricShape {
 public:
  virtual ~FabricShape() = default;

  // The switch that a NIC hangs from.
  virtual std::int64_t leaf_of(std::int64_t host, int nic) const = 0;
  // Switches from which NICs hang: the first ones.
  virtual std::int64_t leaves() const = 0;
  // What is plugged into a leaf: NICs of the hosts from `first`, before `end`.
  struct Plugged {
    std::int64_t first, end;
    std::optional<int> nic;  // none: all of a host
  };
  virtual Plugged plugged(std::int64_t leaf) const = 0;

  virtual std::int64_t switch_count() const = 0;
  virtual std::string switch_name(std::int64_t number) const = 0;
  virtual std::int64_t link_count() const = 0;
  virtual std::string link_name(std::int64_t number) const = 0;
  virtual LinkEnds ends(std::int64_t number) const = 0;  // numbers of switches
  virtual const Link& link(std::int64_t number) const = 0;
  virtual int tier(std::int64_t number) const = 0;
  // Of the group or pod that the link joins further up, or of its router.
  virtual std::int64_t first_host(std::int64_t number) const = 0;

  // A link on the way from leaf to leaf. All bytes cross it, or half of them where two ways are
  // equally short; the second way runs beside the first and adds no latency.
  struct Hop {
    std::int64_t link = 0;
    bool is_half = false, is_beside = false;
  };
  // `hash` picks among equal paths that are not sprayed. None when they are the same.
  virtual void route(std::int64_t source, std::int64_t target, std::uint64_t hash,
                     std::vector<Hop>& hops) const = 0;
  // Whether some route is split into halves.
  virtual bool has_halves() const = 0;

  // Hosts under one leaf or set of rail leaves, and in a pod; 0 where no links join those.
  virtual std::int64_t hosts_per_group() const = 0;
  virtual std::int64_t hosts_per_pod() const = 0;
  virtual std::int64_t links_per_group() const = 0;
  virtual std::int64_t links_per_pod() const = 0;
  // What can come through a link from NICs this fast; infinite where that is not known.
  virtual BytesPerSecond capacity_below(std::int64_t number, BytesPerSecond nic) const = 0;
  // Whether groups, and pods, look alike to what passes between them.
  virtual bool has_alike_blocks() const = 0;

  // Numbers of what a pattern names, or has a part of it in the name; and all links of a switch.
  virtual std::vector<std::int64_t> switches_of_part(const PartPattern& pattern) const = 0;
  virtual std::vector<std::int64_t> links_named(const PartPattern& pattern) const = 0;
  virtual std::vector<std::int64_t> links_at(std::int64_t number) const = 0;
};

// `nics`: NICs of a host, the most where hosts differ.
std::unique_ptr<const FabricShape> fabric_shape(const Fabric& fabric, std::int64_t hosts, int nics);

}  // namespace topology
