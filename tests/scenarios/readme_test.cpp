// The output that README.md shows is the output of the command above it.
#include <fstream>
#include <sstream>

#include "analysis/summary.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

TEST_CASE("README: the quickstart prints what the README shows") {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(repository() / "scenarios/quickstart.yaml", {},
                                            command::catalog(), diagnostics);
  REQUIRE(read);
  const auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  auto outcome = training::simulate(loaded->job);
  auto& result = std::get<training::Result>(outcome);
  result.advice = training::advice(loaded->job, result);
  std::ifstream file(repository() / "README.md");
  std::stringstream readme;
  readme << file.rdbuf();
  INFO(analysis::summary(result));
  CHECK(readme.str().find(analysis::summary(result)) != std::string::npos);
}
