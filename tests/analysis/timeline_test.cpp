// Recorded timelines, replayed with parts of them healed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/gzip.h"
#include "analysis/measures.h"
#include "analysis/timeline_attribution.h"

namespace analysis {
namespace {

using sim::Diagnostics;

constexpr sim::Picoseconds ms = 1'000'000'000;

std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / name;
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

// Two stages, one data rank. In ms: forward 4 and 4, backward 8 and 16, one micro-batch; transfers
// of 1; a pause of 2 between the forward pass of stage 0 and its send.
std::string two_stages() {
  std::string text = "[";
  const auto add = [&](const char* name, int stage, int ts, int duration) {
    text += fmt::format(
        "{}{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{},\"dur\":{},"
        "\"args\":{{\"step\":7}}}}",
        text.size() > 1 ? ",\n" : "", name, stage, ts * 1000, duration * 1000);
  };
  for (const int stage : {0, 1}) {
    text += fmt::format(
        "{}{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{},"
        "\"args\":{{\"name\":\"PP rank {}, TP rank 0, compute\"}}}}",
        stage > 0 ? ",\n" : "", stage, stage);
  }
  add("forward-compute", 0, 0, 4);
  add("forward-send", 0, 6, 1);
  add("forward-recv", 1, 0, 7);
  add("forward-compute", 1, 7, 4);
  add("backward-compute", 1, 11, 16);
  add("backward-send", 1, 27, 1);
  add("backward-recv", 0, 8, 20);
  add("backward-compute", 0, 28, 8);
  return text + "]";
}

TimelineAttribution attributed(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  const auto timeline = read_timeline(file, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(timeline);
  auto outcome = attribute(*timeline);
  REQUIRE(std::holds_alternative<TimelineAttribution>(outcome));
  return std::get<TimelineAttribution>(std::move(outcome));
}

std::string refusal(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(read_timeline(written("maquette-wrong-timeline.json", text), diagnostics));
  return diagnostics.text();
}

}  // namespace

// Recorded 36 ms, of which the pause is 2: 4 + 1 + 4 + 16 + 1 + 8 = 34. Healed, backward passes
// take their mean, 12: 4 + 1 + 4 + 12 + 1 + 12 = 34 as well. With the second stage's alone healed:
// 4 + 1 + 4 + 12 + 1 + 8 = 30; with the first's alone: 38.
TEST_CASE("timeline: two stages -> as by hand") {
  const auto a = attributed(written("maquette-timeline.json", two_stages()));
  CHECK(a.recorded == 36 * ms);
  CHECK(a.replayed == 34 * ms);
  CHECK(a.ideal == 34 * ms);
  REQUIRE(a.stages.size() == 2);
  CHECK(a.stages[0].without == 38 * ms);
  CHECK(a.stages[0].alone == 30 * ms);
  CHECK(a.stages[1].without == 30 * ms);
  CHECK(a.stages[1].alone == 38 * ms);
  REQUIRE(a.workers.size() == 2);
  CHECK(a.workers[1].without == 30 * ms);
  CHECK(a.slowest == std::vector<int>{1});
  CHECK(a.without_slowest == 30 * ms);
  // forward-compute, forward transfer, backward-compute, backward transfer
  REQUIRE(a.types.size() == 4);
  for (const HealedPart& type : a.types) CHECK(type.without == 34 * ms);
}

TEST_CASE("timeline: compressed -> the same") {
  const auto a = attributed(written("maquette-timeline.json.gz", gzip(two_stages())));
  CHECK(a.replayed == 34 * ms);
}

TEST_CASE("timeline: what is wrong -> refused, each with its place") {
  std::string unknown = two_stages();
  unknown.replace(unknown.find("backward-compute"), 16, "backward-compile");
  CHECK(refusal(unknown).find("maquette-wrong-timeline.json:7:1: error: unknown operation "
                              "'backward-compile'") != std::string::npos);
  std::string unpaired = two_stages();
  unpaired.replace(unpaired.find("forward-recv"), 12, "backward-recv");
  CHECK(refusal(unpaired).find("a 'forward-send' whose other side is missing") !=
        std::string::npos);
  CHECK(refusal("[]").find("no operation in the timeline") != std::string::npos);
  CHECK(refusal("{\"events\": []}").find("no list of trace events") != std::string::npos);
  CHECK(refusal(gzip(two_stages()).substr(0, 60)).find("not whole") != std::string::npos);
}

// Each stage first waits for what the other does last.
TEST_CASE("timeline: operations in orders that cannot be -> says who waits") {
  std::string text = two_stages();
  const auto move = [&](const char* name, int from, int to) {
    const std::string key = fmt::format("\"ts\":{},", from * 1000);
    const std::size_t at = text.find(key, text.find(name));
    text.replace(at, key.size(), fmt::format("\"ts\":{},", to * 1000));
  };
  move("backward-recv", 8, 0);
  move("forward-compute", 0, 30);
  move("forward-send", 6, 35);
  Diagnostics diagnostics;
  const auto timeline = read_timeline(written("maquette-stuck.json", text), diagnostics);
  REQUIRE(timeline);
  const auto outcome = attribute(*timeline);
  REQUIRE(std::holds_alternative<TimelineStuck>(outcome));
  CHECK(std::get<TimelineStuck>(outcome).who.find("in step 7") != std::string::npos);
}

// Lin et al.'s own answer for a job of 8 workers whose last stage is too long.
TEST_CASE("timeline: a published recording -> the published answer within 2 %") {
  const char* data = std::getenv("MAQUETTE_DATA");
  const auto folder = data != nullptr
                          ? std::filesystem::path(data)
                          : std::filesystem::path(MAQUETTE_SOURCE).parent_path() / "shared/data";
  const auto file = folder / "files/straggler/bytedance-timeline-ST.json.gz";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: no recorded timeline at " << file.string() << " (set MAQUETTE_DATA)");
    return;
  }
  const auto a = attributed(file);
  const auto near = [](double value) { return doctest::Approx(value).scale(0).epsilon(0.02); };
  CHECK(static_cast<double>(a.replayed) * 1e-12 == near(2.172696813310722));
  CHECK(static_cast<double>(a.ideal) * 1e-12 == near(1.843295824372035));
  CHECK(a.slowdown(a.replayed) == near(1.1787021836556841));
  CHECK(static_cast<double>(a.without_slowest) * 1e-12 == near(2.162352216004365));
  CHECK(a.explains(a.without_slowest) == near(0.031404269124045224));
  REQUIRE(a.stages.size() == 4);
  const double published[] = {0.9980450635272368, 0.9830562530894704, 0.9824931309511952,
                              1.2322559543157936};
  for (std::size_t s = 0; s < 4; ++s) CHECK(a.slowdown(a.stages[s].alone) == near(published[s]));
}

TEST_CASE("percentiles of iterations: the shortest that a share do not exceed") {
  sim::training::Result result;
  result.iterations_ps = {4, 1, 3, 2};
  CHECK(iteration_percentile(result, 0.5) == 2);
  CHECK(iteration_percentile(result, 0.95) == 4);
  CHECK(iteration_percentile(result, 0.25) == 1);
  result.iterations_ps.clear();
  for (int i = 1; i <= 20; ++i) result.iterations_ps.push_back(i);
  CHECK(iteration_percentile(result, 0.95) == 19);
  CHECK(iteration_percentile(result, 0.99) == 20);
}

}  // namespace analysis
