// maquette check: everything that can be said of a scenario without running it.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/units.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/plan/memory.h"
#include "sim/plan/rank_grid.h"
#include "sim/training/host_memory.h"

namespace sim::command {

namespace po = boost::program_options;

namespace {

void print_group(const char* name, int count, const std::vector<int>& first) {
  constexpr std::size_t shown_max = 16;
  std::vector<std::string> shown;
  for (const int rank : first) {
    if (shown.size() == shown_max - 1 && first.size() > shown_max) {
      shown.emplace_back("...");
      shown.push_back(std::to_string(first.back()));
      break;
    }
    shown.push_back(std::to_string(rank));
  }
  fmt::print("  {:13} {} of {} ranks, the first: {}\n", name, count, first.size(),
             fmt::join(shown, " "));
}

// Those that are cut alike in one line.
void print_replicas(const plan::Plan& plan) {
  const std::vector<int> kinds = plan::kinds_of_replicas(plan);
  fmt::print("\nreplicas\n");
  for (const int first : plan::first_of_kinds(plan)) {
    const auto index = static_cast<std::size_t>(first);
    const plan::Replica& replica = plan.replicas[index];
    fmt::print("  {} like replica {}: layers {}, tensor {}, {} micro-batches; its ranks: {}\n",
               std::count(kinds.begin(), kinds.end(), kinds[index]), first,
               fmt::join(replica.layers, " "), fmt::join(replica.tensor, " "),
               replica.micro_batches, fmt::join(replica.devices, " "));
  }
}

void print_groups(const plan::Plan& plan, bool is_moe) {
  if (!plan.replicas.empty()) return print_replicas(plan);
  const plan::RankGrid grid(plan);
  fmt::print("\nrank groups\n");
  for (const auto dimension : {plan::Dimension::tensor, plan::Dimension::context,
                               plan::Dimension::data, plan::Dimension::pipeline}) {
    print_group(plan::name(dimension), grid.ranks() / grid.extent(dimension),
                grid.group(dimension, 0));
  }
  if (!is_moe) return;
  for (const auto& [name, dimension] : {std::pair("expert tensor", plan::ExpertDimension::tensor),
                                        {"expert", plan::ExpertDimension::expert},
                                        {"expert data", plan::ExpertDimension::data}}) {
    print_group(name, grid.ranks() / grid.extent(dimension), grid.group(dimension, 0));
  }
}

void print_packing(const plan::Plan& plan) {
  const plan::PackedBatch batch = plan::packed_batch(plan);
  const double tokens = static_cast<double>(plan.sequence * plan.micro_batch);
  fmt::print("\npacked documents\n");
  fmt::print(
      "  squared lengths of a micro-batch over its {} tokens: mean {:.0f}, least {:.0f}, most "
      "{:.0f}\n",
      tokens, batch.mean / tokens, batch.sums.front() / tokens, batch.sums.back() / tokens);
}

bool print_stage(const std::string& name, const plan::MemoryBreakdown& memory,
                 const training::Job& job, int rank) {
  const Bytes capacity = training::profile_of(job, rank).device().memory;
  const bool fits = memory.peak() <= capacity;
  fmt::print(
      "  {} {} of {} ({}): weights {}, gradients {}, optimizer {}, activations {}, other {}{}\n",
      name, to_text(memory.peak()), to_text(capacity), job.cluster->device(rank).device_type,
      to_text(memory.weights), to_text(memory.gradients), to_text(memory.optimizer),
      to_text(memory.activations), to_text(memory.other), fits ? "" : "  DOES NOT FIT");
  return fits;
}

bool print_memory(const scenario::Scenario& scenario, const training::Job& job) {
  const auto* dnn = std::get_if<dnn::Transformer>(&scenario.dnn);
  if (!dnn) return true;
  bool fits = true;
  const plan::RankGrid grid(scenario.plan);
  fmt::print("\nmemory of one rank of each stage\n");
  const auto memories = plan::memory_of_stages(scenario.plan, *dnn, scenario.stack);
  std::size_t next = 0;
  for (const int replica : plan::first_of_kinds(scenario.plan)) {
    for (int stage = 0; stage < plan::stages_of(scenario.plan, replica); ++stage) {
      const int rank = grid.rank({0, 0, replica, stage});
      const std::string name = scenario.plan.replicas.empty()
                                   ? fmt::format("stage {:<3}", stage)
                                   : fmt::format("replica {}, stage {:<3}", replica, stage);
      fits = print_stage(name, memories[next++], job, rank) && fits;
    }
  }
  if (const auto host = training::fullest_host(job, memories)) {
    fmt::print("\nmemory of the fullest host\n");
    fmt::print(
        "  {:<9} {} of {}, {} ranks: optimizer {}, gradients {}, parameters {}, activations {}{}\n",
        host->host, to_text(host->used.total()), to_text(host->capacity), host->ranks,
        to_text(host->used.optimizer), to_text(host->used.gradients),
        to_text(host->used.parameters), to_text(host->used.activations),
        host->fits() ? "" : "  DOES NOT FIT");
    fits = fits && host->fits();
  }
  return fits;
}

}  // namespace

int check(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  add_common(options);
  const auto values = parse({"maquette check SCENARIO [options]",
                             "Reads a scenario, prints the defaults it took, its rank groups and "
                             "its memory; runs nothing.",
                             "maquette check scenarios/quickstart.yaml", "scenario"},
                            options, arguments);
  if (!values) return exit_fine;
  const Common common = read_common(*values);
  const std::filesystem::path file = (*values)["scenario"].as<std::vector<std::string>>().front();
  Diagnostics diagnostics;
  const auto scenario = scenario::read_scenario(file, common.overrides, catalog(), diagnostics);
  std::optional<LoadedJob> loaded;
  if (scenario) loaded = load(*scenario, diagnostics);
  if (report(diagnostics, common) || !loaded) return exit_wrong_input;
  if (common.is_json) {
    fmt::print("{{\"errors\": []}}\n");
    return exit_fine;
  }
  fmt::print("{}\n  {} devices, {} links\n", scenario->name, loaded->cluster->device_count(),
             loaded->cluster->link_count());
  fmt::print("\ndefaults taken\n");
  for (const std::string& line : scenario->defaults) fmt::print("  {}\n", line);
  if (!scenario->operations.empty()) return exit_fine;
  const auto* dnn = std::get_if<dnn::Transformer>(&scenario->dnn);
  print_groups(scenario->plan, dnn && dnn->is_moe());
  if (scenario->plan.packing) print_packing(scenario->plan);
  return print_memory(*scenario, loaded->job) ? exit_fine : exit_cannot_proceed;
}

}  // namespace sim::command
