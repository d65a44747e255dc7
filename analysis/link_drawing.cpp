// The cluster as tiers, and the busiest links between them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/lines.h"
#include "analysis/run_plots.h"
#include "analysis/svg.h"

namespace analysis {

namespace {

constexpr const char* tier_names[] = {"devices",        "scale-up switch", "PCIe switch",
                                      "leaf or switch", "spine or core",   "graph"};
constexpr int device = 0, scale_up = 1, pcie = 2, leaf = 3, spine = 4, graph = 5;

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() &&
         text.compare(text.size() - with.size(), with.size(), with) == 0;
}

}  // namespace

Tiers tiers_of(const std::string& link) {
  const bool is_back = ends(link, ".in") || ends(link, ".down");
  const auto directed = [&](int from, int to) {
    return is_back ? Tiers{to, from} : Tiers{from, to};
  };
  if (has(link, "->") || begins(link, "router")) return {graph, graph};
  if (begins(link, "spine") || begins(link, "core")) return {spine, leaf};
  if (begins(link, "leaf") || begins(link, "pod")) return directed(leaf, spine);
  if (has(link, ".nic")) return directed(pcie, leaf);
  if (has(link, ".pcie.")) return directed(device, pcie);
  if (has(link, ".socket") || has(link, ".pcie")) return {pcie, pcie};
  if (ends(link, ".up") || ends(link, ".down")) return directed(device, scale_up);
  return {device, device};
}

std::string link_drawing(const sim::training::Result& result) {
  if (result.links.empty()) return "";
  std::map<int, std::vector<const sim::training::LinkClass*>> out;  // by tier that they leave
  std::set<int> tiers;
  for (const auto& link : result.links) {
    const Tiers joined = tiers_of(link.example);
    tiers.insert({joined.from, joined.to});
    out[joined.from * 10 + joined.to].push_back(&link);
  }
  // Tiers from the left to the right, as far apart as their links' labels need.
  constexpr double left = 10, box_width = 96, line = 44;
  const double step = tiers.size() < 2 ? 0
                                       : (drawing_width - 2 * left - box_width) /
                                             static_cast<double>(tiers.size() - 1);
  std::map<int, double> x;
  for (const int tier : tiers) x[tier] = left + step * static_cast<double>(x.size());
  double height = 60;
  std::map<int, int> used;  // lines so far, by the gap on the left of which they begin
  std::string lines;
  for (const auto& [key, links] : out) {
    const int from = key / 10, to = key % 10;
    const int gap = std::min(from, to);
    for (const auto* link : links) {
      const double y = 48 + line * used[gap]++;
      double x1 = x[from] + box_width, x2 = x[to];
      if (from == to) x2 = std::min(x1 + 150, drawing_width - left);
      if (from > to) x1 = x[from], x2 = x[to] + box_width;
      const std::string text = fmt::format(
          "{} of {}: {} on average, {} at most", link->example, counted(link->count, "link"),
          percent(link->utilization_mean), percent(link->utilization_max));
      lines += fmt::format(
          "<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\" "
          "stroke-width=\"{:.1f}\"><title>{}</title>"
          "</path>\n",
          x1, y, x2, shade(link->utilization_max), 3 + 9 * link->utilization_mean,
          escaped_html(text));
      const double middle = (x1 + x2) / 2;
      lines +=
          label(middle, y - 7,
                fmt::format("{} {} {}", from > to ? "<" : "", link->example, from > to ? "" : ">"));
      lines += label(
          middle, y + 16,
          fmt::format("{} / {}", percent(link->utilization_mean), percent(link->utilization_max)));
      height = std::max(height, y + 30);
    }
  }
  std::string text;
  for (const int tier : tiers) {
    text += box({x[tier], 24, box_width, height - 30}, "#f5f7fa", tier_names[tier]);
    text += label(x[tier] + box_width / 2, 16, tier_names[tier]);
  }
  return svg(height, text + lines);
}

}  // namespace analysis
