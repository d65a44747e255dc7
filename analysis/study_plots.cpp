// Points, cells and bars at their coordinates.
#include "analysis/study_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/lines.h"
#include "analysis/study_sensitivity.h"
#include "analysis/svg.h"

namespace analysis {

using sim::scenario::Measure;
using sim::training::Category;
using sim::training::category_count;

namespace {

constexpr double width = drawing_width, left = 90, bottom = 50, top = 20;

std::string name_of(Measure measure) {
  const auto& traits = sim::scenario::traits(measure);
  return fmt::format("{} [{}]", traits.name, traits.unit);
}

std::string described(const StudyResult& result, std::size_t i) {
  std::string text = fmt::format("candidate {}", i);
  for (std::size_t o = 0; o < result.candidates[i].overrides.size(); ++o) {
    text += fmt::format(", {}: {}", result.candidates[i].overrides[o].path,
                        result.candidates[i].shown[o]);
  }
  const std::string& plan = result.records[i].plan;
  return plan.empty() ? text : text + ", " + plan;
}

// The axes with most values, in their order.
std::vector<std::string> widest_axes(const StudyResult& result) {
  std::vector<std::pair<std::size_t, std::string>> sizes;
  for (const auto& axis : result.study.axes) sizes.emplace_back(axis.values.size(), axis.paths[0]);
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> paths;
  for (const auto& [size, path] : sizes) {
    if (size > 1 && paths.size() < 2) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> values_at(const StudyResult& result, const std::string& path) {
  std::vector<std::string> values;
  for (const auto& candidate : result.candidates) {
    const std::string value = shown_at(candidate, path);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string in_short(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace

std::string pareto_plot(const StudyResult& result) {
  const auto& objectives = result.study.objectives;
  const auto order = ranking(result);
  if (objectives.size() < 2 || order.empty()) return "";
  const auto value = [&](std::size_t i, int objective) {
    return result.records[i].value(objectives[static_cast<std::size_t>(objective)]).value_or(0);
  };
  std::vector<double> xs, ys;
  for (const std::size_t i : order) {
    xs.push_back(value(i, 1));
    ys.push_back(value(i, 0));
  }
  constexpr double height = 420;
  const Scale x = scale_of(xs, left, width - 20), y = scale_of(ys, height - bottom, top + 10);
  std::string text = axes(x, y, name_of(objectives[1]), name_of(objectives[0]));
  // The front of these two, from left to right; with more objectives it is only a part of theirs.
  auto front = pareto_front(result);
  std::string points;
  std::stable_sort(front.begin(), front.end(),
                   [&](std::size_t a, std::size_t b) { return value(a, 1) < value(b, 1); });
  for (const std::size_t i : front) {
    points += fmt::format("{:.1f},{:.1f} ", x.at(value(i, 1)), y.at(value(i, 0)));
  }
  if (objectives.size() == 2)
    text += fmt::format("<polyline points=\"{}\" class=\"front\"/>\n", points);
  const std::set<std::size_t> on_front(front.begin(), front.end());
  for (const std::size_t i : order) {
    text += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"><title>{}</title></circle>\n",
        x.at(value(i, 1)), y.at(value(i, 0)), on_front.contains(i) ? 5 : 3,
        on_front.contains(i) ? "best" : "other", escaped_html(described(result, i)));
  }
  return svg(height, text);
}

std::string heat_map(const StudyResult& result) {
  const auto paths = widest_axes(result);
  const auto order = ranking(result);
  if (paths.size() < 2 || order.empty()) return "";
  const auto columns = values_at(result, paths[0]), rows = values_at(result, paths[1]);
  const Measure objective = result.study.objectives.front();
  std::map<std::pair<std::string, std::string>, std::size_t> best;
  for (const std::size_t i : order) {
    best.emplace(std::pair(shown_at(result.candidates[i], paths[0]),
                           shown_at(result.candidates[i], paths[1])),
                 i);
  }
  const auto value = [&](std::size_t i) { return result.records[i].value(objective).value_or(0); };
  double worst = value(order.front());
  for (const auto& [cell, i] : best) {
    worst = sim::scenario::traits(objective).is_more_better ? std::min(worst, value(i))
                                                            : std::max(worst, value(i));
  }
  const double range = value(order.front()) - worst;
  constexpr double begin = 200, cell_height = 30;
  const double cell_width = (width - begin - 10) / static_cast<double>(columns.size());
  std::string text = label(begin, 14, paths[0] + " (across), " + paths[1] + " (down)", "start");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    text +=
        label(begin + (static_cast<double>(c) + 0.5) * cell_width, 34, columns[c].substr(0, 24));
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = 42 + static_cast<double>(r) * cell_height;
    text += label(begin - 6, y + 19, rows[r].substr(0, 32), "end");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double x = begin + static_cast<double>(c) * cell_width;
      const auto found = best.find({columns[c], rows[r]});
      if (found == best.end()) {
        text += box({x, y, cell_width - 2, cell_height - 2}, "#eee", "none is acceptable");
        continue;
      }
      const double share = range == 0 ? 1 : (value(found->second) - worst) / range;
      text += box({x, y, cell_width - 2, cell_height - 2}, shade(share),
                  described(result, found->second));
      text += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" style=\"fill:{}\">{}"
          "</text>\n",
          x + cell_width / 2, y + 19, share > 0.5 ? "#fff" : "#222",
          four_digits(value(found->second)));
    }
  }
  return svg(52 + static_cast<double>(rows.size()) * cell_height, text);
}

std::string tornado(const StudyResult& result) {
  const auto swings = sensitivity(result);
  if (swings.empty()) return "";
  const Measure objective = result.study.objectives.front();
  const double middle = result.records[ranking(result).front()].value(objective).value_or(0);
  std::vector<double> ends = {middle};
  for (const Swing& swing : swings) ends.insert(ends.end(), {swing.low, swing.high});
  constexpr double begin = 200, bar = 30;
  const Scale x = scale_of(ends, begin, width - 20);
  std::string text;
  double y = 6;
  for (const Swing& swing : swings) {
    text += label(begin - 8, y + 16, in_short(swing.path, 30), "end");
    const auto piece = [&](double from, double to, std::size_t candidate, const char* colour) {
      text += box({std::min(x.at(from), x.at(to)), y, std::abs(x.at(to) - x.at(from)), bar - 8},
                  colour, described(result, candidate));
    };
    piece(swing.low, middle, swing.low_candidate, "#dd6b20");
    piece(middle, swing.high, swing.high_candidate, "#2b6cb0");
    if (swing.low < middle) {
      text += label(x.at(swing.low) + 4, y + 15, in_short(swing.low_shown, 24), "start");
    }
    if (swing.high > middle) {
      text += label(x.at(swing.high) - 4, y + 15, in_short(swing.high_shown, 24), "end");
    }
    y += bar;
  }
  text += fmt::format("<path d=\"M{:.1f} 0V{:.1f}\" class=\"axis\"/>\n", x.at(middle), y);
  const auto [least, most] = std::minmax_element(ends.begin(), ends.end());
  for (const double tick : std::set<double>{*least, middle, *most}) {
    text += label(x.at(tick), y + 14, four_digits(tick));
  }
  return svg(y + 40, text + label((begin + width) / 2, y + 32, name_of(objective)));
}

std::string time_bars(const StudyResult& result) {
  constexpr std::size_t bars_max = 12;
  auto order = ranking(result);
  if (order.empty()) return "";
  order.resize(std::min(order.size(), bars_max));
  std::int64_t longest = 1;
  for (const std::size_t i : order) longest = std::max(longest, result.records[i].iteration_ps);
  constexpr double begin = 60, bar = 22;
  std::string text;
  std::set<int> used;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const StudyRecord& record = result.records[order[n]];
    const double y = 6 + static_cast<double>(n) * bar;
    text += label(begin - 6, y + 14, fmt::format("{}", order[n]), "end");
    double x = begin;
    for (int c = 0; c < category_count; ++c) {
      const auto part = static_cast<double>(record.time[static_cast<std::size_t>(c)]);
      if (part <= 0) continue;
      used.insert(c);
      const double w = part / static_cast<double>(longest) * (width - begin - 70);
      text += box({x, y, w, bar - 4}, category_colour(c),
                  fmt::format("{}: {:.6g} s", name(static_cast<Category>(c)), part * 1e-12));
      x += w;
    }
    text += label(x + 6, y + 14,
                  four_digits(static_cast<double>(record.iteration_ps) * 1e-12) + " s", "start");
  }
  double y = 24 + static_cast<double>(order.size()) * bar;
  text += category_legend({used.begin(), used.end()}, begin, y);
  return svg(y, text);
}

}  // namespace analysis
