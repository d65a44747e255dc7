// The format of plan.replicas: replicas that are not all cut alike.
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

// One number, or one for each stage.
Kind<std::vector<int>> degrees_kind() {
  const Kind<int> one = small_count(1);
  const Kind<std::vector<int>> many = list(one, 1);
  return {[one, many] { return fmt::format("{{\"anyOf\":[{},{}]}}", one.schema(), many.schema()); },
          [one, many](Reader& reader, const Value& value,
                      const std::string& path) -> std::optional<std::vector<int>> {
            if (value.kind == Value::Kind::list) return many.read(reader, value, path);
            const auto degree = one.read(reader, value, path);
            if (!degree) return std::nullopt;
            return std::vector<int>{*degree};
          }};
}

}  // namespace

Section<ReplicaEntry> replica_table() {
  Section<ReplicaEntry> table("replicas with a cut of their own");
  table.defaulted("count", small_count(1), &ReplicaEntry::count, "1", "replicas like this one")
      .defaulted("tensor", degrees_kind(), &ReplicaEntry::tensor, "1",
                 "ranks that share every layer: of all stages, or a list with one number for each")
      .required("layers", list(small_count(0), 1), &ReplicaEntry::layers,
                "of each stage of the pipeline, which has as many stages")
      .required("micro_batches", small_count(1), &ReplicaEntry::micro_batches,
                "of each of these replicas, per iteration")
      .optional("devices", list(text(), 1), &ReplicaEntry::devices,
                "names or patterns such as h0.gpu[0..3], stage after stage; those that no other "
                "entry names, in order, unless written. Devices that none names are idle");
  return table;
}

}  // namespace sim::scenario
