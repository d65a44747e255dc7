// Streams, bars and lines over the time of an iteration.
#include "analysis/run_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/lines.h"
#include "analysis/measures.h"
#include "analysis/svg.h"

namespace analysis {

using sim::training::Category;
using sim::training::category_count;
using sim::training::Result;
using sim::training::Span;
using sim::training::Track;

namespace {

constexpr double begin = 150, end = drawing_width - 10;
constexpr int columns = 560;
constexpr std::size_t tracks_max = 48;

double at(std::int64_t time, std::int64_t length) {
  return begin + (end - begin) * static_cast<double>(time) / static_cast<double>(length);
}

std::string between(std::int64_t start, std::int64_t stop) {
  const TimeUnit unit = time_unit(stop);
  return fmt::format("{} to {} {}", in_unit(start, unit), in_unit(stop, unit), unit.name);
}

// Ticks below everything that is drawn over time.
std::string time_axis(std::int64_t length, double y) {
  const TimeUnit unit = time_unit(length);
  std::string text =
      fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" class=\"axis\"/>\n", begin, y, end);
  for (const double tick : round_ticks(0, static_cast<double>(length) / unit.picoseconds)) {
    const double x = begin + (end - begin) * tick * unit.picoseconds / static_cast<double>(length);
    text += label(x, y + 14, tick == 0 ? "0" : four_digits(tick));
  }
  text += label(begin - 8, y + 14, fmt::format("[{}]", unit.name), "end");
  return text;
}

// Operations of one category that fall into neighbouring columns are one piece.
struct Row {
  struct Piece {
    int category = 0, count = 0;
    std::int64_t start = 0, stop = 0;
    std::string first;
  };
  std::vector<Piece> pieces;

  void add(int category, const std::string& name, std::int64_t start, std::int64_t stop,
           std::int64_t length) {
    const std::int64_t column = std::max<std::int64_t>(length / columns, 1);
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      const bool is_near = start - last.stop < column;
      const bool is_thin = stop - start < column && last.stop - last.start < column;
      if (is_near && (last.category == category || is_thin)) {
        last.stop = std::max(last.stop, stop);
        ++last.count;
        return;
      }
    }
    pieces.push_back({category, 1, start, stop, name});
  }

  std::string drawn(double y, double height, std::int64_t length, std::set<int>& used) const {
    std::string text;
    for (const Piece& piece : pieces) {
      used.insert(piece.category);
      const std::int64_t start = std::clamp<std::int64_t>(piece.start, 0, length);
      const std::int64_t stop = std::clamp<std::int64_t>(piece.stop, 0, length);
      const double x = at(start, length);
      const std::string what = piece.count == 1
                                   ? piece.first
                                   : fmt::format("{} and {} more", piece.first, piece.count - 1);
      text +=
          box({x, y, std::max(at(stop, length) - x, 0.3), height}, category_colour(piece.category),
              fmt::format("{}, {}: {}", what, name(static_cast<Category>(piece.category)),
                          between(piece.start, piece.stop)));
    }
    return text;
  }
};

Row path_row(const std::vector<PathPiece>& path, std::int64_t length) {
  Row row;
  for (const PathPiece& piece : path) {
    const Category category = piece.span ? piece.span->category : Category::other;
    row.add(static_cast<int>(category), piece.span ? piece.span->name : "latency or launch",
            piece.start_ps, piece.end_ps, length);
  }
  return row;
}

}  // namespace

std::string timeline(const Result& result, const std::vector<PathPiece>& path,
                     std::int64_t length) {
  if (result.tracks.empty() || length <= 0) return "";
  constexpr double height = 14;
  std::set<int> used;
  double y = 4;
  std::string text = label(begin - 6, y + 11, "critical path", "end");
  text += path_row(path, length).drawn(y, height, length, used);
  y += height + 8;
  for (std::size_t t = 0; t < std::min(result.tracks.size(), tracks_max); ++t) {
    const Track& track = result.tracks[t];
    text += label(begin - 6, y + 11, fmt::format("rank {} {}", track.rank, track.stream), "end");
    Row row;
    for (const Span& span : track.spans) {
      row.add(static_cast<int>(span.category), span.name, span.start_ps, span.end_ps, length);
    }
    text += row.drawn(y, height, length, used);
    y += height + 3;
  }
  if (result.tracks.size() > tracks_max) {
    text += label(
        begin, y + 12,
        fmt::format("and {} more streams, in trace.json.gz", result.tracks.size() - tracks_max),
        "start");
    y += 18;
  }
  text += time_axis(length, y + 2);
  y += 36;
  text += category_legend({used.begin(), used.end()}, 10, y);
  return svg(y, text);
}

