// Every rule about descriptions, with the words that the user reads.
#include <limits>
#include <random>

#include "tests/topology/examples.h"

namespace topology {

namespace {

using Subject = Finding::Subject;

Description sound() {
  return description_of(crossbar_host(), 4, fabric_of(Fabric::Kind::rail_optimized, 32));
}

// The only finding of a description.
Finding only(const Description& description) {
  const auto found = Cluster::findings(description);
  std::string all;
  for (const Finding& f : found) all += f.message + "; ";
  CAPTURE(all);
  REQUIRE(found.size() == 1);
  return found.front();
}

template <class Change>
Finding changed(Change&& change) {
  Description description = sound();
  change(description);
  return only(description);
}

template <class Change>
void check_error(const std::string& message, Subject subject, Change&& change) {
  const Finding finding = changed(change);
  CHECK(finding.message == message);
  CHECK(finding.is_error);
  CHECK(finding.subject == subject);
}

Graph sound_graph() {
  Graph graph;
  graph.devices = {{"a", "fast", ""}, {"b", "fast", ""}};
  graph.switches = {"switch0"};
  graph.links = {{"a", "switch0", gigabytes_per_second(1), Seconds(0), false},
                 {"switch0", "b", gigabytes_per_second(1), Seconds(0), false}};
  return graph;
}

template <class Change>
Finding changed_graph(Change&& change) {
  Description description;
  description.graph = sound_graph();
  change(*description.graph);
  return only(description);
}

}  // namespace

TEST_CASE("findings: none for sound descriptions") {
  CHECK(Cluster::findings(sound()).empty());
  Description graph;
  graph.graph = sound_graph();
  CHECK(Cluster::findings(graph).empty());
  CHECK(Cluster::findings(description_of(crossbar_host(), 1, {})).empty());
}

TEST_CASE("findings: nothing, or both, described") {
  CHECK(only({}).message == "the cluster has no hosts");
  CHECK(changed([](Description& d) { d.graph = sound_graph(); }).message ==
        "both hosts and a graph are given");
}

TEST_CASE("findings: counts") {
  const auto group = Subject::host_group;
  check_error("count is 0, the least is 1", group, [](auto& d) { d.hosts[0].count = 0; });
  check_error("count is -3, the least is 1", group, [](auto& d) { d.hosts[0].count = -3; });
  check_error("devices is 0, the least is 1", group, [](auto& d) { d.hosts[0].type.devices = 0; });
  check_error("nics is -1, the least is 0", group, [](auto& d) { d.hosts[0].type.nics = -1; });
  check_error("sockets is 0, the least is 1", group, [](auto& d) { d.hosts[0].type.sockets = 0; });
  check_error("devices_per_pcie_switch is 0, the least is 1", group,
              [](auto& d) { d.hosts[0].type.devices_per_pcie_switch = 0; });
  check_error("scale_up.domain_hosts is 0, the least is 1", group,
              [](auto& d) { d.hosts[0].type.scale_up.domain_hosts = 0; });
  check_error("hosts_per_group is 0, the least is 1", Subject::fabric,
              [](auto& d) { d.fabric.hosts_per_group = 0; });
  check_error("leaves_per_pod is -1, the least is 0", Subject::fabric,
              [](auto& d) { d.fabric.leaves_per_pod = -1; });
}

TEST_CASE("findings: rates and latencies") {
  const auto group = Subject::host_group;
  check_error("scale_up.per_device is missing or zero", group,
              [](auto& d) { d.hosts[0].type.scale_up.per_device = BytesPerSecond(0); });
  check_error("nic is missing or zero", group,
              [](auto& d) { d.hosts[0].type.nic = BytesPerSecond(0); });
  check_error("pcie is missing or zero", group,
              [](auto& d) { d.hosts[0].type.pcie = BytesPerSecond(0); });
  check_error("pcie is not a positive number", group,
              [](auto& d) { d.hosts[0].type.pcie = BytesPerSecond(-1); });
  check_error("pcie_latency is negative or not finite", group,
              [](auto& d) { d.hosts[0].type.pcie_latency = Seconds(-1); });
  check_error("link is missing or zero", Subject::fabric,
              [](auto& d) { d.fabric.link = BytesPerSecond(0); });
  check_error("oversubscription is 0.5, the least is 1", Subject::fabric,
              [](auto& d) { d.fabric.oversubscription = 0.5; });
}

TEST_CASE("findings: more through one switch than rates can be told apart for") {
  const Finding finding = changed([](Description& d) {
    d.hosts[0].count = 2'000'000;
    d.fabric.hosts_per_group = 900'000;
  });
  CHECK(finding.message.find("the links from one switch up carry") == 0);
  CHECK(finding.is_error);
}

TEST_CASE("findings: names") {
  const auto group = Subject::host_group;
  const auto with = [](const char* first, const char* second) {
    return [=](Description& d) {
      d.hosts.push_back(d.hosts[0]);
      d.hosts[0].name = first;
      d.hosts[1].name = second;
    };
  };
  check_error("two groups of hosts have the name 'h'", group, with("h", "h"));
  check_error("hosts of 'h1' and of 'h' have equal names", group, with("h", "h1"));
  check_error("'a.b' cannot be the name of hosts", group, with("h", "a.b"));
  check_error("'leaf' cannot be the name of hosts", group, with("h", "leaf"));
  // A host leaf10 would be called like a switch.
  check_error("'leaf1' cannot be the name of hosts", group, with("h", "leaf1"));
  check_error("a group of hosts has no name", group, with("h", ""));
  CHECK(changed(with("h", "h")).index == 1);
}

TEST_CASE("findings: scale-up domains") {
  const Finding finding = changed([](auto& d) {
    d.hosts[0].count = 20;
    d.hosts[0].type.scale_up.domain_hosts = 18;
  });
  CHECK(finding.message == "20 hosts cannot form scale-up domains of 18 hosts");
  CHECK(finding.why == "20 = 1 x 18 + 2");
  CHECK(finding.hint == "write 'count: 36'");
}

TEST_CASE("findings: NICs") {
  check_error("12 NICs cannot be spread over 8 devices", Subject::host_group,
              [](auto& d) { d.hosts[0].type.nics = 12; });
  check_error("hosts 'h' have no NICs, so nothing reaches them", Subject::host_group,
              [](auto& d) { d.hosts[0].type.nics = 0; });
  const Finding uneven = changed([](auto& d) { d.hosts[0].type.nics = 3; });
  CHECK_FALSE(uneven.is_error);
  CHECK(uneven.message == "3 NICs serve 8 devices unevenly");
  // 50 GB/s behind 32 GB/s: 64 %.
  const Finding slot = changed([](auto& d) { d.hosts[0].type.pcie = gigabytes_per_second(32); });
  CHECK_FALSE(slot.is_error);
  CHECK(slot.message == "a NIC is faster than its PCIe slot: 50 GB/s and 32 GB/s");
  CHECK(slot.why == "32 GB/s / 50 GB/s = 0.64: the NIC delivers at most that share of its rate");
  const Finding port = changed([](auto& d) { d.fabric.link = gigabits_per_second(200); });
  CHECK_FALSE(port.is_error);
  CHECK(port.message == "a NIC is faster than its switch port: 50 GB/s and 25 GB/s");
}

TEST_CASE("findings: hosts that no link joins") {
  check_error("no link joins h0 and h1", Subject::fabric, [](auto& d) { d.fabric = {}; });
  // Two domains of two hosts: the first host of the second is h2.
  check_error("no link joins h0 and h2", Subject::fabric, [](auto& d) {
    d.fabric = {};
    d.hosts[0].type.scale_up.domain_hosts = 2;
  });
  check_error("no link joins h0 and p0", Subject::fabric, [](auto& d) {
    d.fabric = {};
    d.hosts[0].type.scale_up.domain_hosts = 4;
    d.hosts.push_back({"p", 1, pcie_host()});
  });
  // A single domain needs neither fabric nor NICs.
  Description one_domain = sound();
  one_domain.fabric = {};
  one_domain.hosts[0].type.scale_up.domain_hosts = 4;
  CHECK(Cluster::findings(one_domain).empty());
}

TEST_CASE("findings: spares, storage, size") {
  check_error("4 spare hosts of 4 leave none to work", Subject::cluster,
              [](auto& d) { d.spares = 4; });
  check_error("spares is negative", Subject::cluster, [](auto& d) { d.spares = -1; });
  check_error("storage.write is missing or zero", Subject::cluster, [](auto& d) {
    d.storage = {BytesPerSecond(0), BytesPerSecond(1)};
  });
  // 2^24 hosts of 8 are 2^27 devices, one more host is too many.
  check_error("the cluster has 134217736 devices, the most is 2^27 = 134217728", Subject::cluster,
              [](auto& d) { d.hosts[0].count = (1 << 24) + 1; });
  // One mesh over 2^13 hosts of 8: 2^16 (2^16 - 1) = 4.29e9 scale-up links.
  check_error("the cluster has 4.3e+09 links, the most is 2.15e+09", Subject::cluster, [](auto& d) {
    d.hosts[0].count = 1 << 13;
    d.hosts[0].type.scale_up.kind = ScaleUp::Kind::mesh;
    d.hosts[0].type.scale_up.domain_hosts = 1 << 13;
  });
}

TEST_CASE("findings: all at once, in order") {
  Description d = sound();
  d.hosts[0].count = 0;
  d.hosts[0].type.sockets = 0;
  d.fabric.oversubscription = 0;
  d.spares = -1;
  CHECK(Cluster::findings(d).size() == 4);
}

TEST_CASE("findings: whatever has no error can be built and routed") {
  const int counts[] = {-1, 0, 1, 2, 3, 1000000, std::numeric_limits<int>::max()};
  const double rates[] = {-1,
                          0,
                          1e9,
                          25e9,
                          std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity()};
  int built = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Description d = sound();
    HostType& type = d.hosts[0].type;
    int* const fields[] = {&d.hosts[0].count,
                           &type.devices,
                           &type.nics,
                           &type.devices_per_pcie_switch,
                           &type.sockets,
                           &type.scale_up.domain_hosts,
                           &d.fabric.hosts_per_group,
                           &d.fabric.leaves_per_pod,
                           &d.spares};
    BytesPerSecond* const capacities[] = {&type.nic, &type.pcie, &type.socket_link,
                                          &type.scale_up.per_device, &d.fabric.link};
    for (int changes = 0; changes < 3; ++changes) {
      *fields[random() % std::size(fields)] = counts[random() % std::size(counts)];
      *capacities[random() % std::size(capacities)] =
          BytesPerSecond(rates[random() % std::size(rates)]);
    }
    d.fabric.kind = static_cast<Fabric::Kind>(random() % 5);
    type.scale_up.kind = static_cast<ScaleUp::Kind>(random() % 3);
    if (has_error(d) || d.hosts[0].count > 4) continue;
    const Cluster cluster(d);
    check_all_routes(cluster);
    ++built;
  }
  CHECK(built > 100);
}

