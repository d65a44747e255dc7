// report.html: one file, no script, nothing from a network.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/lines.h"
#include "analysis/study_plots.h"
#include "analysis/study_result.h"

namespace analysis {

using sim::scenario::MeasureTraits;

namespace {

constexpr const char* head =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
    "<style>body{{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:1100px;color:#222}}"
    "table{{border-collapse:collapse;font-size:13px}}th,td{{padding:3px 9px;text-align:right;"
    "border-bottom:1px solid #ddd}}th{{background:#f5f7fa;position:sticky;top:0}}"
    "td.text,th.text{{text-align:left}}tr.front{{background:#ebf8ff}}svg{{max-width:100%;height:"
    "auto}}svg text{{font:12px sans-serif;fill:#222}}.axis{{fill:none;stroke:#555}}.front{{fill:"
    "none;stroke:#2b6cb0}}.best{{fill:#2b6cb0}}.other{{fill:#a0aec0}}.scroll{{overflow-x:auto}}"
    "</style></head>\n<body>\n<h1>{0}</h1>\n";

std::string section(const std::string& title, const std::string& inside, const std::string& note) {
  if (inside.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<p>{}</p>\n{}", title, note, inside);
}

std::string cell(const std::string& text, bool is_text = false) {
  return fmt::format("<td{}>{}</td>", is_text ? " class=\"text\"" : "", escaped_html(text));
}

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
    const bool has_interval = record.p90_s > 0;
    text += cell(has_interval ? four_digits(record.p10_s) : "-");
    text += cell(has_interval ? four_digits(record.p90_s) : "-");
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

std::string note_list(const StudyResult& result) {
  std::string text = "<ul>\n";
  for (const std::string& note : notes(result)) text += "<li>" + escaped_html(note) + "</li>\n";
  return text + "</ul>\n";
}

}  // namespace

std::string study_html(const StudyResult& result) {
  const auto& first = sim::scenario::traits(result.study.objectives.front());
  std::string text = fmt::format(head, escaped_html(result.study.name));
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
  text += section("Where the time goes", time_bars(result),
                  "The best candidates, of the rank that finishes last.");
  text += section("Candidates", candidate_table(result), "The best first; the front is shaded.");
  text += section("Why not", why_not_table(result), "Candidates that are out, by reason.");
  text += section("Assumed", note_list(result), "");
  return text + "</body></html>\n";
}

}  // namespace analysis
