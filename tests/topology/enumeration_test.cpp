// What a cluster computes on demand, against lists of everything written out by the test.
#include <functional>
#include <set>

#include "tests/topology/examples.h"
#include "topology/part_pattern.h"

namespace topology {

namespace {

using Kind = Fabric::Kind;
using Routing = Fabric::Routing;

// Everything in a cluster, by name.
struct Everything {
  explicit Everything(const Cluster& cluster) {
    for (LinkIndex l = 0; l < cluster.link_count(); ++l) {
      links.push_back(cluster.link_name(l));
      ends.push_back(cluster.ends(l));
      is_unique = seen.insert(links.back()).second && is_unique;
    }
    for (VertexIndex v = 0; v < cluster.vertex_count(); ++v) {
      vertices.push_back(cluster.vertex_name(v));
      is_unique = seen.insert(vertices.back()).second && is_unique;
    }
    for (HostIndex h = 0; h < cluster.host_count(); ++h) {
      hosts.push_back(cluster.host_name(h));
      is_unique = seen.insert(hosts.back()).second && is_unique;
    }
  }
  // Links with a name that starts with `part`, or that end at a vertex with such a name.
  std::vector<LinkIndex> links_of(const std::string& part) const {
    const auto belongs = [&](const std::string& name) {
      return name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
    };
    std::vector<LinkIndex> result;
    for (std::size_t l = 0; l < links.size(); ++l) {
      const auto vertex = [&](VertexIndex v) { return vertices[static_cast<std::size_t>(v)]; };
      if (belongs(links[l]) || belongs(vertex(ends[l].from)) || belongs(vertex(ends[l].to))) {
        result.push_back(static_cast<LinkIndex>(l));
      }
    }
    return result;
  }

