// The members of a rank group by host.
#include "sim/collective/hosts.h"

#include <map>

namespace sim::collective {
namespace {

bool is_smaller(const std::vector<int>& a, const std::vector<int>& b) {
  return a.size() < b.size();
}

}  // namespace

Hosts::Hosts(const Layout& layout) {
  std::map<int, std::size_t> index;
  const int listed = static_cast<int>(layout.host_of.size());
  for (int rank = 0; rank < listed; ++rank) {
    const int host = layout.host_of[static_cast<std::size_t>(rank)];
    const auto [at, is_new] = index.emplace(host, members.size());
    if (is_new) members.emplace_back();
    members[at->second].push_back(rank);
    host_of.push_back(static_cast<int>(at->second));
  }
  numbers = layout.host_numbers;
  in_ring = count();
  if (!numbers.empty()) {
    in_ring += layout.hosts_left_out;
    return;
  }
  for (int host = 0; host < count(); ++host) numbers.push_back(host);
}

bool Hosts::are_joined(int source, int target) const {
  const auto number = [&](int rank) {
    return numbers[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])];
  };
  return number(source) == number(target) || (number(source) + 1) % in_ring == number(target);
}

int Hosts::size_min() const {
  if (members.empty()) return 0;
  return static_cast<int>(std::min_element(members.begin(), members.end(), is_smaller)->size());
}

int Hosts::size_max() const {
  if (members.empty()) return 0;
  return static_cast<int>(std::max_element(members.begin(), members.end(), is_smaller)->size());
}

int listed_hosts(const Layout& layout) {
  std::vector<int> hosts = layout.host_of;
  std::sort(hosts.begin(), hosts.end());
  return static_cast<int>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
}

}  // namespace sim::collective
