// Which replicas a job's builder makes, and what each stands for.
#include <algorithm>
#include <set>
#include <utility>

#include "sim/training/job_builder.h"

namespace sim::training {

using fold::Replica;

// The ranks that stand where `rank` does in these replicas.
std::vector<int> JobBuilder::along_data(int rank, std::span<const Replica> replicas) const {
  std::vector<int> group;
  plan::Coordinates c = grid_.coordinates(rank);
  for (const Replica replica : replicas) {
    c.data = static_cast<int>(replica);
    group.push_back(grid_.rank(c));
  }
  return group;
}

Communicator JobBuilder::data_communicator(const ReplicaPlan& plan, int rank) const {
  if (plan.uneven) {
    const ListedMembers listed = plan.uneven->listed(rank);
    const auto members = static_cast<int>(listed.replicas.size());
    const auto hosts = static_cast<int>(listed.host_numbers.size());
    const collective::Layout layout{.host_of = {},
                                    .ranks_left_out = job_.plan.data - members,
                                    .hosts_left_out = listed.hosts - hosts,
                                    .host_numbers = listed.host_numbers};
    return {cluster_, profile(rank), devices(along_data(rank, listed.replicas)), layout};
  }
  std::vector<DeviceIndex> members = devices(along_data(rank, plan.ring()));
  const auto left_out = static_cast<int>(plan.replicas.count()) - static_cast<int>(members.size());
  const collective::Layout layout{.host_of = {},
                                  .ranks_left_out = left_out,
                                  .hosts_left_out = left_out / plan.members_per_host};
  return {cluster_, profile(rank), std::move(members), layout};
}

// Groups of one stage may choose otherwise: how many members their first host has counts.
bool JobBuilder::reduces_along_rings(const ReplicaPlan& plan) const {
  for (int stage = 0; stage < job_.plan.stages; ++stage) {
    std::set<std::pair<collective::Operation, double>> asked;
    for (const DataOperation& o :
         data_plans_[static_cast<std::size_t>(stage)].of(Sharers::data).operations) {
      asked.emplace(o.operation, o.bytes);
    }
    for (int tensor = 0; tensor < job_.plan.tensor; ++tensor) {
      for (int context = 0; context < job_.plan.context; ++context) {
        const Communicator group = data_communicator(plan, grid_.rank({tensor, context, 0, stage}));
        for (const auto& [operation, bytes] : asked) {
          if (!group.is_ring(operation, Bytes(bytes))) return false;
        }
      }
    }
  }
  return true;
}

void JobBuilder::choose_replicas() {
  // Two copies of a part are reduced over two stages, context ranks with the replicas, and experts
  // and shares of copies over ranks of their own: no ring of replicas alone. Nor can replicas be
  // exchanged that have other lengths.
  const auto* dnn = std::get_if<dnn::Transformer>(&job_.dnn);
  if (are_unlike()) {
    plan_.replicas = fold::Replicas::all(job_.plan.data);
    return;
  }
  const bool is_other = holdings_.size() > 1 ||
                        schedule().arrangement == plan::Arrangement::both_ways ||
                        job_.plan.context > 1 || job_.plan.copies() > 1 || (dnn && dnn->is_moe()) ||
                        (packed_ && !packed_->are_replicas_alike());
  plan_ = replica_plan(job_, grid_, may_be_uneven_);
  if (is_other || (!plan_.replicas.are_all_kept() && !reduces_along_rings(plan_))) {
    plan_ = {};
    plan_.replicas = fold::Replicas::all(job_.plan.data);
  }
}

// Ranks whose replica is kept, without looking at the others.
void JobBuilder::list_ranks() {
  if (are_unlike()) {
    ranks_ = grid_.held();
    return;
  }
  const plan::Plan& p = job_.plan;
  for (int pipeline = 0; pipeline < p.stages; ++pipeline) {
    for (int context = 0; context < p.context; ++context) {
      for (int tensor = 0; tensor < p.tensor; ++tensor) {
        for (const Replica replica : plan_.replicas.kept()) {
          ranks_.push_back(grid_.rank({tensor, context, static_cast<int>(replica), pipeline}));
        }
      }
    }
  }
  std::sort(ranks_.begin(), ranks_.end());
}

// What lanes like that of `rank` load, and how many of them: a link that replicas share, those of
// its replica's block.
SystemBuilder::BearersOf JobBuilder::bearers_for(int rank) const {
  return [this, index = static_cast<std::size_t>(replica_index(rank))](
             const ResourceOrigin& o, const SystemBuilder::AddBearer& add) {
    if (o.kind != ResourceOrigin::Kind::link) return add(o, 1);
    const auto tier = static_cast<std::size_t>(cluster_.tier(o.index));
    if (!plan_.uneven || tier == 0) {
      return add(o, plan_.replicas.size(index, plan_.level_of_tier[tier]));
    }
    plan_.uneven->each_alike(index, tier, o.index, cluster_.first_device(o.index),
                             [&](topology::LinkIndex link, std::int64_t count) {
                               add({ResourceOrigin::Kind::link, link}, count);
                             });
  };
}

SystemBuilder::BearersOf JobBuilder::bearers_of_ring() const {
  return [this](const ResourceOrigin& o, const SystemBuilder::AddBearer& add) {
    if (alike(o) > 0) add(o, 1);
  };
}

// How many like it there are in the cluster; 0: it is not simulated, another stands for it.
std::int64_t JobBuilder::alike(const ResourceOrigin& origin) const {
  const bool is_link = origin.kind == ResourceOrigin::Kind::link;
  const DeviceIndex first = is_link ? cluster_.first_device(origin.index) : origin.index;
  if (plan_.replicas.are_all_kept() || !grid_.holds(static_cast<int>(first))) return 1;
  const auto tier = is_link ? static_cast<std::size_t>(cluster_.tier(origin.index)) : 0;
  if (plan_.uneven && tier > 0) {
    const Parts& parts = plan_.uneven->parts(tier);
    return parts.alike(first / parts.size);
  }
  // A host's link is simulated with the replica that alone has it, or with all that share it.
  const DeviceIndex owner = is_link ? cluster_.device_of(origin.index).value_or(first) : first;
  if (!grid_.holds(static_cast<int>(owner))) return 1;
  return plan_.alike(tier, grid_.coordinates(owner).data);
}

}  // namespace sim::training
