// Collecting, ordering and printing what is wrong with the user's input.
#include "sim/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace sim {
namespace {

// Lines longer than this are shown in part, around the place.
constexpr std::size_t columns_shown = 160;
// Nobody reads more at once.
constexpr std::size_t diagnostics_shown = 200;

// One printable text per character. What a terminal could obey or not show becomes '?'.
std::vector<std::string> characters(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < line.size();) {
    const auto lead = static_cast<unsigned char>(line[at]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    bool whole = length > 0 && at + length <= line.size();
    for (std::size_t next = 1; whole && next < length; ++next) {
      whole = (static_cast<unsigned char>(line[at + next]) & 0xc0) == 0x80;
    }
    const bool is_control = lead < 0x20 ? lead != '\t' : lead == 0x7f;
    const bool is_upper_control =
        lead == 0xc2 && whole && static_cast<unsigned char>(line[at + 1]) < 0xa0;
    result.push_back(whole && !is_control && !is_upper_control ? line.substr(at, length) : "?");
    at += whole ? length : 1;
  }
  return result;
}

// The line of the place and the caret under it; empty where there is no such line.
std::string excerpt(const Place& place, const std::vector<std::string>& lines) {
  if (place.line < 1 || place.column < 1) return "";
  if (static_cast<std::size_t>(place.line) > lines.size()) return "";
  const auto line = characters(lines[static_cast<std::size_t>(place.line - 1)]);
  const std::size_t caret = std::min(static_cast<std::size_t>(place.column - 1), line.size());
  std::size_t first = 0, last = line.size();
  if (line.size() > columns_shown) {
    first = caret > columns_shown / 2 ? caret - columns_shown / 2 : 0;
    last = std::min(first + columns_shown, line.size());
  }
  std::string shown = first > 0 ? "..." : "", under = first > 0 ? "   " : "";
  for (std::size_t i = first; i < last; ++i) {
    shown += line[i];
    if (i < caret) under += line[i] == "\t" ? "\t" : " ";
  }
  if (last < line.size()) shown += "...";
  const std::size_t wanted = static_cast<std::size_t>(std::max(place.length, 1));
  const std::size_t underlined = std::max<std::size_t>(std::min(wanted, last - caret), 1);
  return shown + "\n" + under + "^" + std::string(underlined - 1, '~') + "\n";
}

std::string header(const Diagnostic& diagnostic) {
  const Place& place = diagnostic.place;
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}:{}", place.line, place.column);
  return text + (diagnostic.severity == Severity::error ? ": error: " : ": warning: ") +
         diagnostic.message + "\n";
}

std::string counted(std::ptrdiff_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string totals(const std::vector<Diagnostic>& all) {
  if (all.size() < 2) return "";
  const auto errors = std::count_if(all.begin(), all.end(), [](const Diagnostic& one) {
    return one.severity == Severity::error;
  });
  const auto warnings = static_cast<std::ptrdiff_t>(all.size()) - errors;
  if (warnings == 0) return counted(errors, "error") + "\n";
  if (errors == 0) return counted(warnings, "warning") + "\n";
  return counted(errors, "error") + " and " + counted(warnings, "warning") + "\n";
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

void Diagnostics::add_source(const std::string& file, const std::string& text) {
  if (std::find(order_.begin(), order_.end(), file) == order_.end()) order_.push_back(file);
  sources_[file] = split_lines(text);
}

void Diagnostics::error(Place place, std::string message, std::string why, std::string hint) {
  if (std::find(order_.begin(), order_.end(), place.file) == order_.end()) {
    order_.push_back(place.file);
  }
  diagnostics_.push_back(
      {Severity::error, std::move(place), std::move(message), std::move(why), std::move(hint)});
}

void Diagnostics::warning(Place place, std::string message, std::string why, std::string hint) {
  error(std::move(place), std::move(message), std::move(why), std::move(hint));
  diagnostics_.back().severity = Severity::warning;
}

bool Diagnostics::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& one) { return one.severity == Severity::error; });
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  const auto key = [this](const Diagnostic& one) {
    const auto file = std::find(order_.begin(), order_.end(), one.place.file) - order_.begin();
    return std::tuple(file, one.place.line, one.place.column);
  };
  std::vector<Diagnostic> result = diagnostics_;
  std::stable_sort(result.begin(), result.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  const auto is_same = [&](const Diagnostic& a, const Diagnostic& b) {
    return key(a) == key(b) && a.message == b.message && a.severity == b.severity;
  };
  std::vector<Diagnostic> unique;
  for (Diagnostic& one : result) {
    bool is_known = false;
    for (auto old = unique.rbegin(); old != unique.rend() && key(*old) == key(one); ++old) {
      is_known = is_known || is_same(*old, one);
    }
    if (!is_known) unique.push_back(std::move(one));
  }
  return unique;
}

std::string Diagnostics::text() const {
  const std::vector<Diagnostic> all = sorted();
  std::string result;
  const std::size_t shown = std::min(all.size(), diagnostics_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Diagnostic& one = all[i];
    result += header(one) + excerpt(one.place, source(one.place.file));
    if (!one.why.empty()) result += "  why:  " + one.why + "\n";
    if (!one.hint.empty()) result += "  hint: " + one.hint + "\n";
  }
  if (shown < all.size()) result += fmt::format("{} more are not shown\n", all.size() - shown);
  return result + totals(all);
}

const std::vector<std::string>& Diagnostics::source(const std::string& file) const {
  static const std::vector<std::string> none;
  const auto found = sources_.find(file);
  return found == sources_.end() ? none : found->second;
}

}  // namespace sim
