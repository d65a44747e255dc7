// Which leaf a NIC hangs from, and every link and switch between leaves.
#include "topology/fabric_layout.h"

#include <fmt/format.h>

#include <cmath>

namespace topology {

FabricLayout::FabricLayout(const Fabric& fabric, std::int64_t hosts, int nics)
    : is_hashed_(fabric.routing == Fabric::Routing::hashed),
      is_single_(fabric.kind == Fabric::Kind::one_switch),
      latency_(fabric.latency) {
  if (fabric.kind == Fabric::Kind::none) return;
  const bool is_rail = fabric.kind == Fabric::Kind::rail_optimized;
  // A fabric smaller than one group is wired for the hosts it has; otherwise the last group has the
  // ports of a full one.
  hosts_per_leaf_ = is_single_ ? hosts : std::min(hosts, std::int64_t{fabric.hosts_per_group});
  rails_ = is_rail ? std::max(nics, 1) : 1;
  leaves_ = ((hosts - 1) / hosts_per_leaf_ + 1) * rails_;
  ports_ = hosts_per_leaf_ * (is_rail ? 1 : nics);
  if (leaves_ == 1) return;
  // No up link may be faster than a port.
  const double ports_up = static_cast<double>(ports_) / fabric.oversubscription;
  up_ = fabric.link * ports_up;
  branches_ = is_hashed_ ? static_cast<std::int64_t>(std::ceil(ports_up)) : 1;
  if (fabric.kind != Fabric::Kind::fat_tree) return;
  leaves_per_pod_ = fabric.leaves_per_pod;
  while (leaves_per_pod_ * leaves_per_pod_ < leaves_ && fabric.leaves_per_pod == 0) {
    ++leaves_per_pod_;
  }
  if (pods() > 1) core_branches_ = is_hashed_ ? leaves_per_pod_ : 1;
}

std::int64_t FabricLayout::switch_count() const {
  if (branches_ == 0) return leaves_;
  if (leaves_per_pod_ == 0) return leaves_ + branches_;
  return leaves_ + pods() * branches_ + branches_ * core_branches_;
}

std::int64_t FabricLayout::link_count() const {
  return 2 * (leaves_ * branches_ + pods() * branches_ * core_branches_);
}

LinkIndex FabricLayout::leaf_link(std::int64_t leaf, std::int64_t branch) const {
  return static_cast<LinkIndex>(first_link_ + 2 * (leaf * branches_ + branch));
}

LinkIndex FabricLayout::core_link(std::int64_t pod, std::int64_t branch,
                                  std::int64_t core_branch) const {
  return static_cast<LinkIndex>(
      first_link_ +
      2 * (leaves_ * branches_ + (pod * branches_ + branch) * core_branches_ + core_branch));
}

FabricLayout::Links FabricLayout::between(std::int64_t source, std::int64_t target,
                                          std::uint64_t hash) const {
  if (source == target) return {};
  const auto choice = static_cast<std::int64_t>(hash >> 1);
  const std::int64_t branch = choice % branches_;
  const LinkIndex up = leaf_link(source, branch);
  const LinkIndex down = leaf_link(target, branch) + 1;
  if (leaves_per_pod_ == 0) return {{up, down}, 2};
  const std::int64_t source_pod = source / leaves_per_pod_;
  const std::int64_t target_pod = target / leaves_per_pod_;
  if (source_pod == target_pod) return {{up, down}, 2};
  const std::int64_t core = choice / branches_ % core_branches_;
  return {{up, core_link(source_pod, branch, core), core_link(target_pod, branch, core) + 1, down},
          4};
}

void FabricLayout::add_switches(Network& network) {
  first_leaf_ = network.vertex_of_switch(network.switches.size());
  for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) {
    network.switches.push_back(is_single_ ? "switch" : fmt::format("leaf{}", leaf));
  }
  if (leaves_per_pod_ == 0) {
    for (std::int64_t spine = 0; spine < branches_; ++spine) {
      network.switches.push_back(is_hashed_ ? fmt::format("spine{}", spine) : "spine");
    }
    return;
  }
  for (std::int64_t pod = 0; pod < pods(); ++pod) {
    for (std::int64_t a = 0; a < branches_; ++a) {
      network.switches.push_back(is_hashed_ ? fmt::format("pod{}.agg{}", pod, a)
                                            : fmt::format("pod{}", pod));
    }
  }
  for (std::int64_t core = 0; core < branches_ * core_branches_; ++core) {
    network.switches.push_back(is_hashed_ ? fmt::format("core{}", core) : "core");
  }
}

// Switches are counted from leaf 0; the lower one comes first.
void FabricLayout::add_pair(Network& network, std::int64_t below, std::int64_t above,
                            BytesPerSecond capacity) const {
  const auto vertex = [&](std::int64_t i) { return first_leaf_ + static_cast<VertexIndex>(i); };
  const auto name = [&](std::int64_t i) -> const std::string& {
    return network.switches[static_cast<std::size_t>(vertex(i)) - network.devices.size()];
  };
  // A leaf's link names its pod's switch without the pod, which is evident.
  const auto short_name = [&] {
    const std::string& full = name(above);
    return full.substr(full.find('.') + 1);
  };
  network.links.push_back({name(below) + "." + (is_hashed_ ? short_name() : "up"), LinkKind::fabric,
                           capacity, latency_});
  network.ends.push_back({vertex(below), vertex(above)});
  network.links.push_back({is_hashed_ ? name(above) + "." + name(below) : name(below) + ".down",
                           LinkKind::fabric, capacity, latency_});
  network.ends.push_back({vertex(above), vertex(below)});
}

// Second-tier switch a of every pod is joined to the cores a * c .. a * c + c - 1, with c its up
// links: as many as down links, since only leaves are oversubscribed.
void FabricLayout::add_links(Network& network) {
  first_link_ = static_cast<std::int64_t>(network.links.size());
  if (branches_ == 0) return;
  const BytesPerSecond up = up_ / static_cast<double>(branches_);
  const bool has_pods = leaves_per_pod_ > 0;
  for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) {
    const std::int64_t pod = has_pods ? leaf / leaves_per_pod_ : 0;
    for (std::int64_t branch = 0; branch < branches_; ++branch) {
      add_pair(network, leaf, leaves_ + pod * branches_ + branch, up);
    }
  }
  if (core_branches_ == 0) return;
  const BytesPerSecond core_up =
      up * (static_cast<double>(leaves_per_pod_) / static_cast<double>(core_branches_));
  const std::int64_t second_tier = pods() * branches_;
  for (std::int64_t a = 0; a < second_tier; ++a) {
    for (std::int64_t core = 0; core < core_branches_; ++core) {
      add_pair(network, leaves_ + a, leaves_ + second_tier + a % branches_ * core_branches_ + core,
               core_up);
    }
  }
}

}  // namespace topology
