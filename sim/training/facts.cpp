// What a run gives beside the engine's record: memory, FLOPs, intervals.
#include <cmath>

#include "sim/training/outcome.h"

namespace sim::training {

namespace {

// Repeats of one configuration on two clusters of a kind differ by 1 to 3 %.
// Source: spread of published repeats; see docs/decisions/0009.
constexpr double repeat_spread = 0.01;
constexpr double normal_p90 = 1.2815515655446004;

void fill_memory(const Job& job, const JobSystem& system, const dnn::Transformer& dnn,
                 const plan::RankGrid& grid, Result& result) {
  Bytes smallest(1e30);
  const auto memories = plan::memory_of_stages(job.plan, dnn, job.stack);
  for (int stage = 0; stage < static_cast<int>(system.stages.size()); ++stage) {
    const Stage& what = system.stages[static_cast<std::size_t>(stage)];
    const Pipeline& pipeline = system.pipelines[static_cast<std::size_t>(what.pipeline)];
    StageMemory memory;
    memory.stage = what.place;
    memory.replica = pipeline.first_replica;
    memory.lowest_rank = grid.rank({0, 0, pipeline.first_replica, what.place});
    memory.ranks = what.plan.tensor * what.plan.context * pipeline.replicas;
    // The device of this stage's ranks with the least memory.
    for (const Lane& lane : system.lanes) {
      if (lane.stage != stage) continue;
      for (const int rank : lane.ranks) {
        const double capacity = profile_of(job, rank).device().memory.value();
        if (memory.device_type.empty() || capacity < memory.capacity_bytes) {
          memory.capacity_bytes = capacity;
          memory.device_type = job.cluster->device(rank).device_type;
          memory.lowest_rank = rank;
        }
      }
    }
    memory.memory = memories[static_cast<std::size_t>(stage)];
    result.fits = result.fits && memory.memory.peak().value() <= memory.capacity_bytes;
    smallest = std::min(smallest, Bytes(memory.capacity_bytes));
    result.memory.push_back(std::move(memory));
  }
  result.host_memory = fullest_host(job, memories);
  if (!result.fits && job.plan.replicas.empty()) {
    result.remedies = plan::remedies(job.plan, dnn, job.stack, smallest, job.plan.ranks());
  }
  result.fits = result.fits && (!result.host_memory || result.host_memory->fits());
}

// One level error a family, shared by all its operators; independent between families. Linear in
// the share of the last rank's time that the family takes.
void fill_interval(const Job& job, const JobSystem& system, Result& result) {
  const double total = static_cast<double>(result.iteration_ps());
  if (total <= 0 || system.lanes.empty()) return;
  const Lane* lane = nullptr;
  for (const Lane& candidate : system.lanes) {
    for (const int rank : candidate.ranks) {
      if (rank == result.time_rank) lane = &candidate;
    }
  }
  const auto& profile = profile_of(job, result.time_rank);
  if (profile.origin() == calibrate::profile::Origin::ideal || !lane) {
    result.interval.p10_s = result.interval.p90_s = total * 1e-12;
    return;
  }
  auto& families = result.interval.families;  // the first three are those of the operators
  double variance = 0;
  for (std::size_t f = 0; f < 3; ++f) {
    // Waiting for other stages' operators scales with them, so a bubble counts like computing.
    const double bubble =
        static_cast<double>(result.time[static_cast<std::size_t>(Category::bubble)]);
    const double busy = std::max(total - bubble, 1.0);
    const double share = static_cast<double>(lane->family[f]) / busy;
    families[f] = share * profile.level_error(name(static_cast<ErrorFamily>(f)));
    variance += std::pow(families[f], 2);
  }
  double exposed = 0;
  for (int c = static_cast<int>(Category::exposed_tensor); c < category_count; ++c) {
    exposed += static_cast<double>(result.time[static_cast<std::size_t>(c)]);
  }
  double& collective = families[static_cast<std::size_t>(ErrorFamily::collective)];
  collective = exposed / total * profile.level_error(name(ErrorFamily::collective));
  variance += std::pow(collective, 2);
  result.interval.device_type = job.cluster->device(result.time_rank).device_type;
  result.interval.model = std::sqrt(variance);
  result.interval.jitter = repeat_spread;
  if (std::holds_alternative<dnn::Transformer>(job.dnn)) {
    result.interval.software = job.stack.error;
    result.interval.stack = job.stack.name;
  }
  variance += std::pow(result.interval.software, 2) + std::pow(repeat_spread, 2);
  const double spread = normal_p90 * std::sqrt(variance);
  result.interval.p10_s = total * 1e-12 * (1 - spread);
  result.interval.p90_s = total * 1e-12 * (1 + spread);
}

}  // namespace

const char* name(ErrorFamily family) {
  constexpr const char* names[error_family_count] = {"gemm", "attention", "memory", "collective"};
  return names[static_cast<std::size_t>(family)];
}

void fill_facts(const Job& job, const JobSystem& system, Result& result) {
  for (const auto& [type, profile] : job.profiles) {
    result.profile_origin.emplace(type, profile->origin());
  }
  result.extrapolated = system.extrapolated;
  fill_interval(job, system, result);
  if (system.lanes.empty()) return;
  const plan::RankGrid grid(job.plan);
  result.fold.ranks = grid.ranks();
  result.samples_per_iteration = static_cast<double>(job.plan.global_batch);
  // In whole numbers, so that the sums do not depend on who stands for whom.
  Int128 flops = 0, peak_flops = 0;
  for (const Lane& lane : system.lanes) {
    flops += static_cast<Int128>(lane.flops) * lane.size;
    for (const int rank : lane.ranks) {
      const auto& peak = profile_of(job, rank).device().peak;
      const auto found = peak.find(job.precision);
      if (found == peak.end()) continue;
      peak_flops += static_cast<Int128>(found->second.value()) * lane.size;
    }
  }
  result.hardware_flops_per_iteration = static_cast<double>(flops);
  result.peak_flops_per_second = static_cast<double>(peak_flops);
  const auto* dnn = std::get_if<dnn::Transformer>(&job.dnn);
  if (!dnn) return;
  result.tokens_per_iteration =
      result.samples_per_iteration * static_cast<double>(job.plan.sequence);
  // A token sees its document, not the sequence.
  const auto seen = std::max<std::int64_t>(
      std::llround(static_cast<double>(job.plan.sequence) * packed_lengths(job.plan).mean), 1);
  result.model_flops_per_iteration =
      result.tokens_per_iteration * dnn::model_flops_per_token(*dnn, seen, false);
  result.model_flops_causal_per_iteration =
      result.tokens_per_iteration * dnn::model_flops_per_token(*dnn, seen, true);
  fill_memory(job, system, *dnn, grid, result);
}

}  // namespace sim::training
