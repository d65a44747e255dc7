// The rings of a rank group: cyclic orders of its members.
#include "sim/collective/rings.h"

namespace sim::collective {
namespace {

// The member number at which ring `ring` enters the host with number `host` of `hosts`. Neighbours
// differ, the last and the first included, so that a ring leaves a host at another member than it
// entered.
int entry(int ring, int host, int hosts) {
  const bool is_odd_one_out = hosts % 2 == 1 && hosts > 1 && host == hosts - 1;
  return is_odd_one_out ? ring - 2 : ring - host % 2;
}

// All members of a host from `first` to `last`, which differ unless there is only one.
void append_path(const Hosts& hosts, int host, int first, int last, std::vector<int>& ring) {
  const int n = hosts.size(host);
  const int begin = (first % n + n) % n;
  int end = (last % n + n) % n;
  if (end == begin) end = (begin + n - 1) % n;
  const int direction = end == (begin + 1) % n ? -1 : 1;
  for (int i = 0; i < n; ++i) {
    const int number = ((begin + direction * i) % n + n) % n;
    if (number != end || n == 1) ring.push_back(hosts.member(host, number));
  }
  if (n > 1) ring.push_back(hosts.member(host, end));
}

}  // namespace

std::vector<std::vector<int>> rings(const Hosts& hosts) {
  const int all = hosts.in_ring;
  const int count = all == 1 ? 1 : hosts.size_max();
  std::vector<std::vector<int>> result(static_cast<std::size_t>(count));
  for (int ring = 0; ring < count; ++ring) {
    for (int host = 0; host < hosts.count(); ++host) {
      const int number = hosts.numbers[static_cast<std::size_t>(host)];
      append_path(hosts, host, entry(ring, number, all), entry(ring, (number + 1) % all, all),
                  result[static_cast<std::size_t>(ring)]);
    }
  }
  return result;
}

}  // namespace sim::collective
