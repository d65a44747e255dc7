// A pattern's network for real: a network namespace for each host and one for all switches, joined
// by virtual cables whose rates the kernel limits, with a fair share for each pair of hosts.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/network/real/patterns.h"

namespace sim::network::real {

// This machine or this user cannot do it.
struct CannotEmulate : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Payload bytes of a frame over all of its bytes: Ethernet 14, IPv4 20, TCP with time stamps 32.
inline constexpr int frame_payload_max = 9000;
inline constexpr double efficiency = (frame_payload_max - 52.0) / (frame_payload_max + 14.0);

class EmulatedNetwork {
 public:
  // Throws CannotEmulate; what was made is removed again.
  explicit EmulatedNetwork(const Pattern& pattern);
  ~EmulatedNetwork();
  EmulatedNetwork(const EmulatedNetwork&) = delete;
  EmulatedNetwork& operator=(const EmulatedNetwork&) = delete;

  // Pairs of hosts with flows, in order of their first; pair i receives at port first_port + i.
  const std::vector<std::pair<int, int>>& pairs() const { return pairs_; }
  static constexpr int first_port = 5000;
  std::string file_of_host(int host) const;  // of its namespace
  static std::string address(int host);

 private:
  void make(const Pattern& pattern);
  void remove() const;
  std::string limits(const std::string& device, double megabits, const std::vector<int>& classes);

  std::string prefix_;
  int hosts_ = 0;
  std::vector<std::pair<int, int>> pairs_;
};

}  // namespace sim::network::real
