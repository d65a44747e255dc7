// Pieces of drawings, as SVG that needs nothing else.
#pragma once

#include <string>
#include <vector>

namespace analysis {

// Text for HTML and SVG: no character of it is markup.
std::string escaped_html(const std::string& text);

inline constexpr double drawing_width = 720;

// A drawing as wide as all are, of that height.
std::string svg(double height, const std::string& inside);
std::string label(double x, double y, const std::string& text, const char* anchor = "middle");
// A rectangle that says `title` under the pointer.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};
std::string box(const Box& box, const std::string& fill, const std::string& title);

// Values -> coordinates.
struct Scale {
  double low = 0, high = 1, from = 0, to = 1;
  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};
// About five multiples of 1, 2 or 5 times a power of ten between low and high, ascending.
// REQUIRES: low < high.
std::vector<double> round_ticks(double low, double high);
// With a margin at both ends. REQUIRES: values.
Scale scale_of(const std::vector<double>& values, double from, double to);
std::string axes(const Scale& x, const Scale& y, const std::string& x_name,
                 const std::string& y_name);

// From light, 0, to dark, 1.
std::string shade(double share);
// By sim::training::Category.
const char* category_colour(int category);
// The names of those categories beside their colours, from `y` down; moves `y` below them.
std::string category_legend(const std::vector<int>& categories, double x, double& y);

// Begin and end of a page that needs neither script nor network.
std::string page_begin(const std::string& title);
std::string page_end();
std::string section(const std::string& title, const std::string& inside, const std::string& note);
std::string cell(const std::string& text, bool is_text = false);

}  // namespace analysis