  std::vector<std::string> links, vertices, hosts;
  std::vector<LinkEnds> ends;
  std::set<std::string> seen;
  bool is_unique = true;
};

HostType host_of(ScaleUp::Kind kind, int domain_hosts, int nics) {
  HostType type = crossbar_host();
  type.devices = 4;
  type.nics = nics;
  type.devices_per_pcie_switch = 2;
  type.scale_up.kind = kind;
  type.scale_up.domain_hosts = domain_hosts;
  return type;
}

// Every kind of fabric and routing over groups of hosts of every kind: 15 hosts, 60 devices.
std::vector<Description> descriptions() {
  std::vector<Description> result;
  for (const Kind kind :
       {Kind::one_switch, Kind::leaf_spine, Kind::rail_optimized, Kind::fat_tree}) {
    for (const Routing routing : {Routing::sprayed, Routing::hashed}) {
      Description d = description_of(host_of(ScaleUp::Kind::crossbar, 3, 4), 6, fabric_of(kind, 2));
      d.hosts.push_back({"m", 4, host_of(ScaleUp::Kind::mesh, 2, 2)});
      d.hosts.push_back({"h2x", 3, host_of(ScaleUp::Kind::none, 1, 1)});
      d.hosts.push_back({"p7", 2, host_of(ScaleUp::Kind::crossbar, 1, 8)});
      d.fabric.routing = routing;
      d.fabric.oversubscription = 2;
      d.fabric.leaves_per_pod = kind == Kind::fat_tree ? 3 : 0;
      result.push_back(d);
    }
  }
  return result;
}

std::vector<DeviceIndex> all_devices(const Cluster& cluster,
                                     const std::function<bool(DeviceIndex)>& wanted) {
  std::vector<DeviceIndex> result;
  for (DeviceIndex d = 0; d < cluster.device_count(); ++d) {
    if (wanted(d)) result.push_back(d);
  }
  return result;
}

}  // namespace

TEST_CASE("names are unique, and every one finds its part") {
  for (const Description& description : descriptions()) {
    REQUIRE_FALSE(has_error(description));
    const Cluster cluster(description);
    CAPTURE(static_cast<int>(description.fabric.kind));
    CAPTURE(static_cast<int>(description.fabric.routing));
    const Everything all(cluster);
    CHECK(all.is_unique);
    REQUIRE(cluster.device_count() == 60);
    REQUIRE(cluster.host_count() == 15);
    for (const std::string& name : all.seen) {
      CAPTURE(name);
      const std::vector<LinkIndex> links = cluster.links_of_part(name);
      CHECK_FALSE(links.empty());
      CHECK(links == all.links_of(name));
    }
    for (DeviceIndex d = 0; d < cluster.device_count(); ++d) {
      CHECK(cluster.devices_of_part(cluster.device_name(d)) == std::vector{d});
      CHECK(cluster.vertex_name(d) == cluster.device_name(d));
    }
    for (HostIndex h = 0; h < cluster.host_count(); ++h) {
      const std::vector<DeviceIndex> own = cluster.devices_of_host(h);
      CHECK(cluster.devices_of_part(cluster.host_name(h)) == own);
      CHECK(own ==
            all_devices(cluster, [&](DeviceIndex d) { return cluster.device(d).host == h; }));
      for (int i = 0; i < 4; ++i) {
        const DeviceIndex d = own[static_cast<std::size_t>(i)];
        CHECK(cluster.device(d).index_in_host == i);
        CHECK(cluster.device_name(d) == cluster.host_name(h) + ".gpu" + std::to_string(i));
      }
    }
    for (const std::string& name : all.vertices) {
      if (name.find("gpu") == std::string::npos) CHECK(cluster.devices_of_part(name).empty());
    }
  }
}

TEST_CASE("patterns find what the enumeration of their numbers finds") {
  const auto merged = [](const Cluster& cluster, const std::vector<std::string>& parts) {
    std::set<LinkIndex> links;
    for (const std::string& part : parts) {
      for (const LinkIndex link : cluster.links_of_part(part)) links.insert(link);
    }
    return std::vector<LinkIndex>(links.begin(), links.end());
  };
  for (const Description& description : descriptions()) {
    const Cluster cluster(description);
    const auto check = [&](const std::string& pattern, const std::vector<std::string>& parts) {
      CAPTURE(pattern);
      CHECK(cluster.links_of_part(pattern) == merged(cluster, parts));
    };
    check("h[1..3].nic2", {"h1.nic2", "h2.nic2", "h3.nic2"});
    check("h[4..900]", {"h4", "h5"});
    check("h*.gpu[1..2]", {"h0.gpu1", "h0.gpu2", "h1.gpu1", "h1.gpu2", "h2.gpu1", "h2.gpu2",
                           "h3.gpu1", "h3.gpu2", "h4.gpu1", "h4.gpu2", "h5.gpu1", "h5.gpu2"});
    // The number of a host and a digit of its group's name are one number in a pattern.
    check("p*", {"p70", "p71"});
    check("p[71]", {"p71"});
    check("p[8..71].nic*", {"p70.nic*", "p71.nic*"});
    check("p7*", {"p70", "p71"});
    check("h[2]x*", {"h2x0", "h2x1", "h2x2"});
    check("h*x[1..2].pcie*", {"h2x1.pcie0", "h2x1.pcie1", "h2x2.pcie0", "h2x2.pcie1"});
    check("m0.gpu0.m1.gpu*",
          {"m0.gpu0.m1.gpu0", "m0.gpu0.m1.gpu1", "m0.gpu0.m1.gpu2", "m0.gpu0.m1.gpu3"});
    // Domains: two of three hosts of 'h', two meshes, twelve devices alone, one of each 'p7'.
    check("domain*", {"domain0", "domain1", "domain16", "domain17"});
    check("domain[2..15]", {});
    check("leaf[1..2]", {"leaf1", "leaf2"});
    check("leaf*.port1", {"leaf0.port1", "leaf1.port1", "leaf2.port1", "leaf[3..99].port1"});
  }
}

TEST_CASE("every route is a walk over its links, of the tiers it needs") {
  for (const Description& description : descriptions()) {
    const Cluster cluster(description);
    check_all_routes(cluster);
    for (DeviceIndex target = 1; target < cluster.device_count(); ++target) {
      const Route route = cluster.route(0, target, 3);
      int highest = 0;
      for (const auto& [link, share] : route.links) {
        const int tier = cluster.tier(link);
        CHECK((tier > 0) == (cluster.link(link).kind == LinkKind::fabric));
        highest = std::max(highest, tier);
      }
      if (route.inside_domain || route.inside_host) CHECK(highest == 0);
      // Device 0 has one NIC; so have these, and links follow one another.
      if (cluster.device(target).host >= 13) continue;
      VertexIndex at = 0;
      for (const auto& [link, share] : route.links) {
        CHECK(cluster.ends(link).from == at);
        at = cluster.ends(link).to;
      }
      CHECK(at == target);
    }
  }
}

TEST_CASE("tier: leaf to spine or pod 1, pod to core 2") {
  for (const Description& description : descriptions()) {
    const Cluster cluster(description);
    for (LinkIndex link = 0; link < cluster.link_count(); ++link) {
      const LinkEnds ends = cluster.ends(link);
      const std::string from = cluster.vertex_name(ends.from), to = cluster.vertex_name(ends.to);
      int expected = 0;
      if (from.starts_with("core") || to.starts_with("core")) {
        expected = 2;
      } else if (cluster.link(link).kind == LinkKind::fabric) {
        expected = 1;
        CHECK((from.starts_with("leaf") || to.starts_with("leaf")));
      }
      CHECK(cluster.tier(link) == expected);
    }
  }
}

TEST_CASE("ports: every NIC of a leaf has one, in order") {
  for (const Description& description : descriptions()) {
    const Cluster cluster(description);
    std::map<std::string, std::vector<LinkIndex>> plugged;
    for (LinkIndex link = 0; link < cluster.link_count(); ++link) {
      if (cluster.link(link).kind != LinkKind::nic) continue;
      const std::string to = cluster.vertex_name(cluster.ends(link).to);
      if (to.starts_with("leaf") || to == "switch") plugged[to].push_back(link);
    }
    for (const auto& [leaf, links] : plugged) {
      for (std::size_t port = 0; port < links.size(); ++port) {
        CHECK(cluster.links_of_part(leaf + ".port" + std::to_string(port)) ==
              std::vector{links[port], links[port] + 1});
      }
      CHECK(cluster.links_of_part(leaf + ".port" + std::to_string(links.size())).empty());
      CHECK(cluster.links_of_part(leaf + ".port*").size() == 2 * links.size());
    }
  }
}

TEST_CASE("numbers of a pattern: all that match, few others") {
  const auto text = [](const char* pattern, const char* stem, std::int64_t begin = 0,
                       std::int64_t end = 1000) {
    std::string result;
    for (const auto& [first, last] : PartPattern(pattern).numbers_after(stem, begin, end)) {
      if (!result.empty()) result += ' ';
      result += std::to_string(first) + ".." + std::to_string(last);
    }
    return result;
  };
  CHECK(text("h1[0..3]", "h") == "10..13");
  CHECK(text("h1[0..3]", "h1") == "0..3");
  CHECK(text("h1[0..3]", "h1.gpu").empty());
  CHECK(text("h12", "h") == "12..12");
  CHECK(text("h12", "h1") == "2..2");
  CHECK(text("h12.nic3", "h") == "12..12");
  CHECK(text("h12.nic[2..5]", "h12.nic") == "2..5");
  CHECK(text("h12", "h12.nic") == "0..999");
  CHECK(text("h12", "h12.nic", 5, 7) == "5..6");
  CHECK(text("h12", "h13.nic").empty());
  CHECK(text("h12000", "h").empty());
  CHECK(text("h012", "h").empty());
  CHECK(text("h*", "h") == "0..9 10..99 100..999");
  CHECK(text("h[8..120]", "h") == "8..9 10..99 100..120");
  CHECK(text("h[8..120]", "h1") == "0..9 10..20");
  CHECK(text("h[8..120]", "h1", 5, 12) == "5..9 10..11");
  CHECK(text("[3..5]x[7]", "4x") == "7..7");
  CHECK(text("[3..5]x[7]", "6x").empty());
  CHECK(text("h[0..18446744073709551615]", "h18446744073709551615").empty());
  CHECK(text("h[3", "h").empty());
}

TEST_CASE("blocks: links of groups and pods follow each other") {
  Description d = description_of(crossbar_host(), 12, fabric_of(Kind::rail_optimized, 4));
  Cluster cluster(d);
  CHECK(cluster.blocks()->group_links == 16);  // up and down of 8 rail leaves
  const LinkIndex first = cluster.links_of_part("leaf0.up").at(0);
  CHECK(cluster.link_name(first + 16) == "leaf8.up");
  CHECK(cluster.first_device(first + 16) == 32);
  d.fabric = fabric_of(Kind::fat_tree, 2);
  d.fabric.leaves_per_pod = 3;
  cluster = Cluster(d);
  CHECK(cluster.blocks()->group_links == 2);
  CHECK(cluster.blocks()->pod_links == 2);
  CHECK(cluster.link_name(cluster.links_of_part("pod0.down").at(0) + 2) == "pod1.down");
}

TEST_CASE("links between switches: no more than the NICs below comes through") {
  Description d = description_of(crossbar_host(), 12, fabric_of(Kind::rail_optimized, 4));
  d.fabric.oversubscription = 2;
  const auto of = [&](const char* name, bool is_below) {
    const Cluster cluster(d);
    const LinkIndex link = cluster.links_of_part(name).at(0);
    return (is_below ? cluster.capacity_below(link) : cluster.link(link).capacity).value() / 50e9;
  };
  CHECK(of("leaf3.up", true) == approximately(4.0));  // a NIC of each host, at half a port each
  CHECK(of("leaf3.up", false) == approximately(2.0));
  d.fabric = fabric_of(Kind::fat_tree, 2);
  d.fabric.leaves_per_pod = 3;
  d.fabric.oversubscription = 2;
  CHECK(of("leaf3.down", true) == approximately(16.0));
  CHECK(of("leaf3.down", false) == approximately(8.0));
  CHECK(of("pod0.up", true) == approximately(24.0));
  CHECK(of("pod0.up", false) == approximately(24.0));
}

TEST_CASE("links of a host: the device that alone has them") {
  const auto owner = [](const HostType& type, const char* name) {
    const Cluster cluster(description_of(type, 2, fabric_of(Kind::leaf_spine, 1)));
    const auto device = cluster.device_of(cluster.links_of_part(name).at(0));
    return device ? cluster.device_name(*device) : "";
  };
  CHECK(owner(crossbar_host(), "h1.gpu3.up") == "h1.gpu3");
  CHECK(owner(crossbar_host(), "h1.gpu3.pcie.in") == "h1.gpu3");
  CHECK(owner(crossbar_host(), "h1.nic5.in") == "h1.gpu5");
  CHECK(owner(crossbar_host(), "leaf0.up").empty());
  CHECK(owner(pcie_host(), "h1.gpu3.pcie.out") == "h1.gpu3");
  CHECK(owner(pcie_host(), "h1.pcie0.up").empty());
  CHECK(owner(pcie_host(), "h1.nic1.out").empty());
  HostType two_nics = crossbar_host();
  two_nics.nics = 16;
  CHECK(owner(two_nics, "h0.nic9.out") == "h0.gpu4");
  const auto shares = [](const HostType& type) {
    return Cluster(description_of(type, 2, fabric_of(Kind::leaf_spine, 1)))
        .blocks()
        ->shares_host_links;
  };
  CHECK_FALSE(shares(crossbar_host()));
  CHECK(shares(pcie_host()));
}

TEST_CASE("blocks: host, domain, group, pod in devices") {
  const auto blocks = [](const Description& d) {
    REQUIRE_FALSE(has_error(d));
    const auto b = Cluster(d).blocks();
    return b ? std::vector{b->host, b->domain, b->group, b->pod} : std::vector<std::int64_t>();
  };
  using Sizes = std::vector<std::int64_t>;
  Description d = description_of(crossbar_host(), 12, fabric_of(Kind::rail_optimized, 4));
  CHECK(blocks(d) == Sizes{8, 8, 32, 0});
  d.hosts[0].type.scale_up.domain_hosts = 2;
  CHECK(blocks(d) == Sizes{8, 16, 32, 0});
  d.fabric.routing = Routing::hashed;
  CHECK(blocks(d).empty());
  d.fabric.oversubscription = 4;  // one up link of a leaf: nothing to choose
  CHECK(blocks(d) == Sizes{8, 16, 32, 0});
  d.fabric = fabric_of(Kind::one_switch, 4);
  CHECK(blocks(d) == Sizes{8, 16, 0, 0});
  d.fabric = fabric_of(Kind::leaf_spine, 12);  // a single leaf
  CHECK(blocks(d) == Sizes{8, 16, 0, 0});
  d.fabric = fabric_of(Kind::fat_tree, 2);
  d.fabric.leaves_per_pod = 3;
  CHECK(blocks(d) == Sizes{8, 16, 16, 48});
  d.fabric.leaves_per_pod = 6;  // a single pod
  CHECK(blocks(d) == Sizes{8, 16, 16, 0});
  CHECK(blocks(description_of(pcie_host(), 4, fabric_of(Kind::leaf_spine, 2))) ==
        Sizes{8, 8, 16, 0});
  CHECK(blocks(description_of(crossbar_host(), 1, {})) == Sizes{8, 8, 0, 0});

  // Other hosts with as many devices look like blocks of the same sizes; borders tell them apart.
  d.hosts[0].type.scale_up.domain_hosts = 1;
  d.hosts.push_back({"p", 2, pcie_host()});
  CHECK(blocks(d) == Sizes{8, 8, 16, 96});  // a seventh leaf, so a second pod
  d.hosts.push_back({"q", 2, pcie_host()});
  CHECK(Cluster(d).type_borders() == std::vector<DeviceIndex>{96, 112});
  d.hosts[1].type.devices = 4;
  CHECK(blocks(d).empty());
  d.hosts[1].type = crossbar_host();
  d.hosts[1].type.scale_up.domain_hosts = 2;
  CHECK(blocks(d).empty());
}

}  // namespace topology
