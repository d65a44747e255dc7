// Collectives as data: which bytes go from which rank to which, in how many steps, and which
// algorithm NCCL would take.
#pragma once

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
enum class Algorithm {
  ring,
  tree,
  hierarchical,
  pairwise,
  direct,
  nvls,
  nvls_tree,
  collnet,
  pat,
  pxn
};
enum class Protocol { simple, ll128, ll };

// Where the members of a rank group sit: host_of[group rank]. Group ranks are in ring order.
struct Layout {
  std::vector<int> host_of;
  // Members, and hosts, that come between those listed in a ring and are like them: what a listed
  // member sends and receives is the same with and without them. Rings and hierarchical only.
  int ranks_left_out = 0, hosts_left_out = 0;
  // [listed host] its number among all hosts of the ring; empty: those listed follow each other.
  // Then hops are those of the whole ring that start and end at listed members. Hosts are listed
  // with all of their members, and one of the largest is among them.
  std::vector<int> host_numbers = {};
  int ranks() const { return static_cast<int>(host_of.size()) + ranks_left_out; }
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
// reduce-scatter: the whole buffer (ranks x what one rank contributes); all-to-all: what one rank
// sends, its own part included.
// Hosts may have different numbers of members, and group ranks of a host need not be neighbours.
//   ring          rotated so that every member of a host takes its turn at the border; each pair of
//                 neighbouring hosts shares its bytes evenly over its members (rings.h).
//                 Broadcast: from group rank 0 along the rings.
//   tree          two binary trees over hosts with a chain in each, half the bytes in each tree,
//                 heads of the chains rotated (trees.h)
//   hierarchical  inside hosts and, per member number, between hosts (lanes.h)
//   pairwise      n - 1 rounds, each with another peer
//   direct        all at once; all-reduce as reduce-scatter and all-gather; broadcast from group
//                 rank 0; send-receive: each group rank but the last to the next
//   nvls          the scale-up switch reduces and multicasts (switched.h)
//   nvls-tree     that inside hosts and, per member number, two binary trees between hosts
//   collnet       reduced inside hosts, then by the switches of the fabric (SHARP)
//   pat           binary trees at all offsets, one rank a host: ceil(log2 n) steps (pat.h)
//   pxn           all-to-all that crosses to the target's rail inside the host first, so that a
//   pair
//                 of hosts exchanges one message a rail
// REQUIRES: an algorithm of algorithms(operation) without an obstacle(). One rank moves nothing and
// takes no step.
// Bytes are size x a ratio of whole numbers, rounded once.
Traffic traffic(Operation operation, Algorithm algorithm, const Layout& layout, Bytes size);

// Software and wire latencies of a step; base once.
struct Latencies {
  Seconds base, step_intra, step_inter;
};
// base + intra_steps step_intra + inter_steps step_inter; none for a group of one. What the bytes
// take follows from the loads of the links.
// Worked: ring all-reduce of 2 hosts x 8: 28 steps inside, 2 between; 10 us + 28 x 1 us + 2 x 6 us
// = 50 us.
Seconds latency(const Traffic& traffic, const Latencies& latencies);

// The algorithms that exist for an operation, the most common first.
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
  bool has_nvls = false;       // the scale-up switch reduces and multicasts (NVLink SHARP)
  bool has_sharp = false;      // the fabric's switches reduce
  bool inside_domain = false;  // all members in one scale-up domain
};

// Why a group cannot run an algorithm, and what would help; nothing: it can.
struct Obstacle {
  std::string why, hint;
};
std::optional<Obstacle> obstacle(Operation operation, Algorithm algorithm, const Layout& layout,
                                 const Hardware& hardware);
// The same of an algorithm with a protocol.
std::optional<Obstacle> obstacle(Algorithm algorithm, Protocol protocol, const Hardware& hardware);

// What is forced instead of chosen; what is not set is NCCL's choice.
struct Forced {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  std::optional<int> channels = {};
  bool is_any() const { return algorithm || protocol || channels; }
  bool operator==(const Forced&) const = default;
};
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 16;
  bool operator==(const Choice&) const = default;
};
// The choice of NCCL's tuner among algorithms and protocols, by its own constants (tuner.h). For
// all-to-all pxn where hosts hold several members each, else pairwise; direct for send-receive.
// Never hierarchical nor pat, though NCCL may take the latter: they are forced.
// REQUIRES: what is forced has no obstacle.
Choice choose(Operation operation, const Layout& layout, const Hardware& hardware, Bytes size,
              const Forced& forced = {});

// Wire bytes per payload byte: LL 2, LL128 128/120, Simple 1.
double protocol_overhead(Protocol protocol);

const char* name(Operation operation);
const char* name(Algorithm algorithm);
const char* name(Protocol protocol);

}  // namespace sim::collective
