// report.html: one file, no script, nothing from a network.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/lines.h"
#include "analysis/study_plots.h"
#include "analysis/study_result.h"
#include "analysis/study_sensitivity.h"
#include "analysis/svg.h"

namespace analysis {

using sim::scenario::Measure;
using sim::scenario::MeasureTraits;

namespace {

constexpr std::size_t rivals_max = 10;

std::string candidate_table(const StudyResult& result) {
  constexpr std::size_t rows_max = 1000;
  const auto order = ranking(result), front = pareto_front(result);
  if (order.empty()) return "";
  const auto paths = axis_paths(result.study);
  std::string text = "<div class=\"scroll\"><table>\n<tr><th>candidate</th>";
  for (const std::string& path : paths) text += "<th>" + escaped_html(path) + "</th>";
  for (const MeasureTraits& traits : sim::scenario::all_measures()) {
    text += fmt::format("<th>{} [{}]</th>", traits.name, traits.unit);
  }
  text += "<th>80 % from [s]</th><th>to [s]</th><th class=\"text\">plan</th></tr>\n";
  for (std::size_t n = 0; n < order.size() && n < rows_max; ++n) {
    const std::size_t i = order[n];
    const StudyRecord& record = result.records[i];
    text += std::binary_search(front.begin(), front.end(), i) ? "<tr class=\"front\">" : "<tr>";
    text += cell(std::to_string(i));
    for (const std::string& path : paths) text += cell(shown_at(result.candidates[i], path));
    for (const MeasureTraits& traits : sim::scenario::all_measures()) {
      const auto value = record.value(traits.measure);
      text += cell(value ? four_digits(*value) : "-");
    }
    const bool has_interval = record.interval.p90_s > 0;
    text += cell(has_interval ? four_digits(record.interval.p10_s) : "-");
    text += cell(has_interval ? four_digits(record.interval.p90_s) : "-");
    text += cell(record.plan, true) + "</tr>\n";
  }
  text += "</table></div>\n";
  if (order.size() > rows_max) {
    text += fmt::format("<p>and {} more, in study.csv</p>\n", order.size() - rows_max);
  }
  return text;
}

std::string why_not_table(const StudyResult& result) {
  const auto all = reasons(result);
  if (all.empty()) return "";
  std::string text =
      "<table>\n<tr><th>candidates</th><th class=\"text\">verdict</th><th class=\"text\">why</th>"
      "<th class=\"text\">hint</th><th class=\"text\">the first of them</th></tr>\n";
  for (const Reason& reason : all) {
    const auto& first = result.candidates[reason.candidates.front()];
    std::string set;
    for (std::size_t o = 0; o < first.overrides.size(); ++o) {
      set += fmt::format("{}{}: {}", o == 0 ? "" : ", ", first.overrides[o].path, first.shown[o]);
    }
    text += "<tr>" + cell(std::to_string(reason.candidates.size())) +
            cell(name(reason.verdict), true) + cell(reason.why, true) + cell(reason.hint, true) +
            cell(set, true) + "</tr>\n";
  }
  return text + "</table>\n";
}

std::string rival_table(const StudyResult& result) {
  const auto all = rivals(result, rivals_max);
  if (all.empty()) return "";
  std::string text =
      "<table>\n<tr><th>candidate</th><th>the best is better with a probability of</th>"
      "<th>cost per hour [USD/h]</th><th>as cheap a token as the best one's at [USD/h]</th></tr>\n";
  for (const Rival& rival : all) {
    const auto cost = result.records[rival.candidate].value(Measure::cost_per_hour);
    text +=
        "<tr>" + cell(std::to_string(rival.candidate)) +
        cell(rival.probability ? percent(*rival.probability) : "-") +
        cell(cost ? four_digits(*cost) : "-") +
        cell(rival.break_even_usd_per_hour ? four_digits(*rival.break_even_usd_per_hour) : "-") +
        "</tr>\n";
  }
  return text + "</table>\n";
}

std::string note_list(const StudyResult& result) {
  std::string text = "<ul>\n";
  for (const std::string& note : notes(result)) text += "<li>" + escaped_html(note) + "</li>\n";
  return text + "</ul>\n";
}

}  // namespace

std::string study_html(const StudyResult& result) {
  const auto& first = sim::scenario::traits(result.study.objectives.front());
  std::string text = page_begin(result.study.name);
  text +=
      fmt::format("<p>{} candidates, {} acceptable; wanted: {} {}.</p>\n", result.records.size(),
                  ranking(result).size(), first.is_more_better ? "most" : "least", first.name);
  text += section("Pareto front", pareto_plot(result),
                  "Each point is an acceptable candidate; large ones are beaten by no other in all "
                  "objectives. Rest the pointer on one to see what it is.");
  text += section("Over two axes", heat_map(result),
                  fmt::format("{} [{}], the best over all other axes; grey where none is "
                              "acceptable.",
                              first.name, first.unit));
  text += section("One axis at a time", tornado(result),
                  "From the best candidate on, all else kept: how far each axis alone takes it.");
  text += section(
      "How sure the best one is", rival_table(result),
      "Errors of timing models and software that both share do not count; repeats of a run do.");
  text += section("Where the time goes", time_bars(result),
                  "The best candidates, of the rank that finishes last.");
  text += section("Candidates", candidate_table(result), "The best first; the front is shaded.");
  text += section("Why not", why_not_table(result), "Candidates that are out, by reason.");
  text += section("Assumed", note_list(result), "");
  return text + page_end();
}

}  // namespace analysis
