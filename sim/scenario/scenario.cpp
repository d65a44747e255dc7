// Reading a scenario: file, options, sections, then what must hold between them.
#include "sim/scenario/scenario.h"

#include <set>

#include "sim/scenario/checks.h"
#include "sim/scenario/document.h"
#include "sim/scenario/override.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

const std::set<std::string>& sections_of_a_dnn() {
  static const std::set<std::string> sections = {"dnn", "stack", "training", "plan", "placement"};
  return sections;
}

bool is_a_map(const Value& root, const std::string& name, Diagnostics& diagnostics) {
  if (root.kind == Value::Kind::map) return true;
  const std::string hint = "a scenario begins with 'maquette: 1'";
  if (root.kind == Value::Kind::nothing) {
    diagnostics.error({name, 0, 0, 1}, "the file holds nothing", "", hint);
  } else {
    diagnostics.error(
        root.place(),
        fmt::format("{} where the sections of a scenario must stand", described(root)), "", hint);
  }
  return false;
}

void check_one_program(Reader& reader, const Value& root) {
  for (const Entry& entry : root.entries) {
    if (!sections_of_a_dnn().contains(entry.key)) continue;
    const Place operations = reader.place("operations");
    reader.error(entry.key, entry.key_place(), fmt::format("'{}' beside 'operations'", entry.key),
                 fmt::format("a program written by hand ({}:{}:{}) replaces dnn, stack, training, "
                             "plan and placement",
                             operations.file, operations.line, operations.column),
                 "remove one of them");
  }
  for (const char* section : {"failures", "checkpoint", "recovery"}) {
    const Value* value = root.find(section);
    if (!value) continue;
    reader.error(section, value->name_place(), fmt::format("'{}' beside 'operations'", section),
                 "only a job with a dnn is trained for weeks", "remove one of them");
  }
  const Value* run = root.find("run");
  const Value* jitter = run ? run->find("jitter") : nullptr;
  if (!jitter) return;
  reader.error("run.jitter", jitter->name_place(), "run.jitter beside 'operations'",
               "only the operators of a dnn have draws", "write the duration of each operation");
}

void check(Reader& reader, const Value& root, Draft& draft) {
  if (reader.is_clean("cluster")) check_cluster(reader, draft);
  if (root.find("operations") != nullptr) {
    check_one_program(reader, root);
    if (reader.is_clean("operations")) check_operations(reader, draft);
    return;
  }
  for (const char* section : {"dnn", "training", "plan", "placement"}) {
    if (!reader.is_clean(section)) return;
  }
  if (reader.is_clean("cluster")) check_plan(reader, draft);
  for (const char* section : {"failures", "checkpoint", "recovery", "run"}) {
    if (!reader.is_clean(section)) return;
  }
  check_job_time(reader, root, draft);
}

std::optional<Scenario> read_root(std::optional<Value> root, const std::string& name,
                                  const std::filesystem::path& file,
                                  const std::vector<Override>& overrides,
                                  const std::filesystem::path& catalog, Diagnostics& diagnostics) {
  if (!root || !is_a_map(*root, name, diagnostics)) return std::nullopt;
  root->spot = root->named_at = {0, 0, 1};
  Reader reader(diagnostics, catalog, file.parent_path());
  reader.list_defaults_of(name);
  for (const Override& change : overrides) {
    reader.list_defaults_of(option_text(change));
    apply(change, *root, diagnostics);
  }
  Draft draft;
  reader.add_place("", {name, 0, 0, 1});
  static const Section<Draft> table = scenario_table();
  const bool is_by_hand = root->find("operations") != nullptr;
  table.read(reader, *root, "", draft, is_by_hand ? sections_of_a_dnn() : std::set<std::string>{});
  check(reader, *root, draft);
  if (diagnostics.has_errors()) return std::nullopt;
  Scenario& scenario = draft.scenario;
  scenario.file = file;
  if (scenario.name.empty()) scenario.name = file.stem().string();
  scenario.defaults = reader.defaults();
  scenario.places = reader.places();
  return std::move(scenario);
}

}  // namespace

Place Scenario::place(const std::string& path) const { return nearest_place(places, path); }

std::optional<Scenario> read_scenario(const std::filesystem::path& file,
                                      const std::vector<Override>& overrides,
                                      const std::filesystem::path& catalog,
                                      Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  return read_root(read_document(file, {name, 0, 0, 1}, diagnostics), name, file, overrides,
                   catalog, diagnostics);
}

std::optional<Scenario> read_scenario_text(const std::string& name, const std::string& text,
                                           const std::vector<Override>& overrides,
                                           const std::filesystem::path& catalog,
                                           Diagnostics& diagnostics) {
  diagnostics.add_source(name, text);
  return read_root(parse_document(name, text, diagnostics), name, name, overrides, catalog,
                   diagnostics);
}

std::string json_schema() {
  std::string schema = scenario_table().schema();
  const std::string head =
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Maquette "
      "scenario\",";
  return json_indented(head + schema.substr(1));
}

}  // namespace sim::scenario
