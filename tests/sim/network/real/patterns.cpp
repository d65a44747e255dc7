// One function a family of patterns.
#include "tests/sim/network/real/patterns.h"

#include <algorithm>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::network::real {
namespace {

Pattern star(std::string name, int hosts, double megabits) {
  Pattern result{std::move(name), hosts, 1, {}, {}};
  for (int h = 0; h < hosts; ++h) result.cables.push_back({h, hosts, megabits});
  return result;
}

// Two leaves of four hosts and a spine.
Pattern tree(std::string name, double megabits, double trunk) {
  Pattern result{std::move(name), 8, 3, {}, {}};
  for (int h = 0; h < 8; ++h) result.cables.push_back({h, 8 + h / 4, megabits});
  result.cables.push_back({8, 10, trunk});
  result.cables.push_back({9, 10, trunk});
  return result;
}

// Four switches in a row, two hosts each.
Pattern parking_lot(std::string name, double megabits, double second, double third) {
  Pattern result{std::move(name), 8, 4, {}, {}};
  const int switch_of_host[] = {0, 3, 0, 1, 1, 2, 2, 3};
  for (int h = 0; h < 8; ++h) result.cables.push_back({h, 8 + switch_of_host[h], 2 * megabits});
  const double trunks[] = {megabits, second, third};
  for (int s = 0; s < 3; ++s) result.cables.push_back({8 + s, 9 + s, trunks[s]});
  return result;
}

Pattern with(Pattern pattern, std::vector<Flow> flows) {
  pattern.flows = std::move(flows);
  return pattern;
}

// 2 (n - 1) rounds in which every host passes on a share.
Pattern ring(Pattern pattern, std::int64_t bytes, const std::vector<int>& order) {
  const int hosts = static_cast<int>(order.size());
  for (int round = 0; round < 2 * (hosts - 1); ++round) {
    for (int i = 0; i < hosts; ++i) {
      Flow flow{order[static_cast<std::size_t>(i)],
                order[static_cast<std::size_t>((i + 1) % hosts)], bytes / hosts};
      const int before = (round - 1) * hosts;
      if (round > 0) flow.after = {before + (i + hosts - 1) % hosts, before + i};
      pattern.flows.push_back(std::move(flow));
    }
  }
  return pattern;
}

Pattern all_to_all(Pattern pattern, std::int64_t bytes) {
  for (int i = 0; i < pattern.hosts; ++i) {
    for (int j = 0; j < pattern.hosts; ++j) {
      if (i != j) pattern.flows.push_back({i, j, bytes / (pattern.hosts - 1)});
    }
  }
  return pattern;
}

// Chunks through five hosts, each sending one while it receives the next.
Pattern chunks(Pattern pattern, std::int64_t bytes, int count) {
  for (int chunk = 0; chunk < count; ++chunk) {
    for (int h = 0; h + 1 < pattern.hosts; ++h) {
      Flow flow{h, h + 1, bytes / count};
      const int index = static_cast<int>(pattern.flows.size());
      if (h > 0) flow.after.push_back(index - 1);
      if (chunk > 0) flow.after.push_back(index - (pattern.hosts - 1));
      pattern.flows.push_back(std::move(flow));
    }
  }
  return pattern;
}

void add_stars(double r, std::int64_t b, std::vector<Pattern>& all) {
  all.push_back(with(star("one flow", 2, r), {{0, 1, b}}));
  all.push_back(with(star("both ways", 2, r), {{0, 1, b}, {1, 0, b}}));
  Pattern incast = star("incast of 7", 8, r), sizes = star("incast of sizes", 8, r);
  for (int h = 1; h < 8; ++h) incast.flows.push_back({h, 0, b / 4});
  for (int h = 1; h < 6; ++h) sizes.flows.push_back({h, 0, b / 10 * h});
  Pattern outcast = star("outcast, later each", 5, r);
  for (int h = 1; h < 5; ++h) outcast.flows.push_back({0, h, b / 4, {}, 0.05 * (h - 1)});
  Pattern permutation = star("permutation", 8, r);
  for (int h = 0; h < 8; ++h) permutation.flows.push_back({h, (h + 3) % 8, b / 2});
  Pattern unequal = star("unequal links", 8, r);
  const double shares[] = {1, 0.5, 0.25, 1, 0.75, 1, 0.4, 1};
  for (std::size_t h = 0; h < 8; ++h) unequal.cables[h].megabits *= shares[h];
  unequal.flows = {{0, 3, b / 2}, {1, 3, b / 2}, {2, 3, b / 4}, {0, 4, b / 3},
                   {5, 4, b / 3}, {6, 7, b / 4}, {5, 7, b / 3}};
  for (Pattern* one : {&incast, &sizes, &outcast, &permutation, &unequal}) {
    all.push_back(std::move(*one));
  }
}

void add_trunks(double r, std::int64_t b, std::vector<Pattern>& all) {
  Pattern crossing = tree("tree, crossing", r, 2 * r), mixed = tree("tree, mixed", r, 1.5 * r);
  for (int h = 0; h < 4; ++h) crossing.flows.push_back({h, 4 + h, b / 4});
  mixed.flows = crossing.flows;
  mixed.flows.push_back({0, 1, b / 2});
  mixed.flows.push_back({2, 3, b / 2});
  mixed.flows.push_back({5, 4, b / 3});
  all.push_back(std::move(crossing));
  all.push_back(std::move(mixed));
  all.push_back(with(parking_lot("parking lot", r, r, r),
                     {{0, 1, b / 2}, {2, 3, b / 2}, {4, 5, b / 2}, {6, 7, b / 2}}));
  all.push_back(with(parking_lot("parking lot, unequal", r, 0.6 * r, 0.8 * r),
                     {{0, 1, b / 3}, {2, 3, b / 2}, {4, 5, b / 4}, {6, 7, b / 2}}));
}

void add_collectives(double r, std::int64_t b, std::vector<Pattern>& all) {
  all.push_back(all_to_all(star("all-to-all of 4", 4, r), b / 2));
  all.push_back(all_to_all(star("all-to-all of 8", 8, r), b / 2));
  all.push_back(ring(star("ring of 4", 4, r), b / 2, {0, 1, 2, 3}));
  all.push_back(ring(star("ring of 8", 8, r), b / 2, {0, 1, 2, 3, 4, 5, 6, 7}));
  all.push_back(ring(tree("ring, badly ordered", r, r), b / 4, {0, 4, 1, 5, 2, 6, 3, 7}));
  Pattern slow = star("ring, one slow host", 8, r);
  slow.cables[3].megabits /= 2;
  all.push_back(ring(std::move(slow), b / 4, {0, 1, 2, 3, 4, 5, 6, 7}));
  all.push_back(chunks(star("chunks through 5", 5, r), b / 2, 8));
}

}  // namespace

