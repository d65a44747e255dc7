// Pipelines and their stages: what each stage holds, when it does what, and what it sends.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/training/job_builder.h"
#include "sim/training/segment.h"

namespace sim::training {

bool JobBuilder::has_embedding_reduction() const {
  const auto* dnn = std::get_if<dnn::Transformer>(&job_.dnn);
  const bool has_copy = dnn && (dnn->tied_embedding || dnn->prediction_modules > 0);
  if (!has_copy || schedule().arrangement == plan::Arrangement::both_ways) return false;
  return std::any_of(result_.pipelines.begin(), result_.pipelines.end(), [](const Pipeline& p) {
    return p.schedule.stage_of(0, 0) != p.schedule.stage_of(p.schedule.parts() - 1, 0);
  });
}

// The first and the last stage of a pipeline.
bool JobBuilder::holds_embedding(int stage) const {
  const int place = stage_at(stage).place, stages = schedule_at(stage).stages;
  return stages > 1 && (place == 0 || place == stages - 1);
}

int JobBuilder::stage_of(int rank) const {
  const plan::Coordinates c = grid_.coordinates(rank);
  return first_stage_[plan::kind_of(kinds_, c.data)] + c.pipeline;
}

const std::vector<std::vector<Unit>>& JobBuilder::units(int stage, int rank) {
  const std::string type(cluster_.device(rank).device_type);
  const auto key = std::make_tuple(stage, type, expert_rank(rank), expert_group(rank));
  const auto found = units_.find(key);
  if (found != units_.end()) return found->second;
  const JobCosts& c = costs(rank);
  const plan::Schedule& schedule = schedule_at(stage);
  const auto& layers = layers_[static_cast<std::size_t>(stage_at(stage).pipeline)];
  std::vector<std::vector<Unit>> result;
  int number = 0;
  for (int v = 0; v < schedule.virtual_stages; ++v) {
    const auto part = static_cast<std::size_t>(schedule.part(stage_at(stage).place, v));
    auto layer = static_cast<std::size_t>(
        std::accumulate(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(part), 0));
    std::vector<Unit> list;
    if (part == 0) list.push_back({&c.embedding, "embedding"});
    for (int l = 0; l < layers[part]; ++l) {
      list.push_back({&c.layer_kinds[c.kind_of_layer[layer++]], fmt::format("layer {}", number++)});
    }
    if (part + 1 == static_cast<std::size_t>(schedule.parts())) {
      for (int m = 0; m < c.prediction_modules; ++m) list.push_back({&c.prediction, "prediction"});
      list.push_back({&c.head, "head"});
    }
    result.push_back(std::move(list));
  }
  return units_.emplace(key, std::move(result)).first->second;
}

// What a schedule that is planned by durations is planned by: those of a stage of average length.
plan::PassTimes JobBuilder::pass_times(int first_stage) {
  const bool is_planned = job_.plan.schedule == plan::ScheduleKind::zb_1p ||
                          job_.plan.schedule == plan::ScheduleKind::zb_2p;
  if (!is_planned) return {};
  const plan::Coordinates first{0, 0, pipeline_at(first_stage).first_replica, 0};
  const JobCosts& c = costs(grid_.rank(first));
  // Of all layers, over the stages.
  const auto of_stage = [&](std::vector<CostedOperator> UnitCosts::*pass) {
    double total = 0;
    for (const std::size_t kind : c.kind_of_layer) {
      for (const CostedOperator& o : c.layer_kinds[kind].*pass) {
        total += static_cast<double>(o.work);
      }
    }
    return total / job_at(first_stage).plan.stages;
  };
  return {of_stage(&UnitCosts::forward), of_stage(&UnitCosts::backward_input),
          of_stage(&UnitCosts::backward_weight), 0};
}

// Where every stage of every kind of replica is, and when it does what.
void JobBuilder::make_pipelines() {
  kinds_ = plan::kinds_of_replicas(job_.plan);
  for (const int first : plan::first_of_kinds(job_.plan)) {
    const auto index = static_cast<int>(result_.pipelines.size());
    Pipeline& pipeline = result_.pipelines.emplace_back();
    pipeline.first_replica = first;
    pipeline.replicas = are_unlike()
                            ? static_cast<int>(std::count(kinds_.begin(), kinds_.end(), index))
                            : job_.plan.data;
    first_stage_.push_back(static_cast<int>(result_.stages.size()));
    for (int place = 0; place < plan::stages_of(job_.plan, first); ++place) {
      result_.stages.push_back({index, place, plan::plan_of_stage(job_.plan, first, place)});
      if (are_unlike()) own_jobs_.emplace_back(job_).plan = result_.stages.back().plan;
    }
  }
  for (std::size_t p = 0; p < result_.pipelines.size(); ++p) {
    const Job& job = job_at(first_stage_[p]);
    layers_.push_back(layers_of_parts(job));
    result_.pipelines[p].schedule =
        plan::schedule(job.plan, rounds(job_), pass_times(first_stage_[p]));
  }
  result_.rounds = schedule().rounds;
  result_.pipelining = {schedule().flushes, schedule().staleness, schedule().weight_versions};
}

void JobBuilder::make_stages() {
  holdings_ = plan::holdings(job_.plan);
  if (job_.plan.packing) packed_ = plan::packed_batch(job_.plan);
  if (packed_ && packed_->sums.size() < 2) packed_.reset();
  make_pipelines();
  for (int stage = 0; stage < static_cast<int>(result_.stages.size()); ++stage) {
    const int place = stage_at(stage).place;
    const auto& list = units(stage, grid_.rank({0, 0, pipeline_at(stage).first_replica, place}));
    shared_collectives_.push_back(shared_collectives(schedule_at(stage), place, list));
    if (are_unlike()) continue;
    StageDataPlan& data = data_plans_.emplace_back();
    for (std::size_t group = 0; group < sharers_count(holdings_.size()); ++group) {
      data.by_sharers.push_back(
          data_plan(job_.plan, job_.stack, schedule(), place, list, static_cast<Sharers>(group)));
    }
    data.copies = copy_plan(job_.plan, data.of(Sharers::data));
    data.offload = offload_plan(job_, schedule(), place, list, data);
  }
  if (are_unlike()) make_split_plan();
}

}  // namespace sim::training
