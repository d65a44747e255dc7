// Hierarchical collectives: inside hosts and, per member number, between hosts.
#include "sim/collective/lanes.h"

#include "sim/collective/tally.h"

namespace sim::collective {
namespace {

// Down the chains that start at the lanes' members and visit the whole host, or up those that end
// there. shares[lane]. Hop by hop, added up first: there are members x lanes of them in a host.
void add_chains(Tally& tally, const Hosts& hosts, int host, bool is_up,
                const std::vector<std::int64_t>& shares) {
  const auto size = static_cast<std::size_t>(hosts.size(host));
  std::vector<std::int64_t> carried(size, 0);  // [member number] to the next
  for (std::size_t lane = 0; lane < shares.size(); ++lane) {
    const std::size_t first = is_up ? lane + 1 : lane;
    for (std::size_t i = 0; i + 1 < size; ++i) carried[(first + i) % size] += shares[lane];
  }
  for (int number = 0; number < hosts.size(host); ++number) {
    tally.add(hosts.member(host, number), hosts.member(host, number + 1),
              carried[static_cast<std::size_t>(number)]);
  }
}

void add_handovers(Tally& tally, const Hosts& hosts, const Lanes& lanes, int host, bool is_gather) {
  for (int number = lanes.count; number < hosts.size(host); ++number) {
    const int extra = hosts.member(host, number), owner = hosts.member(host, number % lanes.count);
    tally.add(is_gather ? extra : owner, is_gather ? owner : extra, 1);
  }
}

Traffic all_reduce(const Hosts& hosts, const Lanes& lanes, int host_count, Bytes size) {
  Tally tally(std::int64_t{lanes.count} * host_count);
  const std::vector<std::int64_t> all(static_cast<std::size_t>(lanes.count), host_count);
  for (int host = 0; host < hosts.count(); ++host) {
    add_chains(tally, hosts, host, true, all);
    add_chains(tally, hosts, host, false, all);
    for (int lane = 0; lane < lanes.count; ++lane) {
      tally.add(hosts.member(host, lane), hosts.member((host + 1) % hosts.count(), lane),
                std::int64_t{2} * (host_count - 1));
    }
  }
  return {tally.hops(size), 2 * (hosts.size_max() - 1), 2 * (host_count - 1)};
}

Traffic gather_or_scatter(bool is_gather, const Hosts& hosts, const Lanes& lanes,
                          const Layout& layout, Bytes size) {
  Tally tally(layout.ranks());
  std::vector<std::int64_t> all;  // [lane]
  for (int lane = 0; lane < lanes.count; ++lane) {
    all.push_back(lanes.contributors_of(lane) + layout.hosts_left_out);
  }
  for (int host = 0; host < hosts.count(); ++host) {
    const int next = (host + 1) % hosts.count();
    add_handovers(tally, hosts, lanes, host, is_gather);
    add_chains(tally, hosts, host, !is_gather, all);
    for (int lane = 0; lane < lanes.count; ++lane) {
      // A gathering ring brings the next host all but its own; a scattering one takes to the next
      // host all but what ended here.
      const auto own = static_cast<std::size_t>(is_gather ? next : host);
      tally.add(hosts.member(host, lane), hosts.member(next, lane),
                all[static_cast<std::size_t>(lane)] -
                    lanes.contributors[own][static_cast<std::size_t>(lane)]);
    }
  }
  const int handovers = hosts.size_max() > lanes.count ? 1 : 0;
  return {tally.hops(size), hosts.size_max() - 1 + handovers,
          hosts.count() + layout.hosts_left_out - 1};
}

}  // namespace

Lanes::Lanes(const Hosts& hosts) : count(hosts.size_min()) {
  for (int host = 0; host < hosts.count(); ++host) {
    std::vector<int>& of_host = contributors.emplace_back(static_cast<std::size_t>(count), 0);
    for (int number = 0; number < hosts.size(host); ++number) {
      ++of_host[static_cast<std::size_t>(number % count)];
    }
  }
}

int Lanes::contributors_of(int lane) const {
  int sum = 0;
  for (const std::vector<int>& of_host : contributors) {
    sum += of_host[static_cast<std::size_t>(lane)];
  }
  return sum;
}

Traffic hierarchical_traffic(Operation operation, const Hosts& hosts, const Layout& layout,
                             Bytes size) {
  const Lanes lanes(hosts);
  if (operation == Operation::all_reduce) {
    return all_reduce(hosts, lanes, hosts.count() + layout.hosts_left_out, size);
  }
  return gather_or_scatter(operation == Operation::all_gather, hosts, lanes, layout, size);
}

}  // namespace sim::collective
