// From unlike replicas to plans of replicas that are alike.
#include "sim/plan/replica.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/plan/plan.h"

namespace sim::plan {

int Replica::ranks() const { return std::accumulate(tensor.begin(), tensor.end(), 0); }

std::vector<int> first_of_kinds(const Plan& plan) {
  if (plan.replicas.empty()) return {0};
  std::vector<int> result;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    const bool is_known = std::any_of(result.begin(), result.end(), [&](int first) {
      return plan.replicas[i].is_cut_like(plan.replicas[static_cast<std::size_t>(first)]);
    });
    if (!is_known) result.push_back(static_cast<int>(i));
  }
  return result;
}

std::vector<int> kinds_of_replicas(const Plan& plan) {
  const std::vector<int> firsts = first_of_kinds(plan);
  std::vector<int> result;
  for (const Replica& replica : plan.replicas) {
    const auto found = std::find_if(firsts.begin(), firsts.end(), [&](int first) {
      return replica.is_cut_like(plan.replicas[static_cast<std::size_t>(first)]);
    });
    result.push_back(static_cast<int>(found - firsts.begin()));
  }
  return result;
}

void set_replicas(Plan& plan, std::vector<Replica> replicas) {
  plan.replicas = std::move(replicas);
  plan.data = static_cast<int>(plan.replicas.size());
  plan.tensor = plan.stages = 1;
  plan.layers.clear();
  plan.order = Plan{}.order;
  for (const Replica& replica : plan.replicas) {
    plan.stages = std::max(plan.stages, replica.stages());
    for (const int degree : replica.tensor) plan.tensor = std::max(plan.tensor, degree);
  }
}

int stages_of(const Plan& plan, int replica) {
  if (plan.replicas.empty()) return plan.stages;
  return plan.replicas[static_cast<std::size_t>(replica)].stages();
}

Plan plan_of_stage(const Plan& plan, int replica, int stage) {
  if (plan.replicas.empty()) return plan;
  const Replica& one = plan.replicas[static_cast<std::size_t>(replica)];
  Plan result = plan;
  result.replicas.clear();
  result.tensor = one.tensor[static_cast<std::size_t>(stage)];
  result.stages = one.stages();
  result.layers = one.layers;
  result.data = static_cast<int>(plan.replicas.size());
  result.global_batch = plan.micro_batch * one.micro_batches * result.data;
  return result;
}

}  // namespace sim::plan
