// The page for people, word by word.
#include "analysis/summary.h"

#include <doctest/doctest.h>

#include <sstream>

#include "analysis/lines.h"
#include "tests/analysis/example_result.h"

namespace analysis {

TEST_CASE("summary: a plan that fits") {
  // Rates and shares: see json_test.cpp. Bubble 125 / 1250 = 10 %; 40 GiB is 42.95 GB, of 80 GB
  // (74.51 GiB) 53.7 %.
  CHECK(summary(example_result()) == R"()");
}

TEST_CASE("summary: a plan that does not fit says by how much and what would help") {
  auto result = example_result();
  result.fits = false;
  result.memory[0].capacity_bytes = 30.0 * 1024 * 1024 * 1024;
  result.remedies = {{"plan.recompute: full", sim::Bytes(28.0 * 1024 * 1024 * 1024)}};
  const std::string text = summary(result);
  CHECK(text.find("THIS PLAN DOES NOT FIT") != std::string::npos);
  CHECK(text.find("DOES NOT FIT: 10 GiB too much on rank 0; stages over capacity: 0\n") !=
        std::string::npos);
  CHECK(text.find("    plan.recompute: full                 peak 28 GiB\n") != std::string::npos);
}

TEST_CASE("summary: operations written by hand are listed with their times") {
  sim::training::Result result;
  result.scenario = "ring";
  result.devices = 4;
  result.iterations_ps = {30'030'000'000};
  result.time[static_cast<std::size_t>(sim::training::Category::other)] = 30'030'000'000;
  result.tracks = {{0, 0, 1, "late", {{"late", {}, 10'000'000'000, 30'030'000'000}}},
                   {0, 0, 1, "early", {{"early", {}, 0, 10'000'000'000}}}};
  result.fold.tasks = result.fold.task_classes = 2;
  CHECK(summary(result) == R"()");
}

TEST_CASE("summary: long lists are cut and say so, lines stay short and plain") {
  auto result = example_result();
  for (int i = 0; i < 9; ++i) result.warnings.push_back("warning number " + std::to_string(i));
  const std::string text = summary(result);
  CHECK(text.find("and 5 more with --json\n") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 110);
    CHECK((line.empty() || line.back() != ' '));
    for (const char c : line) CHECK((c >= ' ' && c <= '~'));
  }
}

TEST_CASE("lines: four significant digits") {
  CHECK(four_digits(0) == "0");
  CHECK(four_digits(26214.4) == "26214");
  CHECK(four_digits(102.4) == "102.4");
  CHECK(four_digits(1.25) == "1.250");
  CHECK(four_digits(0.012345678) == "0.01235");
}

TEST_CASE("lines: a column of times has the unit of its largest") {
  CHECK(in_unit(1'250'000'000'000, time_unit(1'250'000'000'000)) == "1250.000");
  CHECK(std::string(time_unit(9'999'999'999'999).name) == "ms");
  CHECK(std::string(time_unit(10'000'000'000'000).name) == "s");
  CHECK(std::string(time_unit(9'999'999'999).name) == "us");
  CHECK(in_unit(5'000'000, time_unit(5'000'000)) == "5.000");
}

}  // namespace analysis
