// The switches between hosts: which leaf a NIC is plugged into, and the links between leaves.
//
// Leaves are joined in one tier (spines) or two (a pod's second tier, then the core). Where routing
// is sprayed, all k equal links from a leaf to the next tier carry 1/k each; one link of k times
// the capacity, to one switch that stands for all of the tier, gives the same rates with fewer
// links. Hashed routing needs every link. Both are the same arithmetic with `branches` k or 1.
//
// Switches are numbered: leaves, then spines; or leaves, pod 0's second tier, pod 1's, ..., cores.
// Links are numbered in pairs (up, down): of leaf 0, of leaf 1, ...; then of the second tier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/fabric_shape.h"

namespace topology {

class FabricLayout : public FabricShape {
 public:
  // `nics`: NICs of a host, the most where hosts differ.
  FabricLayout(const Fabric& fabric, std::int64_t hosts, int nics);

  bool exists() const { return leaves_ > 0; }
  std::int64_t leaf_of(std::int64_t host, int nic) const override {
    return host / hosts_per_leaf_ * rails_ + (rails_ > 1 ? nic : 0);
  }
  std::int64_t leaves() const override { return leaves_; }
  Plugged plugged(std::int64_t leaf) const override;

  std::int64_t switch_count() const override;
  std::string switch_name(std::int64_t number) const override;
  std::int64_t link_count() const override { return 2 * (leaf_pairs() + core_pairs()); }
  std::string link_name(std::int64_t number) const override;
  LinkEnds ends(std::int64_t number) const override;
  const Link& link(std::int64_t number) const override { return links_[tier(number) - 1]; }
  int tier(std::int64_t number) const override { return number < 2 * leaf_pairs() ? 1 : 2; }

  // Of the leaf's group, or of the second-tier switch's pod.
  std::int64_t first_host(std::int64_t number) const override;

  struct Links {
    std::int64_t links[4];
    int count = 0;
  };
  // From leaf to leaf; `hash` picks among equal paths. None when they are the same.
  Links between(std::int64_t source, std::int64_t target, std::uint64_t hash) const;
  void route(std::int64_t source, std::int64_t target, std::uint64_t hash,
             std::vector<Hop>& hops) const override {
    const Links found = between(source, target, hash);
    for (int i = 0; i < found.count; ++i) hops.push_back({found.links[i]});
  }
  bool has_halves() const override { return false; }

  std::int64_t hosts_per_group() const override { return branches_ > 0 ? hosts_per_leaf_ : 0; }
  std::int64_t hosts_per_pod() const override {
    return core_branches_ > 0 ? leaves_per_pod_ * hosts_per_leaf_ : 0;
  }
  std::int64_t links_per_group() const override { return 2 * rails_ * branches_; }
  std::int64_t links_per_pod() const override { return 2 * branches_ * core_branches_; }
  // Of NICs this fast plugged into the leaf, or of the pod's leaves, that the link joins further
  // up.
  BytesPerSecond capacity_below(std::int64_t number, BytesPerSecond nic) const override;
  bool has_alike_blocks() const override {
    return !is_hashed_ || (branches_ <= 1 && core_branches_ <= 1);
  }

  std::vector<std::int64_t> switches_of_part(const PartPattern& pattern) const override;
  std::vector<std::int64_t> links_named(const PartPattern& pattern) const override;
  std::vector<std::int64_t> links_at(std::int64_t number) const override;

 private:
  struct Pair {
    std::int64_t below, above;  // switches
  };
  Pair pair(std::int64_t number) const;
  bool has_pods() const { return leaves_per_pod_ > 0; }
  std::int64_t pods() const { return has_pods() ? (leaves_ - 1) / leaves_per_pod_ + 1 : 0; }
  // Switches above the leaves, and without the core.
  std::int64_t second_tier() const { return has_pods() ? pods() * branches_ : branches_; }
  // Leaves joined to a spine or second-tier switch, those counted from 0.
  std::int64_t first_leaf_below(std::int64_t second) const {
    return has_pods() ? second / branches_ * leaves_per_pod_ : 0;
  }
  std::int64_t end_leaf_below(std::int64_t second) const {
    return has_pods() ? std::min(first_leaf_below(second) + leaves_per_pod_, leaves_) : leaves_;
  }
  std::int64_t leaf_pairs() const { return leaves_ * branches_; }
  std::int64_t core_pairs() const { return pods() * branches_ * core_branches_; }
  std::int64_t leaf_pair(std::int64_t leaf, std::int64_t branch) const {
    return leaf * branches_ + branch;
  }
  std::int64_t core_pair(std::int64_t pod, std::int64_t branch, std::int64_t core_branch) const {
    return leaf_pairs() + (pod * branches_ + branch) * core_branches_ + core_branch;
  }
  class Search;

  std::int64_t leaves_ = 0;
  std::int64_t hosts_ = 0;
  std::int64_t hosts_per_leaf_ = 1;
  std::int64_t rails_ = 1;
  std::int64_t ports_ = 0;           // of a leaf, for NICs
  std::int64_t branches_ = 0;        // up links of a leaf; 0 with a single leaf
  std::int64_t core_branches_ = 0;   // up links of a second-tier switch; 0 with a single pod
  std::int64_t leaves_per_pod_ = 0;  // 0: one tier of spines
  bool is_hashed_ = false;
  bool is_single_ = false;
  Link links_[2];  // of a leaf, and of a second-tier switch
};

}  // namespace topology
