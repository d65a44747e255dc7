// Resources are dropped only where they cannot saturate, and dropping them changes nothing.
#include "sim/training/never_binding.h"

#include <doctest/doctest.h>

#include <random>

#include "sim/network/run.h"

using namespace sim;
using namespace sim::network;

namespace {

// Streams of a few steps each; every stream uses two of the resources.
System random_system(std::mt19937_64& random) {
  System system;
  const int resources = 2 + static_cast<int>(random() % 5);
  for (int r = 0; r < resources; ++r) {
    system.capacity.push_back(1000 + static_cast<std::int64_t>(random() % 4000));
  }
  const int streams = 1 + static_cast<int>(random() % 6);
  for (int s = 0; s < streams; ++s) {
    Program program;
    program.labels = {"step"};
    for (int i = 0; i < 3; ++i) {
      Step step;
      step.work = 1000 + static_cast<Picoseconds>(random() % 5000);
      step.first_use = i;
      step.use_count = 1;
      program.uses.push_back({0, 100 + static_cast<std::int64_t>(random() % 1500)});
      program.steps.push_back(step);
    }
    system.programs.push_back(program);
    Stream stream;
    stream.program = s;
    stream.first_footprint = s;
    system.streams.push_back(stream);
    system.stream_names.push_back("s");
    const auto first = static_cast<std::int32_t>(random() % static_cast<unsigned>(resources));
    const auto second = (first + 1) % resources;
    system.footprints.push_back({static_cast<std::int32_t>(system.coefficients.size()), 2});
    system.coefficients.push_back({first});
    system.coefficients.push_back({second});
  }
  return system;
}

}  // namespace

TEST_CASE("never-binding resources: 500 random systems end at the same instants without them") {
  int dropped = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    System system = random_system(random);
    const auto before = std::get<Outcome>(run(system));
    const std::size_t uses = system.coefficients.size();
    training::drop_never_binding(system);
    dropped += static_cast<int>(uses - system.coefficients.size());
    const auto after = std::get<Outcome>(run(system));
    CHECK(before.fingerprint == after.fingerprint);
    CHECK(before.last_ends == after.last_ends);
  }
  CHECK(dropped > 100);
}

TEST_CASE("never-binding resources: what comes through is bounded by what is around") {
  std::mt19937_64 random(1);
  System system = random_system(random);
  for (auto& capacity : system.capacity) capacity = 100;
  const auto resource = static_cast<std::size_t>(system.coefficients.front().resource);
  REQUIRE(training::may_bind(system)[resource]);
  std::vector<std::int64_t> most(system.capacity.size(), INT64_MAX);
  most[resource] = 100;
  CHECK_FALSE(training::may_bind(system, most)[resource]);
  most[resource] = 101;
  CHECK(training::may_bind(system, most)[resource]);
  // If it is only looked at, it limits nothing, however much is asked of it.
  most[resource] = 100;
  system.observed = {static_cast<std::int32_t>(resource)};
  training::drop_never_binding(system, most);
  CHECK(system.is_passive[resource]);
  CHECK(system.capacity[resource] == INT64_MAX);
}

TEST_CASE("never-binding resources: a later drop of capacity and an observer keep a resource") {
  std::mt19937_64 random(1);
  System system = random_system(random);
  for (auto& capacity : system.capacity) capacity = 1'000'000;
  System changed = system, observed = system;
  training::drop_never_binding(system);
  CHECK(system.coefficients.empty());
  const std::int32_t resource = changed.coefficients.front().resource;
  changed.changes = {{500, resource, 10}};
  training::drop_never_binding(changed);
  CHECK_FALSE(changed.coefficients.empty());
  observed.observed = {resource};
  training::drop_never_binding(observed);
  CHECK_FALSE(observed.coefficients.empty());
}
