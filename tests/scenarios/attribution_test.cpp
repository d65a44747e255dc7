// Stragglers healed one at a time.
#include "sim/command/attribution.h"

#include <fstream>

#include "sim/command/heat_map.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

command::Attribution attributed(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  auto outcome = command::attribution(*read);
  REQUIRE(std::holds_alternative<command::Attribution>(outcome));
  return std::get<command::Attribution>(std::move(outcome));
}

command::Attribution attributed_text(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / "maquette-attribution.yaml";
  std::ofstream(file) << text;
  return attributed(file);
}

constexpr const char* two_devices =
    "maquette: 1\nname: two\n"
    "cluster:\n  devices: [{name: d0, type: ideal}, {name: d1, type: ideal}]\n  switches: [s]\n"
    "  links:\n    - {from: d0, to: s, capacity: 50 GB/s, latency: 0 s}\n"
    "    - {from: d1, to: s, capacity: 50 GB/s, latency: 0 s}\n"
    "dnn: {timed: {layers: 1, forward: 4 ms, backward: 6 ms}}\n"
    "training: {sequence: 1, global_batch: 2}\nstack: ideal\nplan: {data: {degree: 2}}\n";

}  // namespace

// 10 ms of work: 20 ms at half speed, 16 ms at 5/8. The faster of the two costs nothing.
TEST_CASE("attribution: two slow devices side by side -> the slower explains what it alone costs") {
  const auto a = attributed_text(
      std::string(two_devices) +
      "stragglers:\n  - {part: d0, compute: 50 %}\n  - {part: d1, compute: 62.5 %}\n");
  CHECK(a.iteration_ps == 20'000'000'000);
  CHECK(a.ideal_ps == 10'000'000'000);
  CHECK(a.slowdown() == 2);
  REQUIRE(a.one.size() == 2);
  CHECK(a.one[0].what == "d0: compute 50 %");
  CHECK(a.one[0].iteration_ps == 16'000'000'000);
  CHECK(a.explains(a.one[0]) == 0.4);
  CHECK(a.one[1].iteration_ps == 20'000'000'000);
  CHECK(a.explains(a.one[1]) == 0);
  CHECK(a.kinds.empty());  // all are slow in compute
}

// The slow link carries nothing, so that only the slow device counts.
TEST_CASE("attribution: by kind") {
  const auto a = attributed_text(
      std::string(two_devices) +
      "stragglers:\n  - {part: d0, compute: 50 %}\n  - {part: d1->s, link: 10 %}\n");
  REQUIRE(a.kinds.size() == 2);
  CHECK(a.kinds[0].what == "all that is slow in compute");
  CHECK(a.explains(a.kinds[0]) == 1);
  CHECK(a.kinds[1].what == "all that is slow in links");
  CHECK(a.explains(a.kinds[1]) == 0);
}

TEST_CASE("attribution: stragglers that cost nothing explain nothing") {
  const auto a = attributed_text(std::string(two_devices) +
                                 "stragglers: [{part: d0, compute: 50 %, from: 1 s}]\n");
  CHECK(a.slowdown() == 1);
  CHECK(a.explains(a.one.front()) == 0);
}

// 64 devices, tensor 4, pipeline 4, data 4.
TEST_CASE("attribution: one slow device in 64 -> all of the slowdown goes with it") {
  const auto file = repository() / "scenarios/stragglers.yaml";
  Diagnostics diagnostics;
  auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  REQUIRE(read);
  read->stragglers.pop_back();
  const auto outcome = command::attribution(*read);
  const auto& a = std::get<command::Attribution>(outcome);
  CHECK(a.slowdown() > 1.05);
  CHECK(a.one.front().iteration_ps == a.ideal_ps);
  CHECK(a.explains(a.one.front()) == 1);
}

// 10 ms of work: 20 ms at half speed, 16 ms at 5/8.
TEST_CASE("heat map: each slow device alone in its data rank and stage") {
  const auto file = std::filesystem::temp_directory_path() / "maquette-heat-map.yaml";
  std::ofstream(file) << two_devices
                      << "stragglers:\n  - {part: d0, compute: 50 %}\n"
                         "  - {part: d1, compute: 62.5 %}\n  - {part: d1->s, link: 10 %}\n";
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, {}, command::catalog(), diagnostics);
  REQUIRE(read);
  const auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  const auto map = command::heat_map(loaded->job, 10'000'000'000);
  REQUIRE(map);
  CHECK(map->slowdown == std::map<command::HeatMap::Cell, double>{{{0, 0}, 2}, {{1, 0}, 1.6}});
  CHECK(command::heat_map_text(*map) ==
        "slowdown by the devices of one data rank and stage, all others healed\n"
        "                        stage 0  \n"
        "  data rank 0           2.000    \n"
        "  data rank 1           1.600    \n");
}
