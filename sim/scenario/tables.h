// The format: one table a section. Reading, unknown-key messages, defaults and the JSON Schema all
// come from here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/profile/device_type.h"
#include "sim/plan/schedule.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/section.h"

namespace sim::scenario {

using calibrate::profile::DeviceType;

// A host type with the device type it names.
struct HostDraft {
  topology::HostType type;
  DeviceType device;
};
struct ClusterDraft {
  topology::Description description;
  std::map<std::string, DeviceType> device_types;
};
using AnyDnn = std::variant<std::monostate, dnn::Transformer, TimedDnn>;

// An entry of plan.replicas.
struct ReplicaEntry {
  int count = 1;
  std::vector<int> tensor = {1}, layers;  // one degree, or [stage]; [stage]
  int micro_batches = 1;
  std::vector<std::string> devices;
};

// What is read of a scenario before it is checked as a whole.
struct Draft {
  Scenario scenario;
  std::optional<int> data_degree, virtual_stages;
  std::vector<ReplicaEntry> replicas;
};
struct ScheduleChoice {
  plan::ScheduleKind kind = plan::ScheduleKind::one_f_one_b;
  plan::ScheduleTable table;
};

Section<DeviceType> device_table();
Section<HostDraft> host_table();
Section<ClusterDraft> cluster_table();
Section<dnn::Transformer> transformer_table();
Section<TimedDnn> timed_table();
Section<dnn::SoftwareStack> stack_table();
Section<Draft> training_table();
Section<plan::Packing> packing_table();
Section<Draft> plan_table();
Section<ReplicaEntry> replica_table();
Section<plan::LayerCut> layer_table();
Kind<plan::Sharding> sharding_kind();
Kind<dnn::Recompute> recompute_kind();
Section<plan::Offload> offload_table();
Section<Draft> placement_table();
Section<Scenario> run_table();
Section<Straggler> straggler_table();
Section<FailureEntry> failure_table();
Section<CheckpointEntry> checkpoint_table();
Section<RecoveryEntry> recovery_table();
Section<Histories> histories_table();
Kind<Seconds> job_duration();
Kind<ScheduleChoice> schedule_kind();
Kind<std::vector<HandOperation>> operations_kind();
Kind<std::vector<Expectation>> expectations_kind();
// By name or file, of Hugging Face, by times, or written out.
Kind<AnyDnn> dnn_kind();
Section<Draft> scenario_table();

}  // namespace sim::scenario
