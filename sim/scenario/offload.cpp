// The format of offloading, and what it needs of hosts.
#include "sim/scenario/checks.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {

namespace {

using topology::HostType;

// A share, or all of it.
Kind<double> on_host() {
  const Kind<double> part = share();
  return {
      [part] { return fmt::format("{{\"anyOf\":[{{\"const\":\"host\"}},{}]}}", part.schema()); },
      [part](Reader& reader, const Value& value, const std::string& path) -> std::optional<double> {
        if (value.kind == Value::Kind::text && value.text == "host") return 1;
        return part.read(reader, value, path);
      }};
}

struct Need {
  bool is_met;
  const char *key, *what;
};

// One message a host group: what its type does not state.
void check_hosts(Reader& reader, const topology::HostGroup& group, std::size_t index,
                 const plan::Offload& offload) {
  const HostType& type = group.type;
  const Need needs[] = {
      {type.pcie.value() > 0, "pcie", "copies go over it"},
      {type.memory.value() > 0, "memory", "it must hold what is offloaded"},
      {type.memory_rate.value() > 0, "memory_rate", "copies of all its devices share it"},
      {offload.optimizer == 0 || type.optimizer_rate.value() > 0, "optimizer_rate",
       "its CPU takes the optimizer's step"}};
  for (const Need& need : needs) {
    if (need.is_met) continue;
    const char* field =
        offload.optimizer > 0 ? "plan.offload.optimizer" : "plan.offload.activations";
    const Place place = reader.place(fmt::format("cluster.hosts.{}", index));
    reader.error(
        field, reader.place(field),
        fmt::format("hosts '{}' of type '{}' state no {}", group.name, type.name, need.key),
        fmt::format("{}; see {}:{}:{}", need.what, place.file, place.line, place.column),
        fmt::format("write the type out with its {}, or choose another", need.key));
  }
}

}  // namespace

Section<plan::Offload> offload_table() {
  using plan::Offload;
  Section<Offload> table("what devices keep in the memory of their hosts");
  table
      .defaulted("optimizer", on_host(), &Offload::optimizer, "0 %",
                 "states of the optimizer, whose step the CPU then takes: host, or a share")
      .defaulted("activations", on_host(), &Offload::activations, "0 %",
                 "activations of all layers of a virtual stage (host), or of a share of them, the "
                 "first ones, rounded up")
      .defaulted("buffers", small_count(1, 1000), &Offload::buffers, "2",
                 "layers whose activations may be on their way at once in each direction: the one "
                 "that runs, and those beside it");
  return table;
}

void check_offload(Reader& reader, Draft& draft) {
  Scenario& scenario = draft.scenario;
  const plan::Offload& offload = scenario.plan.offload;
  if (!offload.is_on()) return;
  scenario.cluster.reaches_host_memory = true;
  if (scenario.cluster.graph) {
    reader.error("plan.offload", reader.place("plan.offload"),
                 "offloading in a cluster of single devices and links",
                 "the memory of hosts is not part of such a graph", "write cluster.hosts");
    return;
  }
  // With the links to host memory there may be more than can be counted.
  for (const topology::Finding& finding : topology::Cluster::findings(scenario.cluster)) {
    if (!finding.is_error) continue;
    reader.error("cluster", reader.place("cluster"), finding.message, finding.why, finding.hint);
  }
  for (std::size_t i = 0; i < scenario.cluster.hosts.size(); ++i) {
    check_hosts(reader, scenario.cluster.hosts[i], i, offload);
  }
  const auto* timed = std::get_if<TimedDnn>(&scenario.dnn);
  const auto need = [&](const char* field, const char* key) {
    reader.error(field, reader.place(field),
                 fmt::format("{} of a timed dnn without {}", field, key), "",
                 fmt::format("write dnn.timed.{}", key));
  };
  if (timed && offload.optimizer > 0 && timed->parameters.value() == 0) {
    need("plan.offload.optimizer", "parameters");
  }
  if (timed && offload.activations > 0 && timed->activations.value() == 0) {
    need("plan.offload.activations", "activations");
  }
}

}  // namespace sim::scenario
