// Which known word a mistyped one probably meant.
#include <algorithm>

#include "sim/base/diagnostics.h"

namespace sim {
namespace {

// Longer words are compared by their beginnings, so that a hostile file costs nothing.
constexpr std::size_t compared = 64;

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const int beyond = static_cast<int>(std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
  if (std::max(a.size(), b.size()) > compared)
    return a == b ? 0 : std::max(beyond, static_cast<int>(compared));
  // rows[i % 3][j]: distance of the first i letters of a and the first j of b.
  std::vector<std::vector<int>> rows(3, std::vector<int>(b.size() + 1));
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<int>& row = rows[i % 3];
    const std::vector<int>& above = rows[(i - 1) % 3];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> known) {
  const std::string wanted = lower(word);
  std::stable_sort(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(wanted, lower(a)) < edit_distance(wanted, lower(b));
  });
  return known;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return std::nullopt;
  const std::string best = nearest_first(word, known).front();
  const int distance = edit_distance(lower(word), lower(best));
  // A word that shares nothing with a short one is no likely repair of it.
  const int least_length = static_cast<int>(std::min(word.size(), best.size()));
  if (distance > 2 || (distance > 0 && distance >= least_length)) return std::nullopt;
  return best;
}

}  // namespace sim
