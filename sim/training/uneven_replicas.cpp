// Finds kept groups and pods, and what loads their links.
#include "sim/training/uneven_replicas.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::training {

using fold::Replica;

namespace {

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Replicas between which nothing changes, but the borders of groups and pods.
struct Stretch {
  Replica first = 0, last = 0;
  std::int32_t cover = 0;  // equal where the same marks are
};

// The first and the last replica are by themselves: there a ring closes.
std::vector<Stretch> stretches(const fold::PeriodicReplicas& classes, Replica count) {
  std::vector<Stretch> result;
  for (const fold::PeriodicReplicas::Section& section : classes.sections()) {
    const Replica first = section.first * classes.unit();
    const Replica last = std::min(section.last * classes.unit(), count);
    Replica at = first;
    for (const Replica border : {Replica{1}, count - 1, last}) {
      if (border <= at || border > last) continue;
      const std::int32_t cover = at == 0 ? -1 : at == count - 1 ? -2 : section.cover;
      result.push_back({at, border, cover});
      at = border;
    }
  }
  return result;
}

}  // namespace

std::int64_t Parts::alike(std::int64_t number) const {
  const auto found = std::partition_point(kept.begin(), kept.end(),
                                          [&](const Part& part) { return part.number < number; });
  return found != kept.end() && found->number == number ? found->alike : 0;
}

UnevenReplicas::UnevenReplicas(ReplicaGeometry geometry, fold::PeriodicReplicas classes,
                               const topology::Blocks& blocks)
    : geometry_(geometry),
      classes_(std::move(classes)),
      kept_(classes_.kept()),
      host_(blocks.host),
      parts_{Parts{blocks.group, blocks.group_links, {}}, Parts{blocks.pod, blocks.pod_links, {}}} {
  const bool keeps_place = geometry_.stride % host_ == 0 || host_ % geometry_.stride == 0;
  changes_rails_ = blocks.group_links > 2 && !keeps_place;
  for (Parts& parts : parts_) {
    if (parts.size > 0) find_parts(parts);
  }
}

// Parts are alike that start at the same place of a unit, in the same run, and see the same kinds
// of units; those that marks or the ends of runs cut are by themselves.
void UnevenReplicas::find_parts(Parts& parts) const {
  const std::int64_t step = classes_.unit() * geometry_.stride, size = parts.size;
  const std::int64_t repeat = std::lcm(size, step * classes_.period()) / size;
  std::map<std::vector<std::int64_t>, std::size_t> known;
  std::set<std::int64_t> cut;
  std::vector<std::int64_t> key;
  for (std::int64_t run = 0; run < geometry_.runs(); ++run) {
    for (const Stretch& stretch : stretches(classes_, geometry_.count)) {
      const std::int64_t begin = geometry_.first(run, stretch.first);
      const std::int64_t end = geometry_.first(run, stretch.last);
      for (const std::int64_t border : {begin, end}) {
        if (border % size != 0) cut.insert(border / size);
      }
      const std::int64_t first = ceiling(begin, size), last = end / size;
      for (std::int64_t i = first; i < std::min(last, first + repeat); ++i) {
        const std::int64_t start = i * size - geometry_.first(run, 0);
        key = {run, stretch.cover, start % step};
        for (Replica unit = start / step; unit * step < start + size; ++unit) {
          key.push_back(classes_.kind(unit));
        }
        const auto [entry, is_new] = known.try_emplace(key, parts.kept.size());
        if (is_new) parts.kept.push_back({i, 0});
        parts.kept[entry->second].alike += ceiling(last - i, repeat);
      }
    }
  }
  for (const std::int64_t number : cut) parts.kept.push_back({number, 1});
  std::sort(parts.kept.begin(), parts.kept.end(),
            [](const Parts::Part& a, const Parts::Part& b) { return a.number < b.number; });
  const auto add = [](std::int64_t sum, const Parts::Part& part) { return sum + part.alike; };
  invariant(std::accumulate(parts.kept.begin(), parts.kept.end(), std::int64_t{0}, add) ==
                ceiling(geometry_.ranks, size),
            "some group or pod is not stood for, or twice");
}

