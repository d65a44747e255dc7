// Wrong scenarios and the whole text of what is said about each.
//
// MAQUETTE_UPDATE_GOLDEN=1 rewrites the expected texts; the difference is to be reviewed. A line
// "# --set path=value" in a scenario is an option of the command line.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

namespace {

std::vector<std::filesystem::path> wrong_scenarios() {
  enter_repository();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/errors")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Override> options_of(const std::string& text) {
  const std::string option = "# --set ";
  std::vector<Override> options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(option, 0) != 0) continue;
    const std::size_t equals = line.find('=');
    REQUIRE(equals != std::string::npos);
    options.push_back(
        {line.substr(option.size(), equals - option.size()), line.substr(equals + 1)});
  }
  return options;
}

}  // namespace

TEST_CASE("goldens: every wrong scenario is refused with the known text") {
  const auto files = wrong_scenarios();
  REQUIRE(files.size() >= 45);
  for (const auto& file : files) {
    CAPTURE(file.string());
    const Reading reading = read(file, options_of(file_text(file)));
    CHECK_FALSE(reading.scenario);
    auto expected = file;
    expected.replace_extension(".expected");
    if (std::getenv("MAQUETTE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(expected, std::ios::binary) << reading.text;
    } else {
      CHECK(reading.text == file_text(expected));
    }
  }
}

TEST_CASE("goldens: messages are in the agreed form") {
  for (const auto& file : wrong_scenarios()) {
    CAPTURE(file.string());
    const std::string text = read(file, options_of(file_text(file))).text;
    CAPTURE(text);
    std::istringstream lines(text);
    int errors = 0;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t at = line.find(": error: ");
      if (at == std::string::npos) continue;
      ++errors;
      const std::string message = line.substr(at + 9);
      REQUIRE_FALSE(message.empty());
      CHECK(message.back() != '.');
      CHECK(message.find("  ") == std::string::npos);
      CHECK_FALSE((message[0] >= 'A' && message[0] <= 'Z' && message.rfind("not YAML", 0) != 0));
    }
    CHECK(errors >= 1);
    if (errors > 1) CHECK(text.find(std::to_string(errors) + " errors") != std::string::npos);
  }
}

TEST_CASE("goldens: no expected text without its scenario") {
  enter_repository();
  std::set<std::string> stems;
  for (const auto& file : wrong_scenarios()) stems.insert(file.stem().string());
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/errors")) {
    CAPTURE(entry.path().string());
    CHECK(stems.contains(entry.path().stem().string()));
  }
}
