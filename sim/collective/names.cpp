// Words for operations, algorithms, protocols; what exists for what.
#include "sim/base/invariant.h"
#include "sim/collective/collective.h"

namespace sim::collective {

std::vector<Algorithm> algorithms(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return {Algorithm::ring, Algorithm::tree,      Algorithm::hierarchical, Algorithm::direct,
              Algorithm::nvls, Algorithm::nvls_tree, Algorithm::collnet};
    case Operation::all_gather:
    case Operation::reduce_scatter:
      return {Algorithm::ring, Algorithm::hierarchical, Algorithm::direct, Algorithm::nvls,
              Algorithm::pat};
    case Operation::all_to_all:
      return {Algorithm::pairwise, Algorithm::direct, Algorithm::pxn};
    case Operation::broadcast:
      return {Algorithm::ring, Algorithm::direct};
    case Operation::send_receive:
      return {Algorithm::direct};
  }
  bug("unknown operation");
}

double protocol_overhead(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return 1;
    case Protocol::ll128:
      return 128.0 / 120.0;  // 8 of 128 bytes are flags
    case Protocol::ll:
      return 2;  // 4 bytes of data, 4 of flag
  }
  bug("unknown protocol");
}

const char* name(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "all-reduce";
    case Operation::all_gather:
      return "all-gather";
    case Operation::reduce_scatter:
      return "reduce-scatter";
    case Operation::all_to_all:
      return "all-to-all";
    case Operation::broadcast:
      return "broadcast";
    case Operation::send_receive:
      return "send-receive";
  }
  bug("unknown operation");
}

const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "ring";
    case Algorithm::tree:
      return "tree";
    case Algorithm::hierarchical:
      return "hierarchical";
    case Algorithm::pairwise:
      return "pairwise";
    case Algorithm::direct:
      return "direct";
    case Algorithm::nvls:
      return "nvls";
    case Algorithm::nvls_tree:
      return "nvls-tree";
    case Algorithm::collnet:
      return "collnet";
    case Algorithm::pat:
      return "pat";
    case Algorithm::pxn:
      return "pxn";
  }
  bug("unknown algorithm");
}

const char* name(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return "Simple";
    case Protocol::ll128:
      return "LL128";
    case Protocol::ll:
      return "LL";
  }
  bug("unknown protocol");
}

}  // namespace sim::collective