TEST_CASE("findings: graph links") {
  const Finding unknown = changed_graph([](Graph& g) { g.links[1].from = "swich0"; });
  CHECK(unknown.message == "link swich0 - b: no device or switch 'swich0'");
  CHECK(unknown.hint == "did you mean 'switch0'?");
  CHECK(unknown.subject == Subject::graph_link);
  CHECK(unknown.index == 1);
  CHECK(changed_graph([](Graph& g) { g.links[0].capacity = BytesPerSecond(0); }).message ==
        "capacity is missing or zero");
  CHECK(changed_graph([](Graph& g) {
          g.links.push_back({"switch0", "switch0", gigabytes_per_second(1), Seconds(0), false});
        }).message == "link switch0 - switch0 starts where it ends");
}

TEST_CASE("findings: graph parts and paths") {
  CHECK(changed_graph([](Graph& g) { g.switches.push_back("a"); }).message ==
        "two parts of the graph have the name 'a'");
  CHECK(changed_graph([](Graph& g) {
          g.devices[1].name = "b*";
          g.links[1].to = "b*";
        }).message == "'b*' cannot be the name of a device");
  const Finding one_way = changed_graph([](Graph& g) { g.links[1].one_way = true; });
  CHECK(one_way.message == "no path leads from 'b' to 'a'");
  CHECK(one_way.subject == Subject::graph_device);
  CHECK(one_way.index == 1);
  const Finding unused = changed_graph([](Graph& g) { g.switches.push_back("t"); });
  CHECK_FALSE(unused.is_error);
  CHECK(unused.message == "no link reaches switch 't'");
  CHECK(changed_graph([](Graph& g) { g.devices[0].host = "b"; }).message ==
        "device 'b' has no host, and another device's host is 'b'");
}

}  // namespace topology
