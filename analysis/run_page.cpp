// Sections of the page, each with the drawings of one run or of both.
#include "analysis/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/critical_path.h"
#include "analysis/lines.h"
#include "analysis/measures.h"
#include "analysis/run_plots.h"
#include "analysis/svg.h"
#include "analysis/versus.h"
#include "calibrate/profile/names.h"

namespace analysis {

using sim::training::Category;
using sim::training::category_count;
using sim::training::Result;

namespace {

using Results = std::vector<const Result*>;
constexpr const char* letters[] = {"A", "B"};

double seconds(std::int64_t picoseconds) { return static_cast<double>(picoseconds) * 1e-12; }

// "A: name" where there are two.
std::string heading(const Results& results, std::size_t i) {
  return results.size() == 1 ? results[i]->scenario
                             : fmt::format("{}: {}", letters[i], results[i]->scenario);
}

std::string for_each(const Results& results,
                     const std::function<std::string(const Result&)>& draw) {
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string drawing = draw(*results[i]);
    if (drawing.empty()) continue;
    if (results.size() > 1) text += "<h3>" + escaped_html(heading(results, i)) + "</h3>\n";
    text += drawing;
  }
  return text;
}

// A row of numbers; of two, how much the second is more.
class Table {
 public:
  explicit Table(const Results& results) : results_(results) {
    text_ = "<table>\n<tr><th class=\"text\"></th>";
    for (std::size_t i = 0; i < results.size(); ++i) {
      text_ += fmt::format("<th>{}</th>", results.size() == 1 ? "" : letters[i]);
    }
    text_ += results.size() == 2 ? "<th>B : A</th></tr>\n" : "</tr>\n";
  }
  void row(const std::string& name, const std::function<std::optional<double>(const Result&)>& of) {
    std::vector<std::optional<double>> values;
    bool is_any = false;
    for (const Result* result : results_) {
      values.push_back(of(*result));
      is_any = is_any || (values.back() && *values.back() != 0);
    }
    if (!is_any) return;
    text_ += "<tr>" + cell(name, true);
    for (const auto& value : values) text_ += cell(value ? four_digits(*value) : "-");
    if (values.size() == 2) {
      const bool has_ratio = values[0] && values[1] && *values[0] != 0;
      text_ +=
          cell(has_ratio ? fmt::format("{:+.1f} %", 100 * (*values[1] / *values[0] - 1)) : "-");
    }
    text_ += "</tr>\n";
  }
  std::string take() { return text_ + "</table>\n"; }

 private:
  const Results& results_;
  std::string text_;
};

std::string facts(const Results& results) {
  constexpr double gibi = 1 << 30;
  Table table(results);
  table.row("iteration time [s]", [](const Result& r) { return seconds(r.iteration_ps()); });
  const auto if_known = [](const Result& r, double value) {
    return has_interval(r) ? std::optional(value) : std::nullopt;
  };
  table.row("80 % from [s]", [&](const Result& r) { return if_known(r, r.interval.p10_s); });
  table.row("to [s]", [&](const Result& r) { return if_known(r, r.interval.p90_s); });
  table.row("devices", [](const Result& r) { return static_cast<double>(r.devices); });
  table.row("samples per second", samples_per_second);
  table.row("tokens per second and device", tokens_per_second_per_device);
  table.row("model FLOPs utilization [%]", [](const Result& r) -> std::optional<double> {
    const auto share = utilization(r.model_flops_per_iteration, r);
    return share ? std::optional(100 * *share) : std::nullopt;
  });
  table.row("memory of the fullest rank [GiB]", [](const Result& r) -> std::optional<double> {
    const auto* stage = fullest_stage(r);
    return stage ? std::optional(stage->memory.peak().value() / gibi) : std::nullopt;
  });
  for (int c = 0; c < category_count; ++c) {
    table.row(fmt::format("{} [s]", name(static_cast<Category>(c))),
              [c](const Result& r) { return seconds(r.time[static_cast<std::size_t>(c)]); });
  }
  std::string text = table.take();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i]->fits) continue;
    text +=
        fmt::format("<p>{} does not fit into the memory.</p>\n", escaped_html(heading(results, i)));
  }
  return text;
}

// Which is faster for as many tokens, or samples where there are no tokens.
std::string verdict(const Results& results) {
  if (results.size() != 2) return "";
  const Result &a = *results[0], &b = *results[1];
  const auto work = [&](const Result& r) {
    const bool has_tokens = a.tokens_per_iteration > 0 && b.tokens_per_iteration > 0;
    return has_tokens ? r.tokens_per_iteration : 1;
  };
  const double left = seconds(a.iteration_ps()) / work(a),
               right = seconds(b.iteration_ps()) / work(b);
  const std::string what = work(a) == 1 ? "iterations" : "tokens per second";
  if (left == right) return "<p>Both are equally fast.</p>\n";
  std::string text = fmt::format("<p>{} is faster; {} has {} fewer {}", left < right ? "A" : "B",
                                 left < right ? "B" : "A",
                                 percent(1 - std::min(left, right) / std::max(left, right)), what);
  if (has_interval(a) && has_interval(b)) {
    const double probability =
        probability_less(uncertain(left, a.interval), uncertain(right, b.interval));
    text +=
        fmt::format(", with a probability of {}", percent(std::max(probability, 1 - probability)));
  }
  return text + ".</p>\n";
}

