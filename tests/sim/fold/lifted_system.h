// Random systems with many streams that do the same: copies of a small one, connected at random.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/sim/network/random_system.h"

namespace sim::fold {

using network::HandSystem;
using network::Operation;
using network::WaitFor;

// Every stream and resource of `base` has `copies` copies; each copy waits for a copy of what the
// original waits for, or for two of them, and uses a copy of what it uses, by random permutations.
// Generically it has no automorphism, and yet the copies of one stream do the same.
inline HandSystem lifted(const HandSystem& base, std::int32_t copies, std::mt19937_64& random) {
  const network::System original = base.take();
  HandSystem result;
  for (std::size_t r = 0; r < original.capacity.size(); ++r) {
    for (std::int32_t i = 0; i < copies; ++i) {
      const auto resource =
          result.resource("r" + std::to_string(r) + "." + std::to_string(i), original.capacity[r]);
      if (i == 0) result.observe(resource);
    }
  }
  const auto permutation = [&] {
    std::vector<std::int32_t> p(static_cast<std::size_t>(copies));
    std::iota(p.begin(), p.end(), 0);
    std::shuffle(p.begin(), p.end(), random);
    return p;
  };
  for (std::size_t s = 0; s < base.operations().size(); ++s) {
    for (std::int32_t i = 0; i < copies; ++i) {
      result.stream("s" + std::to_string(s) + "." + std::to_string(i));
    }
  }
  for (std::size_t s = 0; s < base.operations().size(); ++s) {
    for (const Operation& o : base.operations()[s]) {
      std::vector<Operation> copied(static_cast<std::size_t>(copies), o);
      for (std::size_t u = 0; u < o.uses.size(); ++u) {
        const auto p = permutation();
        for (std::size_t i = 0; i < copied.size(); ++i) {
          copied[i].uses[u].resource = o.uses[u].resource * copies + p[i];
        }
      }
      for (std::size_t w = 0; w < o.waits.size(); ++w) {
        const auto p = permutation(), q = permutation(), r = permutation();
        const bool is_pair = random() % 3 == 0 && o.waits[w].reserve.empty();
        for (std::size_t i = 0; i < copied.size(); ++i) {
          WaitFor& wait = copied[i].waits[w];
          const std::int32_t target = o.waits[w].streams.front() * copies;
          wait.streams = {target + p[i]};
          if (is_pair && p[i] != q[i]) wait.streams.push_back(target + q[i]);
          for (std::int32_t& resource : wait.reserve) resource = resource * copies + r[i];
        }
      }
      for (std::size_t i = 0; i < copied.size(); ++i) {
        result.add(static_cast<std::int32_t>(s) * copies + static_cast<std::int32_t>(i), copied[i]);
      }
    }
  }
  return result;
}

// Capacities that change: of all copies alike, or of one of them. Comes to an end.
inline void add_changes(HandSystem& system, std::int32_t copies, std::mt19937_64& random) {
  const auto resources = static_cast<std::int32_t>(system.take().capacity.size());
  Picoseconds at = random() % 2 == 0 ? 0 : 125;
  for (std::uint64_t i = random() % 5; i > 0; --i) {
    at += static_cast<Picoseconds>(random() % 8) * 125;
    const auto resource = static_cast<std::int32_t>(random() % std::uint64_t(resources));
    const auto capacity = random() % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 90);
    if (random() % 2 == 0) {
      system.change(at, resource, capacity);
      continue;
    }
    for (std::int32_t c = 0; c < copies; ++c) {
      system.change(at, resource / copies * copies + c, capacity);
    }
  }
  for (std::int32_t r = 0; r < resources; ++r) system.change(at + 300, r, 50);
}

}  // namespace sim::fold
