// What stands between a group and an algorithm.
#include <algorithm>
#include <iterator>

#include "sim/base/invariant.h"
#include "sim/collective/collective.h"
#include "sim/collective/hosts.h"

namespace sim::collective {
namespace {

bool holds_equal_hosts(const Hosts& hosts) { return hosts.size_min() == hosts.size_max(); }

std::string across(const Hosts& hosts) {
  return std::to_string(hosts.host_of.size()) + " devices on " + std::to_string(hosts.count()) +
         (hosts.count() == 1 ? " host" : " hosts");
}

std::optional<Obstacle> of_nvls(const Hosts& hosts, const Hardware& hardware) {
  if (!hardware.has_nvls) {
    return {{"nvls needs a scale-up switch that reduces (NVLink SHARP)",
             "the host type says it with scale_up: {sharp: true}"}};
  }
  if (hardware.inside_domain) return std::nullopt;
  return {{"nvls stays inside one scale-up domain; here are " + across(hosts), "take nvls-tree"}};
}

std::optional<Obstacle> of_nvls_tree(const Hosts& hosts, const Hardware& hardware) {
  if (!hardware.has_nvls) {
    return {{"nvls-tree needs a scale-up switch that reduces (NVLink SHARP)",
             "the host type says it with scale_up: {sharp: true}"}};
  }
  if (hardware.inside_domain || hosts.count() < 2) {
    return {{"nvls-tree joins several hosts; here is one scale-up domain", "take nvls"}};
  }
  if (holds_equal_hosts(hosts) && hosts.size_min() > 1) return std::nullopt;
  return {
      {"nvls-tree needs equally many devices of each host, at least two; here are " + across(hosts),
       "take tree"}};
}

bool runs_anywhere(Algorithm algorithm) {
  constexpr Algorithm all[] = {Algorithm::ring, Algorithm::tree, Algorithm::hierarchical,
                               Algorithm::pairwise, Algorithm::direct};
  return std::find(std::begin(all), std::end(all), algorithm) != std::end(all);
}

}  // namespace

std::optional<Obstacle> obstacle(Operation operation, Algorithm algorithm, const Layout& layout,
                                 const Hardware& hardware) {
  if (runs_anywhere(algorithm)) return std::nullopt;
  const Hosts hosts(layout);
  switch (algorithm) {
    case Algorithm::nvls:
      return of_nvls(hosts, hardware);
    case Algorithm::nvls_tree:
      return of_nvls_tree(hosts, hardware);
    case Algorithm::collnet:
      if (!hardware.has_sharp) {
        return {{"collnet needs a fabric whose switches reduce (SHARP)",
                 "the fabric says it with sharp: true"}};
      }
      if (hosts.count() > 1 && holds_equal_hosts(hosts)) return std::nullopt;
      return {
          {"collnet needs equally many devices of each of several hosts; here are " + across(hosts),
           "take ring"}};
    case Algorithm::pat:
      if (hosts.size_max() == 1) return std::nullopt;
      return {{"pat needs one device of each host; here are " + across(hosts),
               std::string("take ring, or hierarchical for ") + name(operation)}};
    case Algorithm::pxn:
      if (hosts.count() > 1 && holds_equal_hosts(hosts) && hosts.size_min() > 1) {
        return std::nullopt;
      }
      return {{"pxn needs equally many devices of each of several hosts, at least two; here are " +
                   across(hosts),
               "take pairwise"}};
    default:
      break;
  }
  bug("unknown algorithm");
}

std::optional<Obstacle> obstacle(Algorithm algorithm, Protocol protocol, const Hardware& hardware) {
  const bool is_switched = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree ||
                           algorithm == Algorithm::collnet || algorithm == Algorithm::pat;
  if (is_switched && protocol != Protocol::simple) {
    return {{std::string(name(algorithm)) + " runs with Simple only", "take out the protocol"}};
  }
  if (protocol == Protocol::ll128 && !hardware.has_nvlink) {
    return {{"LL128 needs NVLink: its flags rely on the order of 128-byte stores",
             "take LL or Simple"}};
  }
  return std::nullopt;
}

}  // namespace sim::collective
