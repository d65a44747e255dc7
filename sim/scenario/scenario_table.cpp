// The top level of the format.
#include "sim/scenario/resolve.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

Kind<int> version_kind() {
  return {[] { return R"({"const":1})"; },
          [](Reader& reader, const Value& value, const std::string& path) -> std::optional<int> {
            if (value.kind == Value::Kind::text && value.text == "1") return 1;
            reader.error(
                path, value.place(),
                fmt::format("{} for {} is no version this program reads", described(value), path),
                "", "write maquette: 1");
            return std::nullopt;
          }};
}

}  // namespace

Section<Draft> scenario_table() {
  const auto same = [](Draft& draft) -> Draft& { return draft; };
  Section<Draft> table("a scenario of Maquette");
  table
      .required(
          "maquette", version_kind(), [](Draft&, int) {}, "1, the version of the format")
      .optional(
          "name", text(),
          [](Draft& draft, std::string name) { draft.scenario.name = std::move(name); },
          "for people; that of the file unless written")
      .required(
          "cluster", catalog_kind("clusters", "cluster", cluster_table(), Naming::text_or_name),
          [](Draft& draft, ClusterDraft cluster) {
            draft.scenario.cluster = std::move(cluster.description);
            draft.scenario.device_types = std::move(cluster.device_types);
          },
          "the machines")
      .required(
          "dnn", dnn_kind(), [](Draft& draft, AnyDnn dnn) { draft.scenario.dnn = std::move(dnn); },
          "what is trained")
      .defaulted(
          "stack", catalog_kind("stacks", "stack", stack_table(), Naming::text),
          [](Draft& draft, dnn::SoftwareStack stack) { draft.scenario.stack = std::move(stack); },
          "megatron-core", "the software")
      .group("training", training_table(), same)
      .group("plan", plan_table(), same)
      .group("placement", placement_table(), same)
      .optional(
          "operations", operations_kind(),
          [](Draft& draft, std::vector<HandOperation> operations) {
            draft.scenario.operations = std::move(operations);
          },
          "a program written by hand, instead of dnn, stack, training, plan, placement")
      .optional(
          "stragglers", list(straggler_table().kind()),
          [](Draft& draft, std::vector<Straggler> stragglers) {
            for (std::size_t i = 0; i < stragglers.size(); ++i) {
              stragglers[i].number = static_cast<int>(i);
            }
            draft.scenario.stragglers = std::move(stragglers);
          },
          "parts that are slower than normal")
      .optional(
          "failures", list(failure_table().kind()),
          [](Draft& draft, std::vector<FailureEntry> failures) {
            draft.scenario.job_time.failures = std::move(failures);
          },
          "what interrupts a job of weeks; with checkpoint and recovery")
      .optional(
          "checkpoint", checkpoint_table().kind(),
          [](Draft& draft, CheckpointEntry checkpoint) {
            draft.scenario.job_time.checkpoint = checkpoint;
          },
          "how its state is saved")
      .optional(
          "recovery", recovery_table().kind(),
          [](Draft& draft, RecoveryEntry recovery) {
            draft.scenario.job_time.recovery = std::move(recovery);
          },
          "what happens after a failure")
      .group("run", run_table(), [](Draft& draft) -> Scenario& { return draft.scenario; })
      .optional(
          "expect", expectations_kind(),
          [](Draft& draft, std::vector<Expectation> expect) {
            draft.scenario.expect = std::move(expect);
          },
          "what must come out, by quantity")
      .unsupported("jobs")
      .unsupported("study", "write one scenario a file");
  return table;
}

}  // namespace sim::scenario
