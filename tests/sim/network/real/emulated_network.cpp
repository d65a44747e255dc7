// Everything is said to ip and tc, a batch a namespace.
#include "tests/sim/network/real/emulated_network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace sim::network::real {
namespace {

// Runs a command with `input`; its errors go to a file of no name.
void command(const std::string& what, const std::string& input) {
  if (input.empty()) return;
  FILE* pipe = popen((what + " >/dev/null 2>&1").c_str(), "w");
  if (!pipe) throw CannotEmulate("cannot start '" + what + "'");
  const bool is_written = std::fwrite(input.data(), 1, input.size(), pipe) == input.size();
  if (pclose(pipe) != 0 || !is_written) throw CannotEmulate("'" + what + "' failed");
}

void settings(const std::string& space) {
  command("ip netns exec " + space + " sh",
          "sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_slow_start_after_idle=0 "
          "net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1\n");
}

std::string hardware_address(int host) { return fmt::format("02:00:00:00:00:{:02x}", host + 1); }

// What a host says about its end of a cable.
std::string host_end(const std::string& device, int host, int hosts) {
  std::string text =
      fmt::format("addr add {}/24 dev {}\nlink set lo up\nlink set {} address {} up\n",
                  EmulatedNetwork::address(host), device, device, hardware_address(host));
  for (int other = 0; other < hosts; ++other) {
    if (other == host) continue;
    text += fmt::format("neigh replace {} lladdr {} dev {} nud permanent\n",
                        EmulatedNetwork::address(other), hardware_address(other), device);
  }
  return text;
}

}  // namespace

std::string EmulatedNetwork::address(int host) { return fmt::format("10.99.0.{}", host + 1); }

std::string EmulatedNetwork::file_of_host(int host) const {
  return fmt::format("/run/netns/{}h{}", prefix_, host);
}

EmulatedNetwork::EmulatedNetwork(const Pattern& pattern)
    : prefix_(fmt::format("maquette{}", getpid())), hosts_(pattern.hosts) {
  if (geteuid() != 0) throw CannotEmulate("only root can make network namespaces");
  for (const Flow& flow : pattern.flows) {
    const std::pair pair(flow.from, flow.to);
    if (std::find(pairs_.begin(), pairs_.end(), pair) == pairs_.end()) pairs_.push_back(pair);
  }
  try {
    make(pattern);
  } catch (...) {
    remove();
    throw;
  }
}

EmulatedNetwork::~EmulatedNetwork() { remove(); }

void EmulatedNetwork::remove() const {
  std::vector<std::string> spaces = {prefix_ + "s"};
  for (int h = 0; h < hosts_; ++h) spaces.push_back(fmt::format("{}h{}", prefix_, h));
  for (const std::string& space : spaces) {
    try {
      command("ip -batch -", "netns del " + space + "\n");
    } catch (const CannotEmulate&) {
      continue;  // it was never made
    }
  }
}

// A class for each pair of hosts, which shares what is left evenly: a queue for all would be shared
// by chance. Acknowledgements come first.
std::string EmulatedNetwork::limits(const std::string& device, double megabits,
                                    const std::vector<int>& classes) {
  const int frame = frame_payload_max + 14;
  const auto rate = [](double m) { return static_cast<long>(m * 1000); };
  std::string text = fmt::format(
      "qdisc add dev {0} root handle 1: htb default 2 r2q 1\n"
      "class add dev {0} parent 1: classid 1:1 htb rate {1}kbit ceil {1}kbit burst {2} cburst {2} "
      "quantum {3}\n"
      "class add dev {0} parent 1:1 classid 1:2 htb rate {4}kbit ceil {1}kbit burst {2} cburst {2} "
      "prio 0 quantum {3}\n"
      "qdisc add dev {0} parent 1:2 pfifo limit 1000\n",
      device, rate(megabits), 2 * frame, frame, rate(0.05 * megabits));
  for (const int pair : classes) {
    text += fmt::format(
        "class add dev {0} parent 1:1 classid 1:{1:x} htb rate {2}kbit ceil {3}kbit burst {4} "
        "cburst {5} prio 1 quantum {4}\n"
        "qdisc add dev {0} parent 1:{1:x} bfifo limit 1000000\n"
        "filter add dev {0} parent 1: protocol ip prio 1 u32 match ip dport {6} 0xffff "
        "flowid 1:{1:x}\n",
        device, 16 + pair, rate(0.19 * megabits / static_cast<double>(classes.size())),
        rate(megabits), frame, 2 * frame, first_port + pair);
  }
  return text;
}

void EmulatedNetwork::make(const Pattern& pattern) {
  const std::string switches = prefix_ + "s";
  std::string spaces = "netns add " + switches + "\n";
  for (int h = 0; h < hosts_; ++h) spaces += fmt::format("netns add {}h{}\n", prefix_, h);
  command("ip -batch -", spaces);
  std::string links, switch_limits;
  for (int s = hosts_; s < hosts_ + pattern.switches; ++s) {
    links += fmt::format(
        "link add br{0} type bridge mcast_snooping 0 stp_state 0\nlink set br{0} mtu {1} up\n", s,
        frame_payload_max);
  }
  const auto routes = paths(pattern);
  std::vector<std::string> host_links(static_cast<std::size_t>(hosts_)), host_limits = host_links;
  for (std::size_t c = 0; c < pattern.cables.size(); ++c) {
    const Cable& cable = pattern.cables[c];
    const std::string ends[] = {fmt::format("e{}a", c), fmt::format("e{}b", c)};
    links += fmt::format("link add {0} mtu {2} type veth peer name {1} mtu {2}\n", ends[0], ends[1],
                         frame_payload_max);
    for (int side = 0; side < 2; ++side) {
      const std::string& device = ends[side];
      const int node = side == 0 ? cable.a : cable.b;
      // No frames larger than those of a wire.
      links += fmt::format("link set {} gso_max_segs 1\n", device);
      std::vector<int> classes;
      for (std::size_t p = 0; p < pairs_.size(); ++p) {
        for (std::size_t f = 0; f < routes.size(); ++f) {
          const Flow& flow = pattern.flows[f];
          if (std::pair(flow.from, flow.to) != pairs_[p]) continue;
          const int direction = 2 * static_cast<int>(c) + side;
          if (std::count(routes[f].begin(), routes[f].end(), direction) == 0) continue;
          classes.push_back(static_cast<int>(p));
          break;
        }
      }
      const std::string limit = limits(device, cable.megabits, classes);
      if (node < hosts_) {
        links += fmt::format("link set {} netns {}h{}\n", device, prefix_, node);
        host_links[static_cast<std::size_t>(node)] += host_end(device, node, hosts_);
        host_limits[static_cast<std::size_t>(node)] += limit;
      } else {
        links += fmt::format("link set {0} master br{1}\nlink set {0} up\n", device, node);
        switch_limits += limit;
      }
    }
  }
  settings(switches);
  command("ip -n " + switches + " -batch -", links);
  command("tc -n " + switches + " -batch -", switch_limits);
  for (int h = 0; h < hosts_; ++h) {
    const std::string space = fmt::format("{}h{}", prefix_, h);
    settings(space);
    command("ip -n " + space + " -batch -", host_links[static_cast<std::size_t>(h)]);
    command("tc -n " + space + " -batch -", host_limits[static_cast<std::size_t>(h)]);
  }
}

}  // namespace sim::network::real
