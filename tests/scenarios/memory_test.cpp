// Memory over an iteration.
#include <fmt/format.h>

#include <cmath>

#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

// Four stages of 1F1B with 6 micro-batches: 8 layers of alike activations, but for those that the
// embedding and the head keep.
constexpr const char* job = "scenarios/quickstart.yaml";

training::Result run(const char* schedule) {
  return run_scenario(repository() / job,
                      {{"plan.pipeline", fmt::format("{{stages: 4, schedule: {}}}", schedule)},
                       {"training.global_batch", "24"}})
      .result;
}

}  // namespace

// Stage s of 4 holds 4 - s micro-batches at its peak, and none at the end; each change is at the
// start or the end of a pass.
TEST_CASE("memory over time: 1F1B holds as many micro-batches as there are stages behind") {
  const training::Result result = run("1f1b");
  REQUIRE(result.memory.size() == 4);
  for (const training::StageMemory& stage : result.memory) {
    CAPTURE(stage.stage);
    REQUIRE_FALSE(stage.activations.empty());
    double most = 0;
    std::int64_t last = 0;
    for (const auto& [at, bytes] : stage.activations) {
      CHECK(at >= last);
      last = at;
      most = std::max(most, bytes);
      if (stage.peak_at_ps == at) CHECK(bytes <= stage.memory.activations.value());
    }
    CHECK(last <= result.iteration_ps());
    CHECK(std::ceil(most) == stage.memory.activations.value());
    CHECK(stage.activations.back().second == 0);
  }
  // The third stage has neither embedding nor head: 2 micro-batches, one after the other.
  const auto& third = result.memory[2].activations;
  const double each = third.front().second;
  CHECK(std::ceil(2 * each) == result.memory[2].memory.activations.value());
}

TEST_CASE("memory over time: GPipe peaks with its last forward pass") {
  const training::Result result = run("gpipe");
  const auto& second = result.memory[1];
  CHECK(second.peak_at_ps > 0);
  const double each = second.activations.front().second;
  CHECK(std::ceil(6 * each) == second.memory.activations.value());
}
