// Studies as they are read: axes, conditions, filters, and what is said of wrong ones.
#include "sim/scenario/study.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "sim/scenario/document.h"

using namespace sim;
using namespace sim::scenario;

namespace {

// A folder with a base and a study that goes with the test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("study" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    write("base.yaml", "maquette: 1\nplan: {tensor: 2, recompute: none}\n");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Reading {
  std::optional<Grid> grid;
  std::string errors;
};

Reading read(const std::string& parts) {
  const Folder folder;
  folder.write("s.yaml",
               "maquette: 1\nstudy:\n  base: base.yaml\n  objective: iteration-time\n" + parts);
  Diagnostics diagnostics;
  Reading reading;
  const auto study = read_study(folder / "s.yaml", diagnostics);
  if (study) {
    const auto base = read_document(study->base, {}, diagnostics);
    reading.grid = grid(*study, *base, diagnostics);
  }
  for (const Diagnostic& d : diagnostics.sorted()) {
    reading.errors += d.message + (d.hint.empty() ? "" : " | " + d.hint) + "\n";
  }
  return reading;
}

std::vector<std::string> lines(const Reading& reading) {
  std::vector<std::string> result;
  REQUIRE_MESSAGE(reading.grid, reading.errors);
  for (const Candidate& candidate : reading.grid->candidates) {
    std::string line;
    for (const Override& o : candidate.overrides) line += o.path + "=" + o.value + " ";
    result.push_back(line);
  }
  return result;
}

}  // namespace

TEST_CASE("study: the last axis changes fastest") {
  CHECK(lines(read(
            "  axes:\n    - {path: a, values: [1, 2]}\n    - {path: b.c, values: [x, y]}\n")) ==
        std::vector<std::string>{"a=1 b.c=x ", "a=1 b.c=y ", "a=2 b.c=x ", "a=2 b.c=y "});
}

TEST_CASE("study: ranges reach their end, with units and at equal ratios") {
  CHECK(
      lines(read("  axes:\n    - {path: a, range: {from: 0.1 us, to: 0.3 us, step: 0.1 us}}\n")) ==
      std::vector<std::string>{"a=0.1 us ", "a=0.2 us ", "a=0.3 us "});
  CHECK(lines(read("  axes:\n    - {path: a, range: {from: 1, to: 2, count: 3}}\n")) ==
        std::vector<std::string>{"a=1 ", "a=1.5 ", "a=2 "});
  CHECK(lines(read("  axes:\n    - {path: a, log_range: {from: 1, to: 20, factor: 4}}\n")) ==
        std::vector<std::string>{"a=1 ", "a=4 ", "a=16 "});
  // 1, 10^(2/3) = 4.64, 10^(4/3) = 21.5, 100: counts are whole.
  CHECK(lines(read("  axes:\n    - {path: a, log_range: {from: 1, to: 100, count: 4}}\n")) ==
        std::vector<std::string>{"a=1 ", "a=5 ", "a=22 ", "a=100 "});
}

TEST_CASE("study: zipped axes go together, conditional ones come and go") {
  CHECK(lines(read("  axes:\n    - zip:\n        - {path: a, values: [1, 2]}\n"
                   "        - {path: b, values: [x, {k: v}]}\n")) ==
        std::vector<std::string>{"a=1 b=x ", "a=2 b={\"k\":\"v\"} "});
  CHECK(lines(read(
            "  axes:\n    - {path: a, values: [p, q]}\n"
            "    - {path: b, values: [1, 2], when: {a: q, plan.recompute: [none, full]}}\n")) ==
        std::vector<std::string>{"a=p ", "a=q b=1 ", "a=q b=2 "});
}

TEST_CASE("study: filters count what they leave out, and know the base") {
  const Reading reading = read(
      "  axes:\n    - {path: a, values: [1, 2, 3, 4]}\n  filters: [a * plan.tensor <= (2 + 10) / "
      "2]\n");
  CHECK(lines(reading) == std::vector<std::string>{"a=1 ", "a=2 ", "a=3 "});
  CHECK(reading.grid->filtered == 1);
  CHECK(lines(read("  axes: [{path: a, values: [6, 8, 9]}]\n  filters: [a % 3 == 0, a != 9]\n")) ==
        std::vector<std::string>{"a=6 "});
}

TEST_CASE("study: what is wrong is said") {
  const auto errors = [](const std::string& parts) { return read(parts).errors; };
  CHECK(errors("  axes: [{path: a, values: [1]}, {path: a, values: [2]}]\n") == "two axes of a\n");
  CHECK(errors("  axes: [{path: a, values: [1], when: {b: 1}}]\n") ==
        "no axis so far and not the base scenario says 'b' | write it in the base scenario\n");
  CHECK(errors("  axes: [{path: a, values: [x]}]\n  filters: [a > 1]\n") ==
        "'a > 1' has no answer for every point of the grid\n");
  CHECK(errors("  filters: [a >]\n") ==
        "'a >' is no comparison: expected a number, a field such as plan.tensor, or '(' after 'a "
        ">' | such as plan.tensor * plan.pipeline.stages <= 16\n");
  CHECK(errors("  axes: [{path: a}]\n") ==
        "study.axes.0 is not one of the forms of an axis | write path with values, range or "
        "log_range; or zip, a list of such axes\n");
  CHECK(errors("  axes: [{zip: [{path: a, values: [1]}, {path: b, values: [1, 2]}]}]\n") ==
        "2 values of b beside 1 of a\n");
  CHECK(errors("  axes: [{path: a, range: {from: 1 s, to: 2 ms, count: 2}}]\n") ==
        "units of study.axes.0.range that differ | write all in one unit\n");
  CHECK(errors("  constraints: [{quantity: power, most: 3}]\n").find("missing unit") == 0);
  CHECK(errors("  constraints: [{quantity: purchase, most: 5 USD}]\n") ==
        "purchase without prices | prices: {hosts: ..., life: ...}\n");
  CHECK(errors("  prices: {hosts: [{type: h, purchase: 5 USD, source: s}]}\n") ==
        "no life in study.prices | life: 1460 d\nno energy in study.prices\n");
  CHECK(errors("  prices: {hosts: [{type: h, rent: 5 USD, source: s}]}\n") ==
        "'5 USD' for study.prices.hosts.0.rent is not a price with its unit (USD/h, USD/d)\n");
}

TEST_CASE("study: failures are counted where they can be") {
  const std::string effective =
      "  constraints: [{quantity: effective-training-time, least: 90 %}]\n";
  CHECK(read(effective).errors == "effective-training-time without failures | failures: true\n");
  CHECK(read(effective + "  failures: true\n").errors.empty());
  CHECK(read("  failures: true\n  search: {}\n").errors ==
        "search beside failures | search first, then count the failures of the plans found\n");
}
