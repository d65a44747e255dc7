// Streams of offloading: the two copy engines of a lane's devices, and its part of the CPUs.
#include <fmt/format.h>

#include "sim/training/job_builder.h"

namespace sim::training {

using topology::HostRoute;

namespace {

// Slots of the streams.
enum ToHostSlot : std::int32_t {
  to_host_compute,
  to_host_data,
  to_host_expert_data,
  to_host_copies,
  to_host_embedding
};
enum FromHostSlot : std::int32_t { from_host_compute, from_host_out, from_host_cpu };

}  // namespace

// The steps of a stream, each with the milestone of its number.
network::Program JobBuilder::host_route_program(const Lane& lane, HostRoute what,
                                                const Path& path) const {
  const auto index = static_cast<std::size_t>(lane.stage);
  const StageDataPlan& data = data_plans_[index];
  const OffloadPlan& offload = data.offload;
  const Milestones m = milestones_of(lane.stage);
  ProgramWriter writer;
  const auto add = [&](double bytes, const char* label, std::vector<network::Wait> waits) {
    const TransferCost cost = transfer_cost(path, Bytes(bytes));
    ProgramWriter::StepSpec step{
        .label = label,
        .category = what == HostRoute::work ? Category::optimizer : Category::exposed_offload,
        .lag = cost.lag,
        .work = cost.work,
        .weight = cost.weight,
        .waits = std::move(waits)};
    if (cost.work > 0) step.uses.push_back({0, cost.amount});
    writer.add(step);
    writer.reach(writer.size() - 1);
  };
  const auto event = [&](int number) { return m.event(data.first_offload_event() + number); };
  if (what == HostRoute::to_memory) {
    for (std::size_t i = 0; i < offload.out.size(); ++i) {
      const OffloadPlan::Out& copy = offload.out[i];
      const bool is_of_compute = copy.after == OffloadPlan::Out::After::compute;
      std::vector<network::Wait> waits = {{to_host_compute + static_cast<std::int32_t>(copy.after),
                                           is_of_compute ? event(copy.milestone) : copy.milestone}};
      // The copies of an embedding are added up when all passes have ended.
      const bool is_last = offload.last_gradient == static_cast<int>(i);
      if (is_last && has_embedding_reduction()) waits.push_back({to_host_embedding, 0});
      add(copy.bytes, copy.is_gradient ? "gradients to host" : "activations to host",
          std::move(waits));
    }
  } else if (what == HostRoute::work) {
    for (std::size_t i = 0; i < offload.steps.size(); ++i) {
      std::vector<network::Wait> waits;
      if (i == 0) waits.push_back({0, *offload.last_gradient});
      add(offload.steps[i], "optimizer on host", std::move(waits));
    }
  } else {
    for (const OffloadPlan::In& copy : offload.in) {
      std::vector<network::Wait> waits;
      if (copy.event) waits.push_back({from_host_compute, event(*copy.event)});
      if (copy.out) waits.push_back({from_host_out, *copy.out});
      if (copy.step) waits.push_back({from_host_cpu, *copy.step});
      add(copy.bytes, copy.step ? "parameters from host" : "activations from host",
          std::move(waits));
    }
  }
  return writer.take();
}

StreamId JobBuilder::make_host_stream(const Lane& lane, const char* name, HostRoute what,
                                      std::vector<SystemBuilder::SlotSpec> slots) {
  const int rank = lane.ranks.front();
  const Path path = host_path(cluster_, profile(rank).network(), devices(lane.ranks), what);
  const std::string key = fmt::format("{} {} {} {} {}", name, lane.stage, path.latency.value(),
                                      path.seconds_per_byte, path.reference);
  const std::int32_t program =
      builder_.program(key, [&] { return host_route_program(lane, what, path); });
  const StreamId stream = builder_.add_stream(lane_label(lane, name), program, rank);
  builder_.stream(stream).size = lane.size;
  builder_.set_slots(stream, std::move(slots));
  builder_.set_footprints(stream, {builder_.path(path, bearers_for(rank))});
  return stream;
}

void JobBuilder::make_offload() {
  const std::size_t count = result_.lanes.size();
  to_host_.assign(count, -1);
  from_host_.assign(count, -1);
  cpu_.assign(count, -1);
  const auto slot = [](const std::vector<StreamId>& streams) {
    SystemBuilder::SlotSpec spec;
    for (const StreamId stream : streams) spec.members.push_back({stream});
    return spec;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Lane& lane = result_.lanes[i];
    const OffloadPlan& offload = data_plans_[static_cast<std::size_t>(lane.stage)].offload;
    if (offload.is_empty()) continue;
    to_host_[i] =
        make_host_stream(lane, "to host", HostRoute::to_memory,
                         {slot({lane.compute}), slot(data_streams_[index_of(Sharers::data)][i]),
                          slot(data_streams_[index_of(Sharers::expert_data)][i]),
                          slot(copy_streams_[i]), slot(embedding_streams_[i])});
    if (!offload.steps.empty()) {
      cpu_[i] = make_host_stream(lane, "cpu", HostRoute::work, {slot({to_host_[i]})});
    }
    from_host_[i] = make_host_stream(lane, "from host", HostRoute::from_memory,
                                     {slot({lane.compute}), slot({to_host_[i]}),
                                      cpu_[i] < 0 ? SystemBuilder::SlotSpec{} : slot({cpu_[i]})});
    if (!is_recorded(lane)) continue;
    record(to_host_[i], static_cast<int>(i), "to host");
    record(from_host_[i], static_cast<int>(i), "from host");
    if (cpu_[i] >= 0) record(cpu_[i], static_cast<int>(i), "cpu");
  }
}

}  // namespace sim::training
