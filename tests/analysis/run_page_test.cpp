// The page of a run: what is read back, the path, and the page's structure.
#include "analysis/run_page.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "analysis/critical_path.h"
#include "analysis/result_file.h"
#include "analysis/run_plots.h"
#include "analysis/svg.h"
#include "tests/analysis/example_result.h"

using namespace analysis;
using sim::training::Category;
using sim::training::Result;

namespace {

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("run-page" + std::to_string(getpid()) + ".h5");
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string bytes() const {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
};

Result full_example() {
  Result result = example_result();
  result.interval.device_type = "h100-sxm";
  result.interval.families = {0.02, 0.01, 0, 0.005};
  result.memory[0].activations = {{0, 1e9}, {500'000'000'000, 8e9}};
  result.remedies = {{"plan.recompute: full", sim::Bytes(7e10)}};
  return result;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("result file: what is read back is written as the same bytes") {
  const TemporaryFile file;
  write_result(full_example(), file.path);
  const std::string bytes = file.bytes();
  const Result back = read_result(file.path);
  CHECK(back.interval.device_type == "h100-sxm");
  CHECK(back.links.at(0).load.size() == 2);
  CHECK(back.memory.at(0).activations.size() == 2);
  CHECK(back.tracks.at(1).stream == "tensor");
  write_result(back, file.path);
  CHECK(file.bytes() == bytes);
}

TEST_CASE("result file: what is none is refused by name") {
  const TemporaryFile file;
  CHECK_THROWS_AS(read_result(file.path), std::runtime_error);
  std::ofstream(file.path) << "not HDF5";
  CHECK_THROWS_AS(read_result(file.path), std::runtime_error);
  write_result(full_example(), file.path);
  const std::string bytes = file.bytes();
  // Cut anywhere, it throws or reads; it never crashes.
  for (std::size_t size = 0; size < bytes.size(); size += 997) {
    std::ofstream(file.path, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    CHECK_THROWS_AS(read_result(file.path), std::runtime_error);
  }
}

TEST_CASE("critical path: from the end to the start, over ranks") {
  // rank 0: a [0, 10) b [10, 30); rank 8: receives [10, 14), then c [16, 40) after a launch of 2.
  // c ends last; before it a gap [14, 16), the receive, and a, which ended when the receive began.
  Result result;
  result.iterations_ps = {40};
  result.tracks = {
      {0, 0, 1, "compute", {{"a", Category::compute, 0, 10}, {"b", Category::compute, 10, 30}}},
      {8, 1, 1, "receive", {{"r", Category::exposed_pipeline, 10, 14}}},
      {8, 1, 1, "compute", {{"c", Category::compute, 16, 40}}}};
  const auto path = critical_path(result);
  REQUIRE(path.size() == 4);
  CHECK(path[0].span->name == "a");
  CHECK(path[1].span->name == "r");
  CHECK(path[2].span == nullptr);
  CHECK(path[2].start_ps == 14);
  CHECK(path[2].end_ps == 16);
  CHECK(path[3].span->name == "c");
  // Without holes.
  for (std::size_t i = 1; i < path.size(); ++i) CHECK(path[i].start_ps == path[i - 1].end_ps);
  CHECK(critical_path(Result{}).empty());
}

TEST_CASE("critical path: its own stream goes before another one that ended just then") {
  Result result;
  result.tracks = {
      {0, 0, 1, "compute", {{"a", Category::compute, 0, 5}, {"b", Category::compute, 5, 9}}},
      {4, 1, 1, "compute", {{"other", Category::compute, 0, 5}}}};
  const auto path = critical_path(result);
  REQUIRE(path.size() == 2);
  CHECK(path[0].span->name == "a");
}

TEST_CASE("links: the tiers that a name joins") {
  const auto joins = [](const char* link, int from, int to) {
    CAPTURE(link);
    CHECK(tiers_of(link).from == from);
    CHECK(tiers_of(link).to == to);
  };
  joins("h3.gpu5.up", 0, 1);
  joins("h3.gpu5.down", 1, 0);
  joins("h3.gpu5.gpu6", 0, 0);
  joins("h3.gpu5.pcie.out", 0, 2);
  joins("h3.gpu5.pcie.in", 2, 0);
  joins("h3.pcie1.up", 2, 2);
  joins("h3.nic2.out", 2, 3);
  joins("h3.nic2.in", 3, 2);
  joins("leaf3.up", 3, 4);
  joins("leaf3.down", 4, 3);
  joins("leaf3.spine1", 3, 4);
  joins("spine1.leaf3", 4, 3);
  joins("router3.x+", 5, 5);
  joins("a->b#1", 5, 5);
}

TEST_CASE("run page: stands alone, is well formed, and escapes what it shows") {
  Result result = full_example();
  result.scenario = "a < b & \"c\"";
  result.tracks[0].spans[0].name = "<script>";
  Result other = full_example();
  other.iterations_ps = {1'000'000'000'000};
  for (const auto& results :
       {std::vector<const Result*>{&result}, std::vector<const Result*>{&result, &other}}) {
    const std::string page = run_html(results);
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("src=") == std::string::npos);
    CHECK(page.find("href=") == std::string::npos);
    CHECK(page.find("nan") == std::string::npos);
    CHECK(page.find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
    for (const char* tag :
         {"svg", "table", "tr", "td", "ul", "li", "h2", "text", "rect", "title"}) {
      CAPTURE(tag);
      CHECK(count(page, std::string("<") + tag + ">") + count(page, std::string("<") + tag + " ") ==
            count(page, std::string("</") + tag + ">"));
    }
    for (const char* title : {"Where the time goes", "Timeline", "Critical path", "Memory", "Links",
                              "Links over time", "Notes"}) {
      CAPTURE(title);
      CHECK(count(page, std::string("<h2>") + title + "</h2>") == 1);
    }
    // One drawing of each kind and run.
    CHECK(count(page, "<svg") == 5 * results.size());
  }
  const std::string page = run_html({&result, &other});
  // 1.25 s against 1 s for as many tokens: A has 20 % fewer.
  CHECK(page.find("B is faster; A has 20.0 % fewer tokens per second, with a probability of") !=
        std::string::npos);
  CHECK(page.find("-20.0 %") != std::string::npos);
}

TEST_CASE("ticks: multiples of 1, 2 or 5 times a power of ten") {
  using Ticks = std::vector<double>;
  CHECK(round_ticks(0, 10) == Ticks{0, 2, 4, 6, 8, 10});
  CHECK(round_ticks(0, 3797) == Ticks{0, 1000, 2000, 3000});
  CHECK(round_ticks(501'427, 880'772) == Ticks{600'000, 700'000, 800'000});
  CHECK(round_ticks(-3, 4) == Ticks{-2, 0, 2, 4});
  CHECK(round_ticks(213'700, 214'400) == Ticks{213'800, 214'000, 214'200, 214'400});
  for (const double low : {-7.3, 0.0, 1e-9, 12345.6}) {
    for (double length = 1e-6; length < 1e9; length *= 1.37) {
      const Ticks ticks = round_ticks(low, low + length);
      CAPTURE(low);
      CAPTURE(length);
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= 6);
    }
  }
}
