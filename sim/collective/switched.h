// Collectives in which switches reduce and multicast.
#pragma once

#include "sim/collective/hosts.h"

namespace sim::collective {

// All members under one scale-up switch. Each of n owns 1/n of the buffer.
//   all-reduce      owners load their part summed and store the sum to all: every port passes
//                   size (1 + 1/n) each way, against 2 (n - 1)/n of a ring
//   all-gather      owners store to all; reduce-scatter: owners load sums: size the one way
// A hop names two members, but the switch stands between them: hops go to the next member, with
// what the busier direction of its port passes.
// Worked: 8 ranks, 1 GB all-reduce: 1.125 GB a port instead of 1.75 GB.
// Source: NVIDIA, PTX ISA, multimem.ld_reduce and multimem.st; NCCL src/device/all_reduce.h, NVLS.
Traffic nvls(Operation operation, int ranks, Bytes size);

// All-reduce: inside a host as above, where each of g members owns 1/g of the buffer, and takes it
// through two binary trees over the hosts, half of it in each.
// REQUIRES: hosts of one size, at least two.
Traffic nvls_tree(const Hosts& hosts, Bytes size);

// All-reduce: reduced and gathered inside hosts directly; each of g members sends 1/g of the buffer
// to the fabric, which sends the sum back. A link between switches passes what a NIC passes: hops
// go to the next host of a ring, of which each group of hosts has one border.
// REQUIRES: hosts of one size, at least two.
Traffic collnet(const Hosts& hosts, Bytes size);

}  // namespace sim::collective
