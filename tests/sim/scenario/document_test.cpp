// YAML text to trees: places, limits, and what is refused.
#include "sim/scenario/document.h"

#include <doctest/doctest.h>

#include "sim/scenario/encoding.h"

using namespace sim;
using namespace sim::scenario;

namespace {

Value parsed(const std::string& text) {
  Diagnostics diagnostics;
  const auto value = parse_document("f", text, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(value);
  REQUIRE_FALSE(diagnostics.has_errors());
  return *value;
}

std::string refusal(const std::string& text) {
  Diagnostics diagnostics;
  parse_document("f", text, diagnostics);
  REQUIRE(diagnostics.has_errors());
  return diagnostics.sorted().front().message;
}

Spot spot_of(const Value& root, const std::string& key) {
  const Value* value = root.find(key);
  REQUIRE(value != nullptr);
  return value->spot;
}

}  // namespace

TEST_CASE("document: places count characters from 1 and cover the value") {
  const Value root =
      parsed("a: 1\n\"\xc3\xa4 b\": {c: \"q \xc3\xa9\", d: 20 ms}  # x\ne:\nf: two words # c\n");
  CHECK(spot_of(root, "a").column == 4);
  const Value& map = *root.find("\xc3\xa4 b");
  CHECK(map.spot.line == 2);
  CHECK(map.spot.column == 8);
  CHECK(spot_of(map, "c").column == 12);
  CHECK(spot_of(map, "c").length == 5);
  CHECK(spot_of(map, "d").column == 22);  // after {c: "q e", d: and a space
  CHECK(spot_of(map, "d").length == 5);
  // An empty value stands where its key stands.
  CHECK(spot_of(root, "e").line == 3);
  CHECK(spot_of(root, "e").column == 1);
  CHECK(spot_of(root, "f").length == 9);
}

TEST_CASE("document: kinds of values, quotes, block texts") {
  const Value root = parsed("a: \"5\"\nb: [x, {y: z}]\nc: ~\nd: |\n  line\n");
  CHECK(root.find("a")->is_quoted);
  CHECK(root.find("b")->items.size() == 2);
  CHECK(root.find("b")->items[1].find("y")->text == "z");
  CHECK(root.find("c")->kind == Value::Kind::nothing);
  CHECK(root.find("d")->text == "line\n");
  CHECK(parsed("").kind == Value::Kind::nothing);
}

TEST_CASE("document: anchors stand for their value") {
  const Value root = parsed("a: &x {k: [1, 2]}\nb: *x\n");
  CHECK(root.find("b")->find("k")->items.size() == 2);
}

TEST_CASE("document: aliases that multiply are refused before they are built") {
  // Ten values of ten of ten ...: 10^9 in the last.
  std::string text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 9; ++level) {
    text += "l" + std::to_string(level) + ": &l" + std::to_string(level) + " [";
    for (int i = 0; i < 10; ++i) text += (i ? ", *l" : "*l") + std::to_string(level - 1);
    text += "]\n";
  }
  CHECK(refusal(text) == "more than 500000 values in one file");
  CHECK(refusal("a: &x [*x]") == "an alias inside the value it stands for");
}

TEST_CASE("document: depth is bounded, also through aliases") {
  CHECK(refusal(std::string(100, '[')) == "more than 64 values inside each other");
  CHECK(refusal(std::string(100000, '[')) == "more than 64 values inside each other");
  CHECK(parsed(std::string(60, '[') + std::string(60, ']')).kind == Value::Kind::list);
  const std::string half = std::string(40, '[') + std::string(40, ']');
  CHECK(refusal("a: &x " + half + "\nb: " + std::string(40, '[') + "*x" + std::string(40, ']')) ==
        "more than 64 values inside each other");
}

TEST_CASE("document: many values are refused, many letters are not") {
  std::string many = "[";
  for (int i = 0; i < 600000; ++i) many += "1,";
  CHECK(refusal(many + "]") == "more than 500000 values in one file");
  CHECK(parsed("a: " + std::string(1000000, 'x')).find("a")->text.size() == 1000000);
}

TEST_CASE("document: duplicate keys are found, the first one counts") {
  Diagnostics diagnostics;
  const auto value = parse_document("f", "a: 1\nb: {c: 1, c: 2}\na: 2\n", diagnostics);
  REQUIRE(value);
  CHECK(value->find("a")->text == "1");
  CHECK(value->find("b")->find("c")->text == "1");
  const auto all = diagnostics.sorted();
  REQUIRE(all.size() == 2);
  CHECK(all[0].message == "key 'c' appears twice");
  CHECK(all[0].place.column == 11);
  CHECK(all[1].why == "the first is in line 1");
}

TEST_CASE("document: text that is none") {
  CHECK(refusal("a: \xff") == "byte 0xff is no text");
  CHECK(refusal(std::string("a: \0", 4)) == "byte 0x00 is no text");
  CHECK(refusal("a: \"\\x1b[2J\"") == "an escape that stands for a control character");
  CHECK(refusal("a: !!int 5") == "tags such as '!!str' are not part of the format");
  CHECK(refusal("a: 1\n---\nb: 1\n") == "a second document begins here");
  CHECK(refusal("[a, b]: 1") == "a list where a key must stand");
  Diagnostics diagnostics;
  parse_document("f", "a: 1\nb\xc3\xa4: \xc3(", diagnostics);
  CHECK(diagnostics.sorted().at(0).place.line == 2);
  CHECK(diagnostics.sorted().at(0).place.column == 5);
}

TEST_CASE("encoding: UTF-8 as of RFC 3629, section 3") {
  for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\t\r\n"}) {
    CAPTURE(good);
    CHECK_FALSE(first_unreadable(good));
  }
  // Lone continuation, overlong, surrogate, beyond U+10FFFF, cut off, control characters.
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2",
                          "\xe1\x80", "\xf1\x80\x80", "\x01", "\x7f"}) {
    CAPTURE(bad);
    CHECK(first_unreadable(bad) == 0);
  }
  CHECK(character_count("a\xc3\xa4\xf0\x9f\x98\x80") == 3);
  CHECK(shown("ab\ncd", 3) == "ab ...");
  CHECK(shown("\xc3\xa4\xc3\xa4\xc3\xa4", 2) == "\xc3\xa4\xc3\xa4...");
}
