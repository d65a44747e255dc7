// Times of collectives on idle, uniform links (the alpha-beta model).
#pragma once

#include <bit>

#include "sim/base/quantity.h"
#include "sim/collective/collective.h"

namespace sim::collective {

// Bus bandwidth over algorithm bandwidth (size / time), as nccl-tests counts.
// Worked: all-reduce over 8 ranks 14/8 = 1.75, all-gather 7/8.
// Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
constexpr double bus_factor(Operation operation, int ranks) {
  switch (operation) {
    case Operation::all_reduce:
      return 2.0 * (ranks - 1) / ranks;
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::all_to_all:
      return (ranks - 1.0) / ranks;
    case Operation::broadcast:
    case Operation::send_receive:
      return 1;
  }
  return 1;
}

// Ring all-reduce of `size` bytes per rank: 2(n-1) steps, each moving size/n.
//   t = 2 (n - 1) (latency + size / (n * capacity))
// Worked: n = 4, 1 GB, 50 GB/s, 5 us -> 6 * (5 us + 5 ms) = 30.03 ms.
// REQUIRES: ranks >= 1. One rank takes no time.
// Source: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009, 117-124.
constexpr Seconds ring_all_reduce_time(int ranks, Bytes size, BytesPerSecond capacity,
                                       Seconds latency) {
  return 2.0 * (ranks - 1) * (latency + size / (capacity * ranks));
}

// Ring all-gather or reduce-scatter of a whole buffer of `size`: n-1 steps, each moving size/n.
// Worked: n = 4, 1 GB, 50 GB/s, 5 us -> 3 * (5 us + 5 ms) = 15.015 ms.
constexpr Seconds ring_all_gather_time(int ranks, Bytes size, BytesPerSecond capacity,
                                       Seconds latency) {
  return (ranks - 1.0) * (latency + size / (capacity * ranks));
}

// Double binary tree all-reduce over hosts of one rank, an upper bound: each of two trees carries
// half of the buffer up and down. A host that is inner in one tree is a leaf of the other, so it
// sends at most half to a parent and half to each of two children, and half as a leaf: 2 size.
//   t = 2 ceil(log2 n) latency + 2 size / capacity
// Worked: n = 4, 1 GB, 50 GB/s, 5 us -> 4 * 5 us + 40 ms = 40.02 ms.
// Source: Sanders, Speck and Traeff, Parallel Computing 35(12), 2009, 581-594.
constexpr Seconds tree_all_reduce_time_max(int ranks, Bytes size, BytesPerSecond capacity,
                                           Seconds latency) {
  const int depth = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  return 2.0 * depth * latency + 2.0 * (size / capacity);
}

// Hierarchical all-reduce of hosts x members: rings inside hosts and along each member number. The
// three phases one after the other.
//   t = 2 (g-1) (latency + size / (g capacity)) + 2 (N-1) (latency + size / (N g capacity))
// Worked: 2 hosts x 4, 1 GB, inside 100 GB/s, 1 us, between 25 GB/s, 5 us:
//   6 (1 us + 2.5 ms) + 2 (5 us + 5 ms) = 25.016 ms.
struct Tier {
  int ranks;  // members of a host, or hosts
  BytesPerSecond capacity;
  Seconds latency;
};
constexpr Seconds hierarchical_all_reduce_time(const Tier& inside, const Tier& between,
                                               Bytes size) {
  return ring_all_reduce_time(inside.ranks, size, inside.capacity, inside.latency) +
         ring_all_reduce_time(between.ranks, size / inside.ranks, between.capacity,
                              between.latency);
}

}  // namespace sim::collective
