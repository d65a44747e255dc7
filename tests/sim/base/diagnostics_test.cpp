// The text of diagnostics: place, line, caret, order.
#include "sim/base/diagnostics.h"

#include <doctest/doctest.h>

#include <random>

using namespace sim;

TEST_CASE("diagnostics: one error shows the line, the caret, why and hint") {
  Diagnostics all;
  all.add_source("pair.yaml", "a: 1\n\nx:\n  y:\n    capacity: 400 Gbps\n");
  all.error({"pair.yaml", 5, 15, 8}, "unknown unit 'Gbps' for link.capacity", "a reason",
            "a repair");
  CHECK(all.text() ==
        "pair.yaml:5:15: error: unknown unit 'Gbps' for link.capacity\n"
        "    capacity: 400 Gbps\n"
        "              ^~~~~~~~\n"
        "  why:  a reason\n"
        "  hint: a repair\n");
  CHECK(all.has_errors());
}

TEST_CASE("diagnostics: files as first seen, then lines, then columns; duplicates once; counted") {
  Diagnostics all;
  all.add_source("b", "one\ntwo\n");
  all.add_source("a", "one\n");
  all.error({"a", 1, 1, 1}, "of a");
  all.error({"b", 2, 2, 1}, "third");
  all.warning({"b", 2, 1, 1}, "second");
  all.error({"b", 0, 0, 1}, "first");
  all.error({"b", 2, 2, 1}, "third");
  all.error({"b", 2, 2, 1}, "fourth");
  all.error({"b", 2, 2, 1}, "third");
  std::vector<std::string> messages;
  for (const Diagnostic& one : all.sorted()) messages.push_back(one.message);
  CHECK(messages == std::vector<std::string>{"first", "second", "third", "fourth", "of a"});
  const std::string text = all.text();
  CHECK(text.substr(0, 16) == "b: error: first\n");
  CHECK(text.substr(text.size() - 23) == "4 errors and 1 warning\n");
}

TEST_CASE("diagnostics: warnings alone are no errors") {
  Diagnostics all;
  CHECK(all.text().empty());
  all.warning({"a", 0, 0, 1}, "odd");
  CHECK_FALSE(all.has_errors());
  CHECK(all.text() == "a: warning: odd\n");
  all.warning({"a", 0, 0, 1}, "odder");
  CHECK(all.text() == "a: warning: odd\na: warning: odder\n2 warnings\n");
}

TEST_CASE(
    "diagnostics: columns are characters; tabs keep the caret in line; controls are not shown") {
  Diagnostics all;
  all.add_source("f", "\tn\xc3\xa4me: v\x1b\xff\n");
  all.error({"f", 1, 8, 1}, "m");  // tab, n, a-umlaut, m, e, colon, space: v is the eighth
  CHECK(all.text() == "f:1:8: error: m\n\tn\xc3\xa4me: v??\n\t      ^\n");
}

TEST_CASE("diagnostics: a long line is shown around the place") {
  Diagnostics all;
  all.add_source("f", std::string(1000, 'x') + "y" + std::string(1000, 'z'));
  all.error({"f", 1, 1001, 1}, "m");
  const std::string text = all.text();
  CHECK(text.size() < 400);
  // The caret stands under the y: 3 dots and 80 characters before both.
  CHECK(text.find("..." + std::string(80, 'x') + "y") != std::string::npos);
  CHECK(text.find("\n" + std::string(83, ' ') + "^\n") != std::string::npos);
}

TEST_CASE("diagnostics: a place outside the text is printed without a line") {
  Diagnostics all;
  all.add_source("f", "x\n");
  all.error({"f", 9, 1, 1}, "m");
  CHECK(all.text() == "f:9:1: error: m\n");
  Diagnostics beyond;
  beyond.add_source("f", "x\r\n");
  beyond.error({"f", 1, 50, 7}, "m");
  CHECK(beyond.text() == "f:1:50: error: m\nx\n ^\n");
}

TEST_CASE("diagnostics: beyond 200 the rest is only counted") {
  Diagnostics all;
  for (int line = 1; line <= 250; ++line) all.error({"f", line, 1, 1}, "m");
  const std::string text = all.text();
  CHECK(text.find("f:200:1") != std::string::npos);
  CHECK(text.find("f:201:1") == std::string::npos);
  CHECK(text.find("50 more are not shown\n250 errors\n") != std::string::npos);
  CHECK(all.sorted().size() == 250);
}

TEST_CASE("diagnostics: any places in any bytes can be printed") {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string source;
    for (std::size_t n = random() % 600; n > 0; --n) source += static_cast<char>(random() % 256);
    Diagnostics all;
    all.add_source("f", source);
    all.error({"f", static_cast<int>(random() % 5), static_cast<int>(random() % 700),
               static_cast<int>(random() % 700) - 5},
              "m");
    CAPTURE(i);
    CHECK(all.text().find("error: m\n") != std::string::npos);
  }
}

TEST_CASE("nearest: at most two edits, a swap is one, and never a word with nothing in common") {
  const std::vector<std::string> known = {"tensor", "context", "data", "tp"};
  CHECK(edit_distance("tensor", "tesnor") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(nearest("tesnor", known) == "tensor");
  CHECK(nearest("Tensor", known) == "tensor");
  CHECK(nearest("conntxt", known) == "context");
  CHECK(nearest("pipeline", known) == std::nullopt);
  CHECK(nearest("xy", known) == std::nullopt);
  CHECK(nearest("x", {}) == std::nullopt);
  CHECK(nearest_first("dat", known) == std::vector<std::string>{"data", "tp", "tensor", "context"});
}

TEST_CASE("nearest: the distance is a metric, on all short words of two letters") {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; i < words.size() && words[i].size() < 4; ++i) {
    words.push_back(words[i] + 'a');
    words.push_back(words[i] + 'b');
  }
  for (const auto& a : words) {
    for (const auto& b : words) {
      CHECK(edit_distance(a, b) == edit_distance(b, a));
      CHECK((edit_distance(a, b) == 0) == (a == b));
      CHECK(edit_distance(a, b) <= static_cast<int>(std::max(a.size(), b.size())));
    }
  }
}
