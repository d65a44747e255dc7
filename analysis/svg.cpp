// Shapes, scales, colours, and the page around them.
#include "analysis/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/lines.h"
#include "sim/training/result.h"

namespace analysis {

using sim::training::Category;
using sim::training::category_count;

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

}  // namespace

std::string escaped_html(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string svg(double height, const std::string& inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
      "role=\"img\">\n{}</svg>\n",
      drawing_width, height, drawing_width, inside);
}

std::string label(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped_html(text));
}

std::string box(const Box& box, const std::string& fill, const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}"
      "</title></rect>\n",
      box.x, box.y, box.width, box.height, fill, escaped_html(title));
}

std::vector<double> round_ticks(double low, double high) {
  constexpr int wanted = 5;
  const double least = (high - low) / wanted;
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const int factor : {5, 2, 1}) {
    if (factor * power >= least) step = factor * power;
  }
  std::vector<double> ticks;
  for (double n = std::ceil(low / step); n * step <= high; ++n) ticks.push_back(n * step);
  return ticks;
}

Scale scale_of(const std::vector<double>& values, double from, double to) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double margin = std::max((*high - *low) * 0.08, std::abs(*high) * 1e-3);
  return {*low - margin, *high + margin, from, to};
}

std::string axes(const Scale& x, const Scale& y, const std::string& x_name,
                 const std::string& y_name) {
  std::string text = fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" class=\"axis\"/>\n",
                                 x.from, y.to, y.from, x.to);
  for (const double tick : round_ticks(x.low, x.high)) {
    text += label(x.at(tick), y.from + 16, four_digits(tick));
  }
  for (const double tick : round_ticks(y.low, y.high)) {
    text += label(x.from - 6, y.at(tick) + 4, four_digits(tick), "end");
  }
  text += label((x.from + x.to) / 2, y.from + 36, x_name);
  return text + label(x.from, y.to - 6, y_name, "start");
}

std::string shade(double share) {
  const auto mixed = [share](double light, double dark) {
    return static_cast<int>(std::lround(light + share * (dark - light)));
  };
  return fmt::format("rgb({},{},{})", mixed(237, 8), mixed(248, 104), mixed(251, 172));
}

const char* category_colour(int category) {
  static constexpr const char* colours[category_count] = {
      "#2b6cb0", "#63b3ed", "#805ad5", "#e2e8f0", "#cbd5e0", "#a0aec0", "#718096",
      "#e53e3e", "#dd6b20", "#d69e2e", "#38a169", "#319795", "#97266d"};
  return colours[category];
}

std::string category_legend(const std::vector<int>& categories, double x, double& y) {
  const double begin = x;
  std::string text;
  for (const int c : categories) {
    const std::string legend(name(static_cast<Category>(c)));
    const double length = 24 + 7.5 * static_cast<double>(legend.size());
    if (x + length > drawing_width) {
      x = begin;
      y += 18;
    }
    text +=
        box({x, y - 10, 12, 12}, category_colour(c), legend) + label(x + 16, y, legend, "start");
    x += length;
  }
  y += 14;
  return text;
}

std::string page_begin(const std::string& title) { return fmt::format(head, escaped_html(title)); }

std::string page_end() { return "</body></html>\n"; }

std::string section(const std::string& title, const std::string& inside, const std::string& note) {
  if (inside.empty()) return "";
  return fmt::format("<h2>{}</h2>\n<p>{}</p>\n{}", title, note, inside);
}

std::string cell(const std::string& text, bool is_text) {
  return fmt::format("<td{}>{}</td>", is_text ? " class=\"text\"" : "", escaped_html(text));
}

}  // namespace analysis
