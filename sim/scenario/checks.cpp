// Cross-checks of plan, dnn and cluster.
#include "sim/scenario/checks.h"

#include <algorithm>
#include <set>

#include "calibrate/profile/names.h"
#include "sim/plan/schedule.h"
#include "topology/cluster.h"

namespace sim::scenario {
namespace {

using topology::Finding;

// What the other modules count in 32 bits.
constexpr std::int64_t devices_max = 500'000'000;

std::string path_of(const Finding& finding) {
  switch (finding.subject) {
    case Finding::Subject::host_group:
      return fmt::format("cluster.hosts.{}", finding.index);
    case Finding::Subject::fabric:
      return "cluster.fabric";
    case Finding::Subject::graph_link:
      return fmt::format("cluster.links.{}", finding.index);
    case Finding::Subject::graph_device:
      return fmt::format("cluster.devices.{}", finding.index);
    case Finding::Subject::cluster:
      return "cluster";
  }
  return "cluster";
}

// Adds the second place of a problem, where the file has one.
std::string also(const Reader& reader, const plan::Problem& problem) {
  if (problem.other_field.empty() || !reader.is_given(problem.other_field)) return problem.why;
  const Place place = reader.place(problem.other_field);
  return fmt::format("{}{}see also {}:{}:{}", problem.why, problem.why.empty() ? "" : "; ",
                     place.file, place.line, place.column);
}

// Why the degree that the devices allow is none; empty: it was set.
void derive_data_degree(Reader& reader, Draft& draft, std::int64_t devices) {
  plan::Plan& plan = draft.scenario.plan;
  if (!draft.replicas.empty()) {
    if (!derive_replicas(reader, draft, devices)) reader.mark_bad("plan");
    return;
  }
  const std::int64_t others = std::int64_t{plan.tensor} * plan.context * plan.stages;
  const std::string context = plan.context > 1 ? fmt::format(" x context {}", plan.context) : "";
  const std::string product =
      fmt::format("tensor {}{} x pipeline {} = {}", plan.tensor, context, plan.stages, others);
  if (draft.data_degree) {
    const std::int64_t ranks = others * *draft.data_degree;
    if (ranks <= devices_max) {
      plan.data = *draft.data_degree;
      return;
    }
    reader.error("plan.data.degree", reader.place("plan.data.degree"),
                 fmt::format("{} x data {} = {} ranks, but the cluster has {} devices", product,
                             *draft.data_degree, ranks, devices));
    return;
  }
  if (others <= devices && devices % others == 0) {
    plan.data = static_cast<int>(devices / others);
    return;
  }
  reader.error(
      "plan", reader.place("plan"),
      others > devices
          ? fmt::format("{} ranks, but the cluster has {} devices", product, devices)
          : fmt::format("{} ranks do not divide the cluster's {} devices", product, devices),
      fmt::format("each data-parallel replica takes tensor{} x pipeline devices",
                  plan.context > 1 ? " x context" : ""),
      others > devices ? "" : "choose degrees that divide, or write plan.data.degree");
}

void derive_schedule(Reader& reader, Draft& draft) {
  plan::Plan& plan = draft.scenario.plan;
  plan.virtual_stages = plan::traits(plan.schedule).virtual_stages;
  if (plan.schedule == plan::ScheduleKind::table) {
    for (const auto& row : plan.table.passes) {
      for (const plan::Pass& pass : row) {
        plan.virtual_stages = std::max(plan.virtual_stages, pass.virtual_stage + 1);
      }
    }
  }
  plan.virtual_stages = draft.virtual_stages.value_or(std::max(plan.virtual_stages, 1));
  if (!draft.virtual_stages) {
    reader.add_derived("plan.pipeline.virtual_stages", fmt::format("{}", plan.virtual_stages));
  }
  if (!plan.flush) {
    reader.add_derived("plan.pipeline.flush", plan::flushes(plan) ? "true" : "false");
  }
}

// The shapes that matter to a plan when only times are given: the layers.
dnn::Transformer stand_in(const TimedDnn& timed, const plan::Plan& plan) {
  dnn::Transformer dnn;
  dnn.layers = timed.layers;
  dnn.hidden = dnn.ffn = dnn.vocabulary = dnn.head_size = plan.tensor;
  dnn.heads = dnn.kv_heads = plan.tensor;
  return dnn;
}

// A timed dnn cannot be cut further.
bool check_timed_plan(Reader& reader, const plan::Plan& plan) {
  bool is_fine = true;
  for (const auto& [path, degree] : {std::pair("plan.tensor", plan.tensor),
                                     {"plan.context", plan.context},
                                     {"plan.expert.degree", plan.expert},
                                     {"plan.expert.tensor", plan.expert_tensor}}) {
    if (degree == 1) continue;
    const std::string key = std::string(path).substr(std::string(path).rfind('.') + 1);
    const std::string kind = std::string(path).substr(5, std::string(path).find('.', 5) - 5);
    reader.error(path, reader.place(path), fmt::format("{} {} with a timed dnn", path, degree),
                 fmt::format("its times are those of one rank, and hold no {}-parallel "
                             "communication",
                             kind),
                 fmt::format("write {}: 1", key));
    is_fine = false;
  }
  const auto refuse = [&](const std::string& path) {
    reader.error(path, reader.place(path), "recomputation with a timed dnn",
                 "its times do not say what of them would run again", "put it into backward");
    is_fine = false;
  };
  if (plan.recompute != dnn::Recompute::none) refuse("plan.recompute");
  for (std::size_t i = 0; i < plan.cuts.size(); ++i) {
    if (plan.cuts[i].recompute) refuse(fmt::format("plan.layers.{}.recompute", i));
  }
  return is_fine;
}

void check_packing(Reader& reader, const Scenario& scenario) {
  if (!scenario.plan.packing) return;
  const auto refuse = [&](const std::string& message, const std::string& why,
                          const std::string& hint) {
    reader.error("training.packing", reader.place("training.packing"), message, why, hint);
  };
  if (std::holds_alternative<TimedDnn>(scenario.dnn)) {
    return refuse("packed documents with a timed dnn",
                  "its times do not say what of them is attention",
                  "give the dnn by its shapes, or its times without packing");
  }
  if (scenario.stack.attention != dnn::SoftwareStack::Attention::unfused) return;
  refuse("packed documents with attention that is not fused",
         "it computes the scores of the whole sequence, and masks them, however long documents are",
         "choose a stack with fused attention: stack: {base: ..., attention: flash2}");
}

void check_precision(Reader& reader, const Draft& draft) {
  const std::string& name = draft.scenario.training.precision;
  const auto precision = calibrate::profile::precision_of(name);
  for (const auto& [type, device] : draft.scenario.device_types) {
    if (precision && device.peak.contains(*precision)) continue;
    std::vector<std::string> known;
    for (const auto& [one, speed] : device.peak) known.push_back(calibrate::profile::name(one));
    reader.error("training.precision", reader.place("training.precision"),
                 fmt::format("device '{}' has no peak for precision {}", type, name),
                 known.empty() ? "" : fmt::format("it has {}", fmt::join(known, ", ")));
  }
}

void check_slow_ranks(Reader& reader, const Scenario& scenario) {
  std::set<int> held;
  for (const plan::Replica& replica : scenario.plan.replicas) {
    held.insert(replica.devices.begin(), replica.devices.end());
  }
  for (const Straggler& straggler : scenario.stragglers) {
    if (!straggler.rank) continue;
    const int rank = *straggler.rank, ranks = scenario.plan.ranks();
    if (held.empty() ? rank < ranks : held.contains(rank)) continue;
    reader.error("stragglers", straggler.place,
                 held.empty()
                     ? fmt::format("no rank {}: the plan has {} ranks, counted from 0", rank, ranks)
                     : fmt::format("no rank {}: no replica runs on device {}", rank, rank));
  }
}

}  // namespace

std::int64_t usable_devices(const topology::Description& cluster) {
  if (cluster.graph) return static_cast<std::int64_t>(cluster.graph->devices.size());
  std::int64_t devices = 0, spares = cluster.spares;
  for (auto group = cluster.hosts.rbegin(); group != cluster.hosts.rend(); ++group) {
    const std::int64_t idle = std::min<std::int64_t>(spares, group->count);
    spares -= idle;
    devices += (group->count - idle) * group->type.devices;
  }
  return devices;
}

void check_cluster(Reader& reader, const Draft& draft) {
  const topology::Description& cluster = draft.scenario.cluster;
  std::int64_t hosts = 0, devices = 0;
  for (const topology::HostGroup& group : cluster.hosts) {
    hosts += group.count;
    devices += std::int64_t{group.count} * group.type.devices;
  }
  if (devices > devices_max) {
    reader.error(
        "cluster", reader.place("cluster.hosts"),
        fmt::format("{} devices are more than the {} a cluster can have", devices, devices_max));
    return;
  }
  if (!cluster.hosts.empty() && cluster.spares >= hosts) {
    reader.error("cluster.spares", reader.place("cluster.spares"),
                 fmt::format("{} spares leave none of {} hosts to work", cluster.spares, hosts));
    return;
  }
  for (const Finding& finding : topology::Cluster::findings(cluster)) {
    const std::string path = path_of(finding);
    if (finding.is_error) {
      reader.error(path, reader.place(path), finding.message, finding.why, finding.hint);
    } else {
      reader.warning(reader.place(path), finding.message, finding.why, finding.hint);
    }
  }
}

void check_plan(Reader& reader, Draft& draft) {
  Scenario& scenario = draft.scenario;
  const auto* timed = std::get_if<TimedDnn>(&scenario.dnn);
  if (timed == nullptr && scenario.plan.sequence == 0) {
    reader.error("training.sequence", reader.place("training"),
                 "missing key 'sequence' in training", "", "sequence: tokens in one sequence");
    return;
  }
  if (timed != nullptr && scenario.plan.sequence == 0) scenario.plan.sequence = 1;
  const bool are_alike = draft.replicas.empty();
  if (timed != nullptr && are_alike && !check_timed_plan(reader, scenario.plan)) return;
  if (timed != nullptr && (timed->backward_weight > timed->backward ||
                           timed->head_backward_weight > timed->head_backward)) {
    reader.error("dnn.timed.backward_weight", reader.place("dnn.timed.backward_weight"),
                 "the gradients of the weights take longer than the whole backward pass",
                 "backward is of both gradients together");
    return;
  }
  if (timed == nullptr) check_precision(reader, draft);
  check_packing(reader, scenario);
  const std::int64_t devices = usable_devices(scenario.cluster);
  const std::size_t before = reader.error_count();
  derive_data_degree(reader, draft, devices);
  if (reader.error_count() > before) return;
  if (timed != nullptr && !are_alike && !check_timed_plan(reader, scenario.plan)) return;
  if (!draft.data_degree && are_alike) {
    reader.add_derived("plan.data.degree", fmt::format("{}", scenario.plan.data));
  }
  derive_schedule(reader, draft);
  const plan::ScheduleTraits& kind = plan::traits(scenario.plan.schedule);
  if (timed != nullptr && plan::splits_backward(scenario.plan) &&
      timed->backward_weight.value() == 0) {
    reader.error("dnn.timed", reader.place("dnn.timed"),
                 fmt::format("no backward_weight, which the schedule {} needs", kind.name),
                 "it runs the gradients of the weights apart from those of the inputs",
                 "backward_weight: what they take of the backward pass");
  }
  const dnn::Transformer dnn =
      timed != nullptr ? stand_in(*timed, scenario.plan) : std::get<dnn::Transformer>(scenario.dnn);
  for (const plan::Problem& problem :
       plan::problems(scenario.plan, dnn, static_cast<int>(devices))) {
    reader.error(problem.field, reader.place(problem.field), problem.message, also(reader, problem),
                 problem.hint);
  }
  check_offload(reader, draft);
  check_slow_ranks(reader, scenario);
}

}  // namespace sim::scenario
