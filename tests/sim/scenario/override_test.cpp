// Values of the command line in the place of the file's.
#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

TEST_CASE("overrides: replace, add, enter lists, and the last one wins") {
  const Scenario s =
      must_read(whole_scenario, {{"plan.tensor", "4"},
                                 {"plan.data.degree", "8"},
                                 {"plan.data.degree", "2"},
                                 {"stragglers.0.compute", "50 %"},
                                 {"stragglers.0.memory", "60 %"},
                                 {"cluster.hosts.0.name", "\"n\""},
                                 {"placement", "{order: [data, tensor, context, pipeline]}"},
                                 {"expect.bubble", "9 ms"}});
  CHECK(s.plan.tensor == 4);
  CHECK(s.plan.data == 2);
  CHECK(s.stragglers[0].compute == 0.5);
  CHECK(s.stragglers[0].memory == 0.6);
  CHECK(s.cluster.hosts[0].name == "n");
  CHECK(s.plan.order[0] == plan::Dimension::data);
  CHECK(s.expect.size() == 4);
}

TEST_CASE("overrides: an added section") {
  const Scenario s = must_read(R"(maquette: 1
cluster: {name: pair}
dnn: {name: tiny}
training: {sequence: 2048, global_batch: 32}
)",
                               {{"plan.pipeline.stages", "2"}, {"run.fidelity", "operators"}});
  CHECK(s.plan.stages == 2);
  CHECK(s.run.fidelity == Run::Fidelity::operators);
}

TEST_CASE("overrides: a key with dots is found whole") {
  const Scenario s =
      must_read(program + "expect: {end.first: 10 ms}\n", {{"expect.end.first", "11 ms"}});
  REQUIRE(s.expect.size() == 1);
  CHECK(std::get<Seconds>(s.expect[0].value).value() == 0.011);
}

TEST_CASE("overrides: a mistake is shown in the option") {
  const TemporaryFile file(whole_scenario);
  CHECK(read(file.path(), {{"plan.tensor", "x"}}).text ==
        "--set plan.tensor=x:1:19: error: 'x' for plan.tensor is not a whole number\n"
        "--set plan.tensor=x\n"
        "                  ^\n");
  CHECK(read(file.path(), {{"plan.tensro", "4"}}).text ==
        "--set plan.tensro=4:1:12: error: unknown key 'tensro' in plan\n"
        "--set plan.tensro=4\n"
        "           ^~~~~~\n"
        "  why:  plan has tensor, expert, layers, context, data, pipeline, routing, offload, "
        "replicas, recompute, context_kind, sequence_parallel\n"
        "  hint: did you mean 'tensor'?\n");
  CHECK(read(file.path(), {{"plan.data", "{sharding: none"}})
            .text.find("--set plan.data={sharding: none:1:") == 0);
}

TEST_CASE("overrides: paths that lead nowhere") {
  const TemporaryFile file(whole_scenario);
  const auto message = [&](const std::string& path) {
    const Reading reading = read(file.path(), {{path, "1"}});
    CHECK_FALSE(reading.scenario);
    return reading.text.substr(0, reading.text.find('\n'));
  };
  CHECK(message("plan.tensor.x") == "--set plan.tensor.x=1:1:19: error: no 'x' below the text '2'");
  CHECK(message("stragglers.3.rank") ==
        "--set stragglers.3.rank=1:1:18: error: '3' is no index of a list of 3 values, counted "
        "from 0");
  CHECK(message("stragglers.x") ==
        "--set stragglers.x=1:1:18: error: 'x' is no index of a list of 3 values, counted from 0");
  CHECK(message("") == "--set =1:1:7: error: an empty key in the path of --set");
  CHECK(message("plan.") == "--set plan.=1:1:12: error: an empty key in the path of --set");
}

TEST_CASE("overrides: an empty value is no value") {
  const TemporaryFile file(whole_scenario);
  CHECK(read(file.path(), {{"plan.tensor", ""}}).text.find("no value for plan.tensor") !=
        std::string::npos);
}
