// What is wrong with the user's input: collected, ordered by place, printed with the line and a
// caret.
//
//   scenarios/pair.yaml:5:15: error: unknown unit 'Gbps' for link.capacity
//       capacity: 400 Gbps
//                 ^~~~~~~~
//     why:  'Gbps' is read as bits by some and bytes by others
//     hint: write '400 Gbit/s' (50 GB/s) or '400 GB/s'
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

// A place in an input file. Lines and columns count from 1; 0 means "the file as a whole".
// Columns and lengths are in characters (code points), as editors count.
struct Place {
  std::string file;  // as the user named it
  int line = 0;
  int column = 0;
  int length = 1;  // characters underlined
};

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  Place place;
  std::string message;  // lower case, no full stop; true on its own
  std::string why;      // empty: evident
  std::string hint;     // empty: no likely repair
};

class Diagnostics {
 public:
  // Keeps the text of a file, so that its lines can be shown.
  void add_source(const std::string& file, const std::string& text);
  void error(Place place, std::string message, std::string why = "", std::string hint = "");
  void warning(Place place, std::string message, std::string why = "", std::string hint = "");

  bool has_errors() const;
  // In order of file (first seen first), line, column; duplicates dropped.
  std::vector<Diagnostic> sorted() const;
  // All of them as text, then "3 errors" (and "1 warning") when there is more than one.
  // Beyond 200, the rest is only counted.
  std::string text() const;
  // The lines of one source, without line ends. Empty for an unknown file.
  const std::vector<std::string>& source(const std::string& file) const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::map<std::string, std::vector<std::string>> sources_;
  std::vector<std::string> order_;
};

// The known word nearest to `word` (edit distance at most 2), if any.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);
// All known words, the nearest first; equally near ones in the order given.
std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> known);
// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
int edit_distance(std::string_view a, std::string_view b);

}  // namespace sim