std::string path_table(const Result& result, const std::vector<PathPiece>& path) {
  if (path.empty()) return "";
  std::array<std::int64_t, category_count> by_category{};
  std::map<int, std::int64_t> by_rank;
  std::int64_t gaps = 0, all = 0;
  for (const PathPiece& piece : path) {
    const std::int64_t duration = piece.end_ps - piece.start_ps;
    all += duration;
    if (!piece.span) {
      gaps += duration;
      continue;
    }
    by_category[static_cast<std::size_t>(piece.span->category)] += duration;
    by_rank[result.tracks[piece.track].rank] += duration;
  }
  std::string text =
      "<table>\n<tr><th class=\"text\">on the path</th><th>[s]</th><th>share</th></tr>\n";
  const auto row = [&](const std::string& what, std::int64_t duration) {
    if (duration == 0) return;
    text += "<tr>" + cell(what, true) + cell(four_digits(seconds(duration))) +
            cell(percent(static_cast<double>(duration) / static_cast<double>(all))) + "</tr>\n";
  };
  for (int c = 0; c < category_count; ++c) {
    row(std::string(name(static_cast<Category>(c))), by_category[static_cast<std::size_t>(c)]);
  }
  row("latency or launch", gaps);
  for (const auto& [rank, duration] : by_rank) row(fmt::format("rank {}", rank), duration);
  return text + "</table>\n";
}

std::string link_table(const Result& result) {
  if (result.links.empty()) return "";
  std::string text =
      "<table>\n<tr><th class=\"text\">links like</th><th>alike</th><th>capacity [GB/s]</th>"
      "<th>mean use</th><th>peak use</th></tr>\n";
  for (const auto& link : result.links) {
    text += "<tr>" + cell(link.example, true) + cell(std::to_string(link.count)) +
            cell(four_digits(link.capacity * 1e-9)) + cell(percent(link.utilization_mean)) +
            cell(percent(link.utilization_max)) + "</tr>\n";
  }
  return text + "</table>\n";
}

std::string notes(const Result& result) {
  std::string text = "<ul>\n";
  const auto add = [&](const std::string& line) {
    text += "<li>" + escaped_html(line) + "</li>\n";
  };
  for (const auto& [device, origin] : result.profile_origin) {
    add(fmt::format("durations of {}: {}", device, calibrate::profile::name(origin)));
  }
  for (const std::string& one : result.extrapolated) add("beyond what was measured: " + one);
  for (const std::string& one : result.warnings) add("warning: " + one);
  for (const std::string& one : result.advice) add("faster: " + one);
  for (const auto& remedy : result.remedies) add("would fit: " + remedy.change);
  if (!result.fold.exact) add("approximate: some ranks stand for others");
  add(fmt::format("{} ranks in {} kinds, fingerprint {:016x}", result.fold.ranks,
                  result.fold.rank_classes, result.fingerprint));
  return text + "</ul>\n";
}

}  // namespace

std::string run_html(const std::vector<const Result*>& results) {
  std::int64_t length = 0;
  std::map<const Result*, std::vector<PathPiece>> paths;
  for (const Result* result : results) {
    length = std::max(length, result->iteration_ps());
    paths[result] = critical_path(*result);
  }
  std::string title = results.front()->scenario;
  if (results.size() == 2) title += " against " + results.back()->scenario;
  const auto each = [&](const auto& draw) { return for_each(results, draw); };
  std::string text = page_begin(title);
  if (results.size() == 2) {
    for (std::size_t i = 0; i < 2; ++i) {
      text += fmt::format("<p>{}</p>\n", escaped_html(heading(results, i)));
    }
  }
  text += verdict(results) + facts(results);
  text += section("Where the time goes", each([&](const Result& r) { return time_bar(r, length); }),
                  "The compute stream of the rank that finishes last.");
  text += section("Timeline", each([&](const Result& r) { return timeline(r, paths[&r], length); }),
                  "One rank of each stage; ranks like it do the same. Neighbours narrower than a "
                  "line are drawn as one. Rest the pointer on a piece to see what it is.");
  text += section("Critical path", each([&](const Result& r) { return path_table(r, paths[&r]); }),
                  "What the end waited for, back to the start: before each operation the one that "
                  "ended just when it began, among the ranks above.");
  text += section("Memory", each([&](const Result& r) { return memory_plot(r, length); }),
                  "What the fullest rank of each stage holds; dashed: what there is.");
  text += section("Links", each([](const Result& r) { return link_drawing(r) + link_table(r); }),
                  "The busiest classes of links between the tiers of the cluster. Thick: used much "
                  "on average; dark: at some time full. Below each: mean and peak use.");
  text += section("Links over time", each([&](const Result& r) { return link_strips(r, length); }),
                  "The darker, the fuller.");
  text += section("Notes", each(notes), "");
  return text + page_end();
}

}  // namespace analysis
