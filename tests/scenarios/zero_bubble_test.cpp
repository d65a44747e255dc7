// Published zero bubble runs from the pass times that were profiled beside them: what is left is
// the schedule. Nothing is fitted.
//
// The runs are read from the folder that MAQUETTE_DATA names, else ../shared/data beside the source
// tree; without them the test says so and passes.
#include <fmt/format.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <climits>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

struct Times {
  double forward = 0, backward_input = 0, backward_weight = 0, transfer = 0;  // [ms]
};

struct Run {
  std::string schedule;
  int stages = 1, virtual_stages = 1, micro_batches = 1;
  Times times;  // of a stage and micro-batch
};

// Stages in a row, joined so that a transfer takes its profiled time and disturbs no other.
// Receives block, as Megatron's do.
std::string scenario_text(const Run& run) {
  std::string devices, links;
  for (int s = 0; s < run.stages; ++s) {
    devices += fmt::format("{}{{name: d{}, type: ideal}}", s > 0 ? ", " : "", s);
    links += fmt::format("    - {{from: d{}, to: s, capacity: 50 GB/s, latency: 0 s}}\n", s);
  }
  const int parts = run.virtual_stages;
  const Times& t = run.times;
  return fmt::format(
      "maquette: 1\nname: zero bubble\ncluster:\n  devices: [{}]\n  switches: [s]\n  links:\n{}"
      "dnn: {{timed: {{layers: {}, forward: {:.6f} ms, backward: {:.6f} ms, backward_weight: "
      "{:.6f} "
      "ms, boundary: {:.0f} B}}}}\nstack: {{base: ideal, pipeline_blocks: true}}\n"
      "training: {{sequence: 1, global_batch: {}, micro_batch: 1}}\n"
      "plan: {{pipeline: {{stages: {}, schedule: {}{}}}}}\n",
      devices, links, run.stages * parts, t.forward / parts,
      (t.backward_input + t.backward_weight) / parts, t.backward_weight / parts,
      t.transfer * 1e-3 * 50e9, run.micro_batches, run.stages, run.schedule,
      run.schedule == "interleaved-1f1b" ? fmt::format(", virtual_stages: {}", parts) : "");
}

double simulated_seconds(const Run& run) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("maquette-zero-bubble-{}.yaml", ::getpid());
  std::ofstream(file) << scenario_text(run);
  const auto result = run_scenario(file).result;
  std::filesystem::remove(file);
  return static_cast<double>(result.iteration_ps()) * 1e-12;
}

// By dnn, stages and sequences of a micro-batch; where several numbers of micro-batches were
// profiled, the one nearest.
class Profiled {
 public:
  explicit Profiled(const YAML::Node& rows) {
    for (const YAML::Node& row : rows) {
      const auto key = fmt::format("GPT {} {} {}", row["model"].as<std::string>(),
                                   row["stages"].as<int>(), row["mbs"].as<int>());
      const auto milliseconds = [&](const char* name) { return row[name].as<double>(); };
      all_[key][row["microbatches"].as<int>()] = {
          milliseconds("t_forward"), milliseconds("t_backward_input"),
          milliseconds("t_backward_weight"), milliseconds("t_comm")};
    }
  }
  const Times* find(const YAML::Node& row) const {
    const auto found = all_.find(fmt::format("{} {} {}", row["model"].as<std::string>(),
                                             row["pp"].as<int>(), row["mbs"].as<int>()));
    if (found == all_.end()) return nullptr;
    const int wanted = row["grad_acc"].as<int>();
    const Times* nearest = nullptr;
    int distance = INT_MAX;
    for (const auto& [micro_batches, times] : found->second) {
      if (std::abs(micro_batches - wanted) >= distance) continue;
      distance = std::abs(micro_batches - wanted);
      nearest = &times;
    }
    return nearest;
  }

 private:
  std::map<std::string, std::map<int, Times>> all_;  // [key][micro-batches]
};

}  // namespace

TEST_CASE("zero bubble: throughput of five schedules from profiled pass times") {
  const char* named = std::getenv("MAQUETTE_DATA");
  const std::filesystem::path data =
      named ? std::filesystem::path(named) : repository().parent_path() / "shared/data";
  const auto file = data / "measured/check/zero_bubble.yaml";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: no measurements at " << file.string() << " (set MAQUETTE_DATA)");
    return;
  }
  const std::map<std::string, std::string> schedules = {{"1F1B", "1f1b"},
                                                        {"1F1B-I", "interleaved-1f1b"},
                                                        {"ZB-1p", "zb-1p"},
                                                        {"ZB-2p", "zb-2p"},
                                                        {"ZB-V", "zb-v"}};
  const YAML::Node content = YAML::LoadFile(file.string());
  const Profiled profiled(content["profiled_pass_times_ms_table9"]);
  std::map<std::string, std::pair<int, double>> by_schedule;  // (runs, sum of absolute errors)
  std::map<std::string, std::vector<std::pair<double, double>>> alike;  // (measured, simulated)
  double sum = 0;
  int count = 0;
  for (const YAML::Node& row : content["rows"]) {
    const Times* times = profiled.find(row);
    const auto schedule = schedules.find(row["schedule"].as<std::string>());
    if (!times || schedule == schedules.end()) continue;
    const double measured = row["derived"]["iter_time_s"].as<double>();
    const double simulated =
        simulated_seconds({schedule->second, row["pp"].as<int>(), row["vp"].as<int>(),
                           row["grad_acc"].as<int>(), *times});
    alike[fmt::format("{} {} {}", row["model"].as<std::string>(), row["pp"].as<int>(),
                      row["gbs"].as<int>())]
        .emplace_back(measured, simulated);
    const double error = std::abs(measured / simulated - 1);
    auto& [runs, errors] = by_schedule[schedule->first];
    ++runs;
    errors += error;
    sum += error;
    ++count;
  }
  for (const auto& [name, errors] : by_schedule) {
    MESSAGE(fmt::format("{}: {} runs, mean error {:.1f} %", name, errors.first,
                        100 * errors.second / errors.first));
  }
  MESSAGE(fmt::format("{} runs, mean error {:.2f} %", count, 100 * sum / count));
  int pairs = 0, right = 0;
  for (const auto& [key, runs] : alike) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (runs[i].first == runs[j].first) continue;
        ++pairs;
        if ((runs[i].first < runs[j].first) == (runs[i].second < runs[j].second)) ++right;
      }
    }
  }
  MESSAGE(fmt::format("order right in {} of {} pairs", right, pairs));
  REQUIRE(count > 50);
  CHECK(sum / count <= 0.04);
  CHECK(right >= 0.9 * pairs);
}
