// 2^27 devices: what grows with the cluster, in time or memory, would not end here.
#include "tests/topology/examples.h"

namespace topology {

namespace {

// 2^24 hosts of 8 devices, 32 to a set of 8 rail leaves: 2^19 groups, 2^22 leaves.
constexpr int host_count = 1 << 24;
Description large(Fabric::Kind kind) {
  return description_of(crossbar_host(), host_count, fabric_of(kind, 32));
}

}  // namespace

TEST_CASE("2^24 hosts, rail-optimized: counts, names, numbers") {
  const Description d = large(Fabric::Kind::rail_optimized);
  CHECK(Cluster::findings(d).empty());
  const Cluster cluster(d);
  CHECK(cluster.device_count() == 1 << 27);
  CHECK(cluster.host_count() == host_count);
  // 48 links of a host; up and down of a leaf.
  CHECK(cluster.link_count() == 48 * host_count + 2 * (1 << 22));
  // 8 PCIe switches and a domain of a host; leaves, and what stands for all spines.
  CHECK(cluster.vertex_count() == (1 << 27) + 9 * host_count + (1 << 22) + 1);
  CHECK(cluster.device_name((1 << 27) - 1) == "h16777215.gpu7");
  CHECK(cluster.device((1 << 27) - 1).domain == host_count - 1);
  CHECK(cluster.host_name(1234567) == "h1234567");
  CHECK(cluster.devices_of_host(1234567).back() == 1234567 * 8 + 7);
  CHECK(cluster.link_name(48 * 1234567 + 47) == "h1234567.nic7.in");
  CHECK(cluster.link_name(48 * host_count + 2 * 4194303 + 1) == "leaf4194303.down");
  CHECK(cluster.vertex_name((1 << 27) + 8 * 1234567 + 3) == "h1234567.pcie3");
  CHECK(cluster.vertex_name((1 << 27) + 8 * host_count + 1234567) == "domain1234567");
  CHECK(cluster.vertex_name(cluster.vertex_count() - 1) == "spine");
  CHECK(cluster.blocks()->group == 256);
  CHECK(cluster.type_borders().empty());
}

TEST_CASE("2^24 hosts, rail-optimized: routes") {
  const Cluster cluster(large(Fabric::Kind::rail_optimized));
  const DeviceIndex last = (1 << 27) - 1;
  // Hosts 0 and 2^24 - 1 are in the first and the last group, whose leaves are 2^22 - 8 and on.
  const Route far = cluster.route(3, last);
  CHECK(text_of(cluster, far) ==
        "h0.gpu3.pcie.out h0.nic3.out leaf3.up leaf4194303.down h16777215.nic7.in "
        "h16777215.gpu7.pcie.in");
  check_is_flow(cluster, 3, last, far);
  const Route near = cluster.route(last - 8, last);
  CHECK(text_of(cluster, near) ==
        "h16777214.gpu7.pcie.out h16777214.nic7.out h16777215.nic7.in h16777215.gpu7.pcie.in");
  CHECK(text_of(cluster, cluster.route(last - 1, last)) == "h16777215.gpu6.up h16777215.gpu7.down");
}

TEST_CASE("2^24 hosts, rail-optimized: parts") {
  const Cluster cluster(large(Fabric::Kind::rail_optimized));
  CHECK(cluster.devices_of_part("h16777215") == cluster.devices_of_host(host_count - 1));
  CHECK(cluster.devices_of_part("h[16777214..99999999].gpu0") ==
        std::vector<DeviceIndex>{(1 << 27) - 16, (1 << 27) - 8});
  CHECK(cluster.devices_of_part("h1677721[0..9].gpu7").size() == 6);
  CHECK(cluster.devices_of_part("h16777216").empty());
  CHECK(cluster.links_of_part("h16777215").size() == 48);
  CHECK(cluster.links_of_part("h1000000.nic2") ==
        std::vector<LinkIndex>{48 * 1000000 + 36, 48 * 1000000 + 37});
  CHECK(cluster.links_of_part("domain1000000").size() == 16);
  CHECK(cluster.links_of_part("leaf4194303").size() == 2 * 32 + 2);
  CHECK(cluster.links_of_part("leaf4194303.port31").back() == 48 * host_count - 1);
  CHECK(cluster.links_of_part("leaf[4194300..4194309].up").size() == 4);
  CHECK(cluster.links_of_part("leaf4194304").empty());
  CHECK(cluster.links_of_part("switch").empty());
}

TEST_CASE("2^24 hosts, one switch, fat tree") {
  const Cluster single(large(Fabric::Kind::one_switch));
  CHECK(single.links_of_part("switch.port134217727").back() == 48 * host_count - 1);
  // 2^19 leaves come out in 725 = ceil(724.08) to a pod: 724 pods, the last with 113.
  const Cluster tree(large(Fabric::Kind::fat_tree));
  const LinkIndex first = 48 * host_count;
  CHECK(tree.link_count() == first + 2 * ((1 << 19) + 724));
  CHECK(tree.link_name(tree.link_count() - 1) == "pod723.down");
  CHECK(tree.tier(first - 1) == 0);
  CHECK(tree.tier(first) == 1);
  CHECK(tree.tier(tree.link_count() - 1) == 2);
  CHECK(tree.links_of_part("pod723").size() == 2 * (113 + 1));
  CHECK(tree.route(0, (1 << 27) - 1).links.size() == 8);
  CHECK(tree.blocks()->pod == 725 * 32 * 8);
}

}  // namespace topology
