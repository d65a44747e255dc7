// Inside hosts: PCIe, sockets, scale-up domains, which NIC serves whom; mixed clusters.
#include "tests/topology/examples.h"

namespace topology {

namespace {

Description alone(HostType type) { return description_of(std::move(type), 1, {}); }

Description two_on_one_switch(HostType type) {
  return description_of(std::move(type), 2, fabric_of(Fabric::Kind::one_switch, 32));
}

}  // namespace

TEST_CASE("crossbar: up and down, nothing else") {
  const Cluster cluster(alone(crossbar_host()));
  CHECK(cluster.link_count() == 16);  // no fabric, so neither NICs nor PCIe
  const Route route = route_of(cluster, "h0.gpu0", "h0.gpu7");
  CHECK(text_of(cluster, route) == "h0.gpu0.up h0.gpu7.down");
  CHECK(route.latency.value() == approximately(0.6e-6));
  CHECK(route.capacity.value() == approximately(450e9));
  CHECK(route.inside_domain);
  CHECK(route.inside_host);
}

TEST_CASE("mesh: a link of its own between every two devices") {
  HostType type = crossbar_host();
  type.scale_up.kind = ScaleUp::Kind::mesh;
  const Cluster cluster(alone(type));
  CHECK(cluster.link_count() == 8 * 7);
  const Route route = route_of(cluster, "h0.gpu3", "h0.gpu0");
  CHECK(text_of(cluster, route) == "h0.gpu3.gpu0");
  CHECK(route.latency.value() == approximately(0.3e-6));
  CHECK(route.capacity.value() == approximately(450e9 / 7));
  check_all_routes(cluster);
}

TEST_CASE("mesh over two hosts: 16 devices, 15 links each") {
  HostType type = crossbar_host();
  type.scale_up.kind = ScaleUp::Kind::mesh;
  type.scale_up.domain_hosts = 2;
  const Cluster cluster(description_of(type, 4, fabric_of(Fabric::Kind::one_switch, 32)));
  CHECK(text_of(cluster, route_of(cluster, "h2.gpu3", "h3.gpu0")) == "h2.gpu3.h3.gpu0");
  CHECK(link_named(cluster, "h3.gpu7.gpu6").capacity.value() == approximately(30e9));
  CHECK_FALSE(route_of(cluster, "h1.gpu3", "h2.gpu0").inside_domain);
  check_all_routes(cluster);
}

TEST_CASE("NVL72: one domain over 18 hosts of 4") {
  HostType type = crossbar_host();
  type.devices = type.nics = 4;
  type.scale_up.domain_hosts = 18;
  const Cluster cluster(description_of(type, 36, fabric_of(Fabric::Kind::rail_optimized, 18)));
  REQUIRE(cluster.device_count() == 144);
  CHECK(cluster.device(71).domain == 0);
  CHECK(cluster.device(72).domain == 1);
  const Route inside = route_of(cluster, "h0.gpu0", "h17.gpu3");
  CHECK(text_of(cluster, inside) == "h0.gpu0.up h17.gpu3.down");
  CHECK(inside.inside_domain);
  CHECK_FALSE(inside.inside_host);
  const Route outside = route_of(cluster, "h17.gpu3", "h18.gpu3");
  CHECK(text_of(cluster, outside) ==
        "h17.gpu3.pcie.out h17.nic3.out leaf3.up leaf7.down h18.nic3.in h18.gpu3.pcie.in");
}

TEST_CASE("PCIe host: below a switch, across sockets") {
  const Cluster cluster(alone(pcie_host()));
  // 8 devices and 2 switches with two links each, two between the sockets.
  CHECK(cluster.link_count() == 16 + 4 + 2);
  const Route near = route_of(cluster, "h0.gpu0", "h0.gpu3");
  CHECK(text_of(cluster, near) == "h0.gpu0.pcie.out h0.gpu3.pcie.in");
  CHECK(near.latency.value() == approximately(1e-6));
  CHECK(near.capacity.value() == approximately(32e9));
  CHECK(near.inside_host);
  CHECK_FALSE(near.inside_domain);
  const Route far = route_of(cluster, "h0.gpu0", "h0.gpu4");
  CHECK(text_of(cluster, far) ==
        "h0.gpu0.pcie.out h0.pcie0.up h0.socket0.socket1 h0.pcie1.down h0.gpu4.pcie.in");
  CHECK(far.latency.value() == approximately(2.5e-6));
  CHECK(far.capacity.value() == approximately(20e9));
  // No scale-up links: every device is a domain of its own.
  CHECK(cluster.device(0).domain != cluster.device(1).domain);
}

TEST_CASE("PCIe host: one socket, however many are written, when no link joins them") {
  HostType type = pcie_host();
  type.socket_link = BytesPerSecond(0);
  const Cluster cluster(alone(type));
  CHECK(text_of(cluster, route_of(cluster, "h0.gpu0", "h0.gpu4")) ==
        "h0.gpu0.pcie.out h0.pcie0.up h0.pcie1.down h0.gpu4.pcie.in");
}

TEST_CASE("fewer NICs than devices: each serves those that follow it") {
  // NIC 0 sits beside device 0 and serves 0..3, NIC 1 beside 4.
  const Cluster cluster(two_on_one_switch(pcie_host()));
  CHECK(text_of(cluster, route_of(cluster, "h0.gpu3", "h1.gpu4")) ==
        "h0.gpu3.pcie.out h0.nic0.out h1.nic1.in h1.gpu4.pcie.in");
  // A single NIC sits on the first switch: devices of the second go through both sockets.
  HostType type = pcie_host();
  type.nics = 1;
  const Cluster single(two_on_one_switch(type));
  CHECK(text_of(single, route_of(single, "h0.gpu5", "h1.gpu6")) ==
        "h0.gpu5.pcie.out h0.pcie1.up h0.socket1.socket0 h0.pcie0.down h0.nic0.out h1.nic0.in "
        "h1.pcie0.up h1.socket0.socket1 h1.pcie1.down h1.gpu6.pcie.in");
  // Three NICs for eight devices, beside 0, 2 and 5.
  type.nics = 3;
  const Cluster three(two_on_one_switch(type));
  const char* serving[] = {"nic0", "nic0", "nic1", "nic1", "nic1", "nic2", "nic2", "nic2"};
  for (int d = 0; d < 8; ++d) {
    const std::string text =
        text_of(three, route_of(three, "h0.gpu" + std::to_string(d), "h1.gpu0"));
    CHECK_MESSAGE(text.find(std::string("h0.") + serving[d] + ".out") != std::string::npos, text);
  }
}

TEST_CASE("more NICs than devices: bytes spread over the device's own") {
  HostType type = crossbar_host();
  type.nics = 32;
  type.nic = gigabits_per_second(100);
  const Cluster cluster(two_on_one_switch(type));
  const Route route = route_of(cluster, "h0.gpu1", "h1.gpu0");
  CHECK(text_of(cluster, route) ==
        "h0.gpu1.pcie.out h0.nic4.out*0.250 h1.nic0.in*0.250 h0.nic5.out*0.250 h1.nic1.in*0.250 "
        "h0.nic6.out*0.250 h1.nic2.in*0.250 h0.nic7.out*0.250 h1.nic3.in*0.250 h1.gpu0.pcie.in");
  CHECK(route.capacity.value() == approximately(50e9));  // 4 NICs of 12.5 GB/s
  CHECK(route.latency.value() == approximately(2 * 0.5e-6 + 2 * 0.6e-6));
}

TEST_CASE("host memory: over PCIe to the part of the device's socket; its cores beside it") {
  HostType type = crossbar_host();
  type.memory_rate = gigabytes_per_second(600);
  type.optimizer_rate = gigabytes_per_second(200);
  Description description = two_on_one_switch(type);
  const LinkIndex without = Cluster(description).link_count();
  description.reaches_host_memory = true;
  const Cluster cluster(description);
  // In each host 8 PCIe switches and two sockets, the two links between these, memory and cores.
  CHECK(cluster.link_count() == without + 2 * (16 + 2 + 4));
  const DeviceIndex device = device_named(cluster, "h1.gpu5");
  const Route out = cluster.host_route(device, HostRoute::to_memory);
  CHECK(text_of(cluster, out) == "h1.gpu5.pcie.out h1.pcie5.up h1.memory1");
  CHECK(out.latency.value() == approximately(1e-6));
  CHECK(out.capacity.value() == approximately(64e9));
  const Route back = cluster.host_route(device, HostRoute::from_memory);
  CHECK(text_of(cluster, back) == "h1.gpu5.pcie.in h1.pcie5.down h1.memory1");
  const Route work = cluster.host_route(device, HostRoute::work);
  CHECK(text_of(cluster, work) == "h1.memory1 h1.cores1");
  CHECK(work.capacity.value() == approximately(100e9));
  CHECK(link_named(cluster, "h0.memory0").capacity.value() == approximately(300e9));
  // A part of its own: what happens to a host's links leaves it.
  CHECK(cluster.links_of_part("h0.memory1").size() == 1);
  CHECK(cluster.links_of_part("h[*].cores*").size() == 4);
  for (const LinkIndex link : cluster.links_of_part("h0")) {
    CHECK(cluster.link(link).kind != LinkKind::memory);
  }
  check_all_routes(cluster);
  REQUIRE(cluster.blocks());
  CHECK(cluster.blocks()->shares_host_links);
}

TEST_CASE("host memory of a PCIe host: four devices to a switch, with its socket's half") {
  HostType type = pcie_host();
  type.memory_rate = gigabytes_per_second(400);
  Description description = alone(type);
  description.reaches_host_memory = true;
  const Cluster cluster(description);
  CHECK(text_of(cluster,
                cluster.host_route(device_named(cluster, "h0.gpu3"), HostRoute::to_memory)) ==
        "h0.gpu3.pcie.out h0.pcie0.up h0.memory0");
  CHECK(text_of(cluster,
                cluster.host_route(device_named(cluster, "h0.gpu4"), HostRoute::from_memory)) ==
        "h0.gpu4.pcie.in h0.pcie1.down h0.memory1");
}

TEST_CASE("a NIC runs at the lowest of its rate, its slot and its port") {
  HostType type = crossbar_host();
  Description d = two_on_one_switch(type);
  CHECK(link_named(Cluster(d), "h0.nic0.out").capacity.value() == approximately(50e9));
  d.fabric.link = gigabits_per_second(200);
  CHECK(link_named(Cluster(d), "h0.nic0.in").capacity.value() == approximately(25e9));
  d.hosts[0].type.pcie = gigabytes_per_second(16);
  CHECK(link_named(Cluster(d), "h0.nic0.in").capacity.value() == approximately(16e9));
}

TEST_CASE("mixed cluster: 4 NICs of a device meet 1 of another's") {
  Description d = two_on_one_switch(crossbar_host());
  d.hosts[0].type.nics = 32;
  d.hosts[0].type.nic = gigabits_per_second(100);
  d.hosts.push_back({"p", 2, pcie_host()});
  REQUIRE_FALSE(has_error(d));
  const Cluster cluster(d);
  CHECK(cluster.host_count() == 4);
  CHECK(cluster.host_name(2) == "p0");
  CHECK(cluster.host_type(2)->name == "pcie");
  CHECK(cluster.device(16).device_type == "plain");
  CHECK(cluster.devices_of_host(2)[0] == 16);
  const Route route = route_of(cluster, "h0.gpu0", "p1.gpu0");
  CHECK(text_of(cluster, route) ==
        "h0.gpu0.pcie.out h0.nic0.out*0.250 p1.nic0.in h0.nic1.out*0.250 h0.nic2.out*0.250 "
        "h0.nic3.out*0.250 p1.gpu0.pcie.in");
  CHECK(route.capacity.value() == approximately(25e9));
  check_all_routes(cluster);
}

}  // namespace topology
