// The switches between hosts: which leaf a NIC is plugged into, and the links between leaves.
//
// Leaves are joined in one tier (spines) or two (a pod's second tier, then the core). Where routing
// is sprayed, all k equal links from a leaf to the next tier carry 1/k each; one link of k times
// the capacity, to one switch that stands for all of the tier, gives the same rates with fewer
// links. Hashed routing needs every link. Both are the same arithmetic with `branches` k or 1.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/network.h"

namespace topology {

class FabricLayout {
 public:
  // `nics`: NICs of a host, the most where hosts differ.
  FabricLayout(const Fabric& fabric, std::int64_t hosts, int nics);

  bool exists() const { return leaves_ > 0; }
  std::int64_t leaf_of(std::int64_t host, int nic) const {
    return host / hosts_per_leaf_ * rails_ + (rails_ > 1 ? nic : 0);
  }
  std::int64_t switch_count() const;
  std::int64_t link_count() const;
  void add_switches(Network& network);
  // REQUIRES: the network has the switches.
  void add_links(Network& network);
  VertexIndex first_leaf() const { return first_leaf_; }

  struct Links {
    LinkIndex links[4];
    int count = 0;
  };
  // From leaf to leaf; `hash` picks among equal paths. None when they are the same.
  Links between(std::int64_t source, std::int64_t target, std::uint64_t hash) const;

 private:
  void add_pair(Network& network, std::int64_t below, std::int64_t above,
                BytesPerSecond capacity) const;
  std::int64_t pods() const {
    return leaves_per_pod_ > 0 ? (leaves_ - 1) / leaves_per_pod_ + 1 : 0;
  }
  LinkIndex leaf_link(std::int64_t leaf, std::int64_t branch) const;
  LinkIndex core_link(std::int64_t pod, std::int64_t branch, std::int64_t core_branch) const;

  std::int64_t leaves_ = 0;
  std::int64_t hosts_per_leaf_ = 1;
  std::int64_t rails_ = 1;
  std::int64_t ports_ = 0;           // of a leaf, downwards
  std::int64_t branches_ = 0;        // up links of a leaf; 0 with a single leaf
  std::int64_t core_branches_ = 0;   // up links of a second-tier switch; 0 with a single pod
  std::int64_t leaves_per_pod_ = 0;  // 0: one tier of spines
  bool is_hashed_ = false;
  bool is_single_ = false;
  BytesPerSecond up_;  // all up links of a leaf together
  Seconds latency_;
  VertexIndex first_leaf_ = 0;
  std::int64_t first_link_ = 0;
};

}  // namespace topology