std::string time_bar(const Result& result, std::int64_t length) {
  if (length <= 0) return "";
  std::string text;
  std::vector<int> used;
  std::int64_t start = 0;
  for (int c = 0; c < category_count; ++c) {
    const std::int64_t part = result.time[static_cast<std::size_t>(c)];
    if (part <= 0) continue;
    used.push_back(c);
    const double share = static_cast<double>(part) / static_cast<double>(result.iteration_ps());
    text += box({at(start, length), 4, at(start + part, length) - at(start, length), 24},
                category_colour(c),
                fmt::format("{}: {:.6g} s, {}", name(static_cast<Category>(c)),
                            static_cast<double>(part) * 1e-12, percent(share)));
    start += part;
  }
  text += label(begin - 6, 20, fmt::format("rank {}", result.time_rank), "end");
  text += time_axis(length, 32);
  double y = 66;
  text += category_legend(used, 10, y);
  return svg(y, text);
}

std::string memory_plot(const Result& result, std::int64_t length) {
  constexpr double gibi = 1 << 30, height = 240, bottom = 210, top = 16;
  static constexpr const char* colours[] = {"#2b6cb0", "#dd6b20", "#38a169", "#805ad5",
                                            "#319795", "#97266d", "#d69e2e", "#718096"};
  double most = 0;
  bool is_known = false;
  for (const auto& stage : result.memory) {
    most = std::max({most, stage.capacity_bytes / gibi, stage.memory.peak().value() / gibi});
    is_known = is_known || !stage.activations.empty();
  }
  if (!is_known || length <= 0) return "";
  const Scale y = {0, most * 1.05, bottom, top};
  std::string text;
  double legend = begin;
  std::set<double> capacities;
  for (std::size_t i = 0; i < result.memory.size(); ++i) {
    const auto& stage = result.memory[i];
    const std::string name = stage_name(result, stage.stage, stage.replica);
    capacities.insert(stage.capacity_bytes / gibi);
    const char* colour = colours[i % std::size(colours)];
    const double rest = (stage.memory.peak() - stage.memory.activations).value();
    std::string line = fmt::format("M{:.1f} {:.1f}", begin, y.at(rest / gibi));
    for (const auto& [time, bytes] : stage.activations) {
      line += fmt::format("H{:.1f}V{:.1f}", at(std::clamp<std::int64_t>(time, 0, length), length),
                          y.at((rest + bytes) / gibi));
    }
    text += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\"><title>{}: {} GiB at "
        "most</title></path>\n",
        line, colour, name, four_digits(stage.memory.peak().value() / gibi));
    if (legend + 70 > end) continue;
    text += box({legend, height - 8, 10, 10}, colour, name) +
            label(legend + 14, height + 1, name, "start");
    legend += 70;
  }
  for (const double capacity : capacities) {
    text +=
        fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" class=\"axis\" stroke-dasharray=\"4\"/>\n",
                    begin, y.at(capacity), end);
    text += label(begin - 6, y.at(capacity) + 4, four_digits(capacity) + " GiB", "end");
  }
  text += label(begin - 6, y.at(0) + 4, "0", "end") + time_axis(length, bottom);
  return svg(height + 10, text);
}

std::string link_strips(const Result& result, std::int64_t length) {
  constexpr double height = 16;
  double y = 4;
  std::string text;
  for (const auto& link : result.links) {
    if (link.load.empty() || length <= 0) continue;
    text += label(begin - 6, y + 12, link.example, "end");
    // Of each column the largest load in it.
    std::vector<double> most(columns, 0);
    for (std::size_t i = 0; i < link.load.size(); ++i) {
      const std::int64_t from = link.load[i].first;
      const std::int64_t to = i + 1 < link.load.size() ? link.load[i + 1].first : length;
      const auto column = [&](std::int64_t time) {
        return std::clamp<std::int64_t>(time * columns / length, 0, columns - 1);
      };
      for (std::int64_t c = column(from); to > from && c <= column(to - 1); ++c) {
        double& value = most[static_cast<std::size_t>(c)];
        value = std::max(value, link.load[i].second);
      }
    }
    const double width = (end - begin) / columns;
    for (int c = 0; c < columns;) {
      int next = c;
      const auto level = std::lround(20 * most[static_cast<std::size_t>(c)]);
      const double share = 0.05 * static_cast<double>(level);
      while (next < columns && std::lround(20 * most[static_cast<std::size_t>(next)]) == level)
        ++next;
      if (level > 0) {
        text += box({begin + c * width, y, (next - c) * width, height}, shade(share),
                    fmt::format("{}: up to {}", link.example, percent(share)));
      }
      c = next;
    }
    y += height + 3;
  }
  if (text.empty()) return "";
  return svg(y + 26, text + time_axis(length, y + 2));
}

}  // namespace analysis
