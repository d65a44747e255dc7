// Collectives as data: which bytes go from which rank to which, in how many steps, and which
// algorithm NCCL would take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/quantity.h"

namespace sim::collective {

enum class Operation {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive
};
enum class Algorithm { ring, tree, hierarchical, pairwise, direct };
enum class Protocol { simple, ll128, ll };

// Where the members of a rank group sit: host_of[group rank]. Group ranks are in ring order.
struct Layout {
  std::vector<int> host_of;
  int ranks() const { return static_cast<int>(host_of.size()); }
};

// Bytes that one member sends to another over the whole collective.
struct Hop {
  int source = 0, target = 0;  // group ranks
  Bytes bytes;
};
struct Traffic {
  std::vector<Hop> hops;  // merged: one per (source, target)
  int intra_steps = 0;    // steps in sequence on the critical path, inside a host
  int inter_steps = 0;    // between hosts
};

// `size` as nccl-tests counts it: all-reduce, broadcast, send-receive: the buffer; all-gather,
// reduce-scatter, all-to-all: the whole buffer (ranks x what one rank contributes).
// Ring over several hosts: rings are rotated so that every member of a host takes its turn at the
// border; each pair of neighbouring hosts shares its bytes evenly over its members.
Traffic traffic(Operation operation, Algorithm algorithm, const Layout& layout, Bytes size);

// The algorithms that exist for an operation.
std::vector<Algorithm> algorithms(Operation operation);

// What NCCL's tuner needs to know of the hardware.
struct Hardware {
  enum class Generation { volta, ampere, hopper, blackwell, other };
  Generation generation = Generation::hopper;
  bool has_nvlink = true;
  bool has_nvswitch = true;
  BytesPerSecond intra;  // scale-up port of a device, one way
  BytesPerSecond inter;  // all NICs of a host that the group can use, one way
  bool amd_cpu = false;
};
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 16;
};
// The choice of NCCL's tuner among ring and tree (and hierarchical where forced), by its own
// constants. Source: NVIDIA/nccl src/graph/tuning.cc, 2.2x (see PHYSICS of NCCL in docs/decisions).
Choice choose(Operation operation, const Layout& layout, const Hardware& hardware, Bytes size);

// Wire bytes per payload byte: LL 2, LL128 128/120, Simple 1.
double protocol_overhead(Protocol protocol);

const char* name(Operation operation);
const char* name(Algorithm algorithm);
const char* name(Protocol protocol);

}  // namespace sim::collective
