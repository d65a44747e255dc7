// maquette catalog: what can be named in a scenario.
#include "sim/scenario/catalog.h"

#include <fmt/format.h>

#include "sim/command/options.h"
#include "sim/plan/schedule.h"
#include "sim/scenario/study.h"

namespace sim::command {

namespace po = boost::program_options;

int list_catalog(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  const auto values = parse({"maquette catalog [KIND]",
                             "Lists what a scenario can name: devices, hosts, clusters, dnns, "
                             "stacks. KIND 'schema' prints the JSON Schema of the scenario format, "
                             "'study-schema' that of studies.",
                             "maquette catalog hosts", "kind", 0, 1},
                            options, arguments);
  if (!values) return exit_fine;
  const std::vector<std::string> kinds = {"devices", "hosts", "clusters", "dnns", "stacks"};
  std::vector<std::string> wanted = kinds;
  if (values->count("kind")) {
    const std::string kind = (*values)["kind"].as<std::vector<std::string>>().front();
    if (kind == "schema") {
      fmt::print("{}\n", scenario::json_schema());
      return exit_fine;
    }
    if (kind == "study-schema") {
      fmt::print("{}\n", scenario::study_schema());
      return exit_fine;
    }
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      throw UsageError{fmt::format("unknown kind '{}'", kind),
                       fmt::format("one of {}, schema, study-schema", fmt::join(kinds, ", "))};
    }
    wanted = {kind};
  }
  for (const std::string& kind : wanted) {
    fmt::print("{}\n", kind);
    for (const std::string& name : scenario::catalog_names(catalog(), kind)) {
      fmt::print("  {}\n", name);
    }
  }
  if (wanted.size() > 1) {
    fmt::print("schedules\n");
    for (const plan::ScheduleTraits& one : plan::all_schedules()) {
      if (one.kind != plan::ScheduleKind::table) fmt::print("  {}\n", one.name);
    }
    fmt::print(
        "collectives\n  all-gather\n  all-reduce\n  all-to-all\n  broadcast\n"
        "  reduce-scatter\n  send-receive\n");
  }
  return exit_fine;
}

}  // namespace sim::command
