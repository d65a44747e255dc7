// Tensor groups, their parts where some layers have another degree, and the streams of their
// collectives.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/training/job_builder.h"

namespace sim::training {

// Of a group of 8 the parts {2, 4}: 0 4, 1 5, 2 6, 3 7; the parts {4, 1}: 0 1 2 3, 4 5 6 7.
std::vector<std::vector<int>> JobBuilder::parts_of(const std::vector<int>& group, TensorPart part) {
  std::vector<std::vector<int>> result;
  const auto ranks = static_cast<std::size_t>(part.ranks);
  const auto stride = static_cast<std::size_t>(part.stride), block = ranks * stride;
  for (std::size_t first = 0; first < group.size(); ++first) {
    if (first % block >= stride) continue;
    auto& members = result.emplace_back();
    for (std::size_t i = 0; i < ranks; ++i) members.push_back(group[first + i * stride]);
  }
  return result;
}

std::vector<TensorPart> JobBuilder::tensor_parts(int stage) {
  std::set<TensorPart> found;
  if (job_.plan.cuts.empty()) return {};
  const int rank = grid_.rank({0, 0, pipeline_at(stage).first_replica, stage_at(stage).place});
  for (const auto& list : units(stage, rank)) {
    for (const Unit& unit : list) {
      for (const auto* pass : {&unit.costs->forward, &unit.costs->backward}) {
        for (const CostedOperator& o : *pass) {
          if (o.collective && o.part.ranks > 0) found.insert(o.part);
        }
      }
    }
  }
  return {found.begin(), found.end()};
}

std::shared_ptr<const TensorGroup> JobBuilder::tensor_group(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return nullptr;
  const auto group_of_ranks = [&](const std::vector<int>& members) {
    return std::make_shared<const Communicator>(cluster_, profile(members.front()),
                                                devices(members));
  };
  auto group = std::make_shared<TensorGroup>();
  group->whole = group_of_ranks(ranks);
  for (const TensorPart& part : tensor_parts(stage_of(ranks.front()))) {
    group->parts[part] = group_of_ranks(parts_of(ranks, part).front());
  }
  return group;
}

// On a crossbar each has links of its own.
bool JobBuilder::are_parts_alike(const std::vector<int>& group) const {
  const topology::Device first = cluster_.device(group.front());
  return !job_.jitter.is_on() && has_crossbars(cluster_) &&
         std::all_of(group.begin(), group.end(),
                     [&](int rank) { return cluster_.device(rank).domain == first.domain; });
}

void JobBuilder::make_tensor_streams(int index, const LanePrograms& programs,
                                     const std::string& key) {
  const TensorGroup& tensor = *tensor_[static_cast<std::size_t>(index)];
  make_tensor_stream(index, programs, key, {}, *tensor.whole);
  const auto members = tensor.whole->members();
  for (const auto& [part, first] : tensor.parts) {
    for (const auto& ranks : parts_of({members.begin(), members.end()}, part)) {
      make_tensor_stream(index, programs, key, part,
                         {cluster_, profile(ranks.front()), devices(ranks)});
    }
  }
}

// Steps of all parts are numbered together.
void JobBuilder::make_tensor_stream(int index, const LanePrograms& programs, const std::string& key,
                                    TensorPart part, const Communicator& group) {
  const Lane& lane = result_.lanes[static_cast<std::size_t>(index)];
  const auto& all = programs.steps_of(dnn::RankGroup::tensor);
  const bool has_parts = !tensor_[static_cast<std::size_t>(index)]->parts.empty();
  std::vector<GroupStep> own;
  std::vector<int> numbers;
  for (std::size_t i = 0; has_parts && i < all.size(); ++i) {
    if (all[i].part != part) continue;
    own.push_back(all[i]);
    numbers.push_back(static_cast<int>(i));
  }
  const std::span<const GroupStep> steps = has_parts ? own : all;
  if (steps.empty()) return;
  const bool is_whole = part.ranks == 0;
  const int first = static_cast<int>(group.members().front());
  const StreamId stream = group_stream({
      .name = is_whole ? lane_label(lane, "tensor")
                       : fmt::format("rank {} tensor, {} ranks {} apart", first, part.ranks,
                                     part.stride),
      .owner = first,
      .key =
          is_whole ? "tensor " + key : fmt::format("tensor {} {} {}", part.ranks, part.stride, key),
      .group = &group,
      .steps = steps,
      .milestones = [&steps](std::size_t step, int) -> std::vector<int> {
        return {steps[step].milestone};
      },
      .transfer = Category::exposed_tensor,
      .late = Category::wait,
      .bearers_of = bearers_for(lane.ranks.front()),
      .size = lane.size,
      .reached = has_parts ? &numbers : nullptr,
      .reached_count = has_parts ? static_cast<int>(all.size()) : 0,
  });
  for (const DeviceIndex member : group.members()) {
    auto& known = tensor_streams_[static_cast<std::size_t>(lane_at(member))];
    if (std::find(known.begin(), known.end(), stream) == known.end()) known.push_back(stream);
  }
  if (is_whole && is_recorded(lane)) record(stream, index, "tensor");
}

}  // namespace sim::training