void UnevenReplicas::each_alike(std::size_t index, std::size_t tier, topology::LinkIndex link,
                                topology::DeviceIndex first_device, const VisitLink& visit) const {
  const Parts& all = parts(tier);
  const std::int64_t own = first_device / all.size;
  const Replica replica = kept_.kept()[index];
  // A rank of the replica in the link's part; wherever it is in another replica of the class, those
  // that load the link are in one part with it.
  std::int64_t rank = -1;
  for (std::int64_t run = 0; run < geometry_.runs() && rank < 0; ++run) {
    const std::int64_t begin = std::max(geometry_.first(run, replica), own * all.size);
    const std::int64_t end =
        std::min(geometry_.first(run, replica) + geometry_.stride, (own + 1) * all.size);
    if (begin < end) rank = begin - replica * geometry_.stride;
  }
  invariant(rank >= 0, "a replica loads a link of a part in which it is not");
  auto part = all.kept.begin();
  for (const fold::PeriodicReplicas::Section& section : classes_.sections_of(index)) {
    const auto part_of = [&](Replica r) { return (rank + r * geometry_.stride) / all.size; };
    const std::int64_t first = part_of(section.first * classes_.unit());
    const std::int64_t last =
        part_of(std::min(section.last * classes_.unit(), geometry_.count) - 1);
    part = std::partition_point(part, all.kept.end(),
                                [&](const Parts::Part& p) { return p.number < first; });
    for (; part != all.kept.end() && part->number <= last; ++part) {
      const auto [from, to] =
          geometry_.replicas_in(rank, part->number * all.size, (part->number + 1) * all.size);
      const std::int64_t count = classes_.count_in(index, from, to);
      const std::int64_t away = part->number - own;
      if (count > 0) visit(link + static_cast<topology::LinkIndex>(away * all.links), count);
    }
  }
}

ListedMembers UnevenReplicas::listed(std::int64_t rank) const {
  const std::int64_t first_rank =
      rank - geometry_.replica_of(rank) * geometry_.stride;  // of the group
  const auto device = [&](Replica r) { return first_rank + r * geometry_.stride; };
  const bool has_hosts = geometry_.stride >= host_;  // each member one of its own
  const auto number = [&](Replica r) {
    return has_hosts ? r : device(r) / host_ - first_rank / host_;
  };
  ListedMembers result;
  result.hosts = static_cast<int>(number(geometry_.count - 1)) + 1;
  std::vector<int>& hosts = result.host_numbers;
  const auto see = [&](Replica r) {
    for (const int by : {-1, 0, 1}) {
      hosts.push_back((static_cast<int>(number(r)) + by + result.hosts) % result.hosts);
    }
  };
  for (const Replica r : kept_.kept()) see(r);
  see(geometry_.count - 1);
  for (std::size_t tier = 1; tier <= parts_.size(); ++tier) {
    const Parts& all = parts(tier);
    if (all.size == 0) continue;
    auto part = std::partition_point(all.kept.begin(), all.kept.end(), [&](const Parts::Part& p) {
      return p.number < first_rank / all.size;
    });
    for (; part != all.kept.end() && part->number <= device(geometry_.count - 1) / all.size;
         ++part) {
      const auto [from, to] =
          geometry_.replicas_in(first_rank, part->number * all.size, (part->number + 1) * all.size);
      const bool sees_all = tier == 1 && changes_rails_;
      for (Replica r = from; r < to; r = sees_all || r == to - 1 ? r + 1 : to - 1) see(r);
    }
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  for (const int host : hosts) {
    if (has_hosts) {
      result.replicas.push_back(host);
      continue;
    }
    const std::int64_t first_device = (first_rank / host_ + host) * host_;
    const auto [from, to] = geometry_.replicas_in(first_rank, first_device, first_device + host_);
    for (Replica r = from; r < to; ++r) result.replicas.push_back(r);
  }
  return result;
}

}  // namespace sim::training
