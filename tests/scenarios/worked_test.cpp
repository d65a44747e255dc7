// Every worked scenario gives the answer derived in it, and the same by single operators.
#include "analysis/expect.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

TEST_CASE("worked scenarios: answers derived by hand, to the picosecond and the byte") {
  const auto files = scenario_files("scenarios/worked");
  REQUIRE(files.size() >= 15);
  for (const auto& file : files) {
    CAPTURE(file.filename().string());
    const ScenarioRun run = run_scenario(file);
    CHECK_FALSE(run.scenario.expect.empty());
    for (const std::string& failure :
         analysis::unmet(run.scenario.expect, run.scenario, run.result)) {
      FAIL_CHECK(failure);
    }
  }
}

TEST_CASE("worked scenarios: segments and operators agree within 0.5 %") {
  for (const auto& file : scenario_files("scenarios/worked")) {
    CAPTURE(file.filename().string());
    const auto segments = run_scenario(file, {{"run.fidelity", "segments"}}).result.iteration_ps();
    const auto operators =
        run_scenario(file, {{"run.fidelity", "operators"}}).result.iteration_ps();
    CHECK(static_cast<double>(segments) ==
          doctest::Approx(static_cast<double>(operators)).scale(0).epsilon(0.005));
  }
}

TEST_CASE("worked scenarios: the parts of the last rank's time sum to the iteration exactly") {
  for (const auto& file : scenario_files("scenarios/worked")) {
    CAPTURE(file.filename().string());
    const training::Result result = run_scenario(file).result;
    std::int64_t sum = 0;
    for (const std::int64_t part : result.time) sum += part;
    CHECK(sum == result.iteration_ps());
  }
}
