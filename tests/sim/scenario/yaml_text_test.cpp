// Trees written as YAML and read again.
#include "sim/scenario/yaml_text.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "sim/scenario/document.h"

using namespace sim;
using namespace sim::scenario;

namespace {

// Quoted or not matters only where a number is expected: neither is written as the other.
bool are_equal(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!are_equal(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key) return false;
    if (!are_equal(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

Value parsed(const std::string& text) {
  Diagnostics diagnostics;
  const auto value = parse_document("text", text, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("YAML text: what would not read back plain is quoted") {
  const Value root = parsed(
      "a: {b: [1, -2, '3', \"x: y\", 'h[0..3]'], c: '', d: [], e: {}}\n'f g': '-'\nh: '# i'\n"
      "j: null\nk: \"a\\nb\"\nl: '*'\nm: 30 %\n");
  const std::string text = yaml_text(root);
  CHECK(text.find("a: {b: [1, -2, \"3\", \"x: y\", \"h[0..3]\"], c: \"\", d: [], e: {}}\n") == 0);
  CHECK(text.find("m: 30 %\n") != std::string::npos);
  CHECK(are_equal(parsed(text), root));
}

TEST_CASE("YAML text: every scenario reads back") {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(MAQUETTE_SOURCE) / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    Diagnostics diagnostics;
    const auto root = read_document(entry.path(), {}, diagnostics);
    REQUIRE(root);
    CAPTURE(entry.path().string());
    CHECK(are_equal(parsed(yaml_text(*root)), *root));
    ++files;
  }
  CHECK(files > 100);
}