std::vector<std::vector<int>> paths(const Pattern& pattern) {
  const auto nodes = static_cast<std::size_t>(pattern.hosts + pattern.switches);
  std::vector<std::vector<std::pair<int, int>>> beside(nodes);  // (node, direction)
  for (std::size_t c = 0; c < pattern.cables.size(); ++c) {
    const Cable& cable = pattern.cables[c];
    const int out = 2 * static_cast<int>(c);
    beside[static_cast<std::size_t>(cable.a)].emplace_back(cable.b, out);
    beside[static_cast<std::size_t>(cable.b)].emplace_back(cable.a, out + 1);
  }
  std::vector<std::vector<int>> result;
  for (const Flow& flow : pattern.flows) {
    std::vector<std::pair<int, int>> came(nodes, {-1, -1});  // (from, direction)
    std::vector<int> seen = {flow.from};
    came[static_cast<std::size_t>(flow.from)].first = flow.from;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      for (const auto& [node, direction] : beside[static_cast<std::size_t>(seen[i])]) {
        auto& entry = came[static_cast<std::size_t>(node)];
        if (entry.first >= 0) continue;
        entry = {seen[i], direction};
        seen.push_back(node);
      }
    }
    std::vector<int> path;
    for (int node = flow.to; node != flow.from;) {
      const auto& [from, direction] = came[static_cast<std::size_t>(node)];
      invariant(from >= 0, "a flow between hosts that are not connected");
      path.push_back(direction);
      node = from;
    }
    std::reverse(path.begin(), path.end());
    result.push_back(std::move(path));
  }
  return result;
}

std::vector<Pattern> patterns(double megabits, std::int64_t bytes) {
  std::vector<Pattern> all;
  add_stars(megabits, bytes, all);
  add_trunks(megabits, bytes, all);
  add_collectives(megabits, bytes, all);
  return all;
}

}  // namespace sim::network::real
