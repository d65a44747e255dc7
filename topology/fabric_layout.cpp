// Which leaf a NIC hangs from, and every link and switch between leaves.
#include "topology/fabric_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace topology {

FabricLayout::FabricLayout(const Fabric& fabric, std::int64_t hosts, int nics)
    : hosts_(hosts),
      is_hashed_(fabric.routing == Fabric::Routing::hashed),
      is_single_(fabric.kind == Fabric::Kind::one_switch) {
  if (fabric.kind == Fabric::Kind::none) return;
  const bool is_rail = fabric.kind == Fabric::Kind::rail_optimized;
  // A fabric smaller than one group is wired for the hosts it has; otherwise the last group has the
  // ports of a full one.
  hosts_per_leaf_ = is_single_ ? hosts : std::min(hosts, std::int64_t{fabric.hosts_per_group});
  rails_ = is_rail ? std::max(nics, 1) : 1;
  leaves_ = ((hosts - 1) / hosts_per_leaf_ + 1) * rails_;
  if (leaves_ == 1) return;
  // No up link may be faster than a port.
  ports_ = hosts_per_leaf_ * (is_rail ? 1 : nics);
  const double ports_up = static_cast<double>(ports_) / fabric.oversubscription;
  branches_ = is_hashed_ ? static_cast<std::int64_t>(std::ceil(ports_up)) : 1;
  const BytesPerSecond all_up = fabric.link * ports_up - fabric.taken * static_cast<double>(ports_);
  const BytesPerSecond up = all_up / static_cast<double>(branches_);
  links_[0] = {LinkKind::fabric, up, fabric.latency};
  if (fabric.kind != Fabric::Kind::fat_tree) return;
  leaves_per_pod_ = fabric.leaves_per_pod;
  while (leaves_per_pod_ * leaves_per_pod_ < leaves_ && fabric.leaves_per_pod == 0) {
    ++leaves_per_pod_;
  }
  if (pods() == 1) return;
  core_branches_ = is_hashed_ ? leaves_per_pod_ : 1;
  links_[1] = links_[0];
  links_[1].capacity =
      up * (static_cast<double>(leaves_per_pod_) / static_cast<double>(core_branches_));
}

FabricLayout::Plugged FabricLayout::plugged(std::int64_t leaf) const {
  const std::int64_t first = leaf / rails_ * hosts_per_leaf_;
  Plugged result{first, std::min(first + hosts_per_leaf_, hosts_), std::nullopt};
  if (rails_ > 1) result.nic = static_cast<int>(leaf % rails_);
  return result;
}

std::int64_t FabricLayout::switch_count() const {
  return leaves_ + second_tier() + branches_ * core_branches_;
}

std::string FabricLayout::switch_name(std::int64_t number) const {
  if (number < leaves_) return is_single_ ? "switch" : fmt::format("leaf{}", number);
  number -= leaves_;
  if (!has_pods()) return is_hashed_ ? fmt::format("spine{}", number) : "spine";
  if (number >= second_tier()) {
    return is_hashed_ ? fmt::format("core{}", number - second_tier()) : "core";
  }
  if (!is_hashed_) return fmt::format("pod{}", number);
  return fmt::format("pod{}.agg{}", number / branches_, number % branches_);
}

// Second-tier switch a of every pod is joined to the cores a * c .. a * c + c - 1, with c its up
// links: as many as down links, since only leaves are oversubscribed.
FabricLayout::Pair FabricLayout::pair(std::int64_t number) const {
  if (number < leaf_pairs()) {
    const std::int64_t leaf = number / branches_;
    const std::int64_t pod = has_pods() ? leaf / leaves_per_pod_ : 0;
    return {leaf, leaves_ + pod * branches_ + number % branches_};
  }
  number -= leaf_pairs();
  const std::int64_t a = number / core_branches_;
  return {leaves_ + a,
          leaves_ + second_tier() + a % branches_ * core_branches_ + number % core_branches_};
}

std::int64_t FabricLayout::first_host(std::int64_t number) const {
  const std::int64_t below = pair(number / 2).below;
  return plugged(below < leaves_ ? below : first_leaf_below(below - leaves_)).first;
}

BytesPerSecond FabricLayout::capacity_below(std::int64_t number, BytesPerSecond nic) const {
  if (tier(number) == 1) return nic * static_cast<double>(ports_);
  return links_[0].capacity * static_cast<double>(branches_ * leaves_per_pod_);
}

// A leaf's link names its pod's switch without the pod, which is evident.
std::string FabricLayout::link_name(std::int64_t number) const {
  const bool is_down = number % 2 == 1;
  const Pair p = pair(number / 2);
  const std::string below = switch_name(p.below);
  if (!is_hashed_) return below + (is_down ? ".down" : ".up");
  const std::string above = switch_name(p.above);
  if (is_down) return above + "." + below;
  return below + "." + above.substr(above.find('.') + 1);
}

LinkEnds FabricLayout::ends(std::int64_t number) const {
  const Pair p = pair(number / 2);
  const auto below = static_cast<VertexIndex>(p.below);
  const auto above = static_cast<VertexIndex>(p.above);
  return number % 2 == 1 ? LinkEnds{above, below} : LinkEnds{below, above};
}

FabricLayout::Links FabricLayout::between(std::int64_t source, std::int64_t target,
                                          std::uint64_t hash) const {
  if (source == target) return {};
  const auto choice = static_cast<std::int64_t>(hash >> 1);
  const std::int64_t branch = choice % branches_;
  const std::int64_t up = 2 * leaf_pair(source, branch);
  const std::int64_t down = 2 * leaf_pair(target, branch) + 1;
  if (!has_pods()) return {{up, down}, 2};
  const std::int64_t source_pod = source / leaves_per_pod_;
  const std::int64_t target_pod = target / leaves_per_pod_;
  if (source_pod == target_pod) return {{up, down}, 2};
  const std::int64_t core = choice / branches_ % core_branches_;
  return {{up, 2 * core_pair(source_pod, branch, core), 2 * core_pair(target_pod, branch, core) + 1,
           down},
          4};
}

}  // namespace topology
