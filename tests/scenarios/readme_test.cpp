// The output that README.md shows is the output of the command above it.
#include <fstream>
#include <iomanip>
#include <sstream>

#include "analysis/summary.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

std::string readme() {
  std::ifstream file(repository() / "README.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("README: every run that it shows is one that can be made") {
  std::istringstream lines(readme());
  int runs = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, command, file;
    words >> word >> command >> file;
    if (word != "./maquette" || command != "run" || file.find("scenarios/") != 0) continue;
    CAPTURE(line);
    std::vector<scenario::Override> overrides;
    while (words >> word) {
      if (word != "--set") continue;
      words >> std::quoted(word);
      const auto equals = word.find('=');
      overrides.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    CHECK(run_scenario(repository() / file, overrides).result.iteration_ps() > 0);
    ++runs;
  }
  CHECK(runs >= 5);
}

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
  INFO(analysis::summary(result));
  CHECK(readme().find(analysis::summary(result)) != std::string::npos);
}
