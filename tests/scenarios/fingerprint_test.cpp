// Every scenario of the repository repeats the events it is known for. A changed line in
// tests/golden/fingerprints.csv is a changed result and belongs in the CHANGELOG.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/scenarios/run_scenario.h"

using namespace sim;

TEST_CASE("fingerprints: every scenario, run twice, gives the known events") {
  std::string now = "scenario,fingerprint,iteration [ps]\n";
  for (const char* folder : {"scenarios", "scenarios/scale", "scenarios/worked"}) {
    for (const auto& file : scenario_files(folder)) {
      CAPTURE(file.filename().string());
      const training::Result first = run_scenario(file).result;
      const training::Result second = run_scenario(file).result;
      CHECK(first.fingerprint == second.fingerprint);
      now += fmt::format("{},{:016x},{}\n",
                         std::filesystem::relative(file, repository()).generic_string(),
                         first.fingerprint, first.iteration_ps());
    }
  }
  const auto golden = repository() / "tests/golden/fingerprints.csv";
  if (std::getenv("MAQUETTE_UPDATE_GOLDEN")) {
    std::ofstream(golden) << now;
    return;
  }
  std::ifstream file(golden);
  std::stringstream known;
  known << file.rdbuf();
  CHECK(known.str() == now);
}
