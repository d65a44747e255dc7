// The builder of a job's streams; its parts are in lanes.cpp, groups.cpp and job_system.cpp.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/training/disturbance.h"
#include "sim/training/job_system.h"
#include "sim/training/rank_group.h"
#include "sim/training/replica_plan.h"
#include "sim/training/split_plan.h"

namespace sim::training {

using StreamId = SystemBuilder::StreamId;

// "rank 3 compute", "ranks 0..7 compute".
std::string lane_label(const Lane& lane, const char* stream);

class JobBuilder {
 public:
  using Profile = calibrate::profile::Profile;

  JobBuilder(const Job& job, bool may_be_uneven)
      : job_(job),
        may_be_uneven_(may_be_uneven),
        cluster_(*job.cluster),
        grid_(job.plan),
        builder_(job) {}

  JobSystem build();

 private:
  struct GroupSpec {
    std::string name;
    int owner = 0;
    std::string key;  // of the program, with what else it depends on
    const Communicator* group = nullptr;
    std::span<const GroupStep> steps;
    // Milestones of a member's lane that a step waits for.
    std::function<std::vector<int>(std::size_t step, int stage)> milestones;
    Category transfer = Category::other, late = Category::other;
    SystemBuilder::BearersOf bearers_of;
    std::int64_t size = 1;  // groups that it stands for
    // [step] number of the milestone that is reached with it, ascending; none: its own.
    const std::vector<int>* reached = nullptr;
    int reached_count = 0;
    // [rank] whose milestones they are, where not the lane's compute stream.
    const std::unordered_map<int, StreamId>* member_streams = nullptr;
  };
  struct GroupMembers {
    std::vector<int> stages;  // [slot]
    std::vector<SystemBuilder::SlotSpec> slots;
    std::vector<SystemBuilder::FootprintSpec> footprints;  // what each member reserves
  };

  const Profile& profile(int rank) const { return profile_of(job_, rank); }
  int expert_rank(int rank) const;
  int expert_group(int rank) const;
  const std::vector<int>* lengths_of(int rank) const;
  const JobCosts& costs(int rank);
  plan::PassTimes pass_times(int first_stage);
  void make_pipelines();
  void make_stages();
  void choose_replicas();
  void list_ranks();
  bool reduces_along_rings(const ReplicaPlan& plan) const;
  std::vector<int> along_data(int rank, std::span<const fold::Replica> replicas) const;
  Communicator data_communicator(const ReplicaPlan& plan, int rank) const;
  int lane_at(int rank) const { return lane_of_rank_.at(rank); }
  std::int64_t replica_index(int rank) const {
    return plan_.replicas.index_of(grid_.coordinates(rank).data);
  }
  SystemBuilder::BearersOf bearers_for(int rank) const;
  SystemBuilder::BearersOf bearers_of_ring() const;
  std::int64_t alike(const ResourceOrigin& origin) const;
  void find_disturbed();
  bool is_any_disturbed(const std::vector<int>& ranks) const;
  void make_lanes();
  void make_lane(int stage, std::vector<int> ranks, bool is_merged,
                 std::shared_ptr<const TensorGroup> tensor);
  std::shared_ptr<const TensorGroup> tensor_group(const std::vector<int>& ranks);
  // Parts of tensor groups that layers of this stage have collectives in.
  std::vector<TensorPart> tensor_parts(int stage);
  // All parts of this kind in the group of a rank.
  static std::vector<std::vector<int>> parts_of(const std::vector<int>& group, TensorPart part);
  // Of the slowest device, where one of them is slowest in everything, throughout.
  std::optional<DeviceCapacity> constant_capacity(const std::vector<int>& ranks,
                                                  const Communicator* tensor);
  // Only lanes of one rank have: those of a group with such a device are not merged.
  bool has_slow_launches(const Lane& lane) const {
    return slow_launches_.contains(lane.ranks.front());
  }
  std::string lane_key(int lane);
  const std::string& signature(const Communicator& group);
  double optimized_parameters(int stage, const std::vector<std::vector<Unit>>& units) const;
  LanePrograms programs_of(int lane, LaneJitter* jitter);
  bool has_draws(const Lane& lane) const { return job_.jitter.is_on() && lane.size == 1; }
  void count_merged(int lane, const LanePrograms& programs);
  void count_merged(const Communicator& group, collective::Operation operation, double size,
                    int times);
  // Whether parts of a tensor group that work side by side do not hold each other up.
  bool are_parts_alike(const std::vector<int>& group) const;
  void make_compute();
  std::int32_t compute_program(int lane, const std::string& key, LanePrograms& programs);
  void make_tensor_streams(int lane, const LanePrograms& programs, const std::string& key);
  void make_tensor_stream(int lane, const LanePrograms& programs, const std::string& key,
                          TensorPart part, const Communicator& group);
  void make_unmerged_tensor_streams();
  void make_shared_streams(dnn::RankGroup group);
  void make_pipeline();
  network::Program send_program(const Lane& lane, bool to_next, const TransferCost& cost,
                                std::int64_t reserve) const;
  bool sends(const Lane& lane, const plan::Pass& pass, bool to_next) const;
  Path path_to(const Lane& lane, bool next, bool is_reversed) const;
  struct Boundary {
    Bytes sent;      // by each pair of ranks
    Bytes gathered;  // by the receiving tensor group; 0: nothing
  };
  Boundary boundary(int sender, int receiver);
  TransferCost boundary_cost(const Path& path, int sender, int receiver);
  Picoseconds receive_cost(int lane, bool from_next);
  std::vector<int> ranks_at(int rank, int place) const;
  std::vector<int> ranks_beside(int rank, bool next) const;
  void make_send(int lane, bool to_next);
  void make_data();
  std::vector<int> further_sharers(int tensor, int rank) const;
  std::vector<int> sharers_of(Sharers sharers, int rank) const;
  void make_data_streams(Sharers sharers);
  void make_data_stream(Sharers sharers, const std::vector<int>& ranks, int stage);
  void make_copies();
  void make_copy_stream(const std::vector<int>& ranks, int stage);
  void make_split_plan();
  void make_split_streams();
  void make_split_stream(const SplitPlan::Part& part, int share);
  void make_embedding();
  void make_embedding_stream(int rank, int other);
  void make_offload();
  StreamId make_host_stream(const Lane& lane, const char* name, topology::HostRoute what,
                            std::vector<SystemBuilder::SlotSpec> slots);
  network::Program host_route_program(const Lane& lane, topology::HostRoute what,
                                      const Path& path) const;
  void connect();
  void make_finish_lines();
  void make_round_ends();
  template <class StreamOf>
  std::vector<SystemBuilder::MemberSpec> streams_beside(const Lane& lane, bool next,
                                                        StreamOf stream_of) const;
  bool is_recorded(const Lane& lane) const;
  Milestones milestones_of(int stage) const;
  GroupMembers members_of(const GroupSpec& spec);
  static network::Program group_program(const GroupSpec& spec, const std::vector<int>& stages,
                                        const std::vector<TransferCost>& costs,
                                        const std::vector<std::int32_t>& footprint,
                                        std::int64_t reserve);
  StreamId group_stream(const GroupSpec& spec);
  double collective_share(int rank) const;
  std::vector<DeviceIndex> devices(const std::vector<int>& ranks) const {
    return {ranks.begin(), ranks.end()};
  }
  const std::vector<std::vector<Unit>>& units(int stage, int rank);
  // Of a stage in JobSystem::stages.
  const Stage& stage_at(int stage) const { return result_.stages[static_cast<std::size_t>(stage)]; }
  const Pipeline& pipeline_at(int stage) const {
    return result_.pipelines[static_cast<std::size_t>(stage_at(stage).pipeline)];
  }
  const plan::Schedule& schedule_at(int stage) const { return pipeline_at(stage).schedule; }
  const Job& job_at(int stage) const {
    return own_jobs_.empty() ? job_ : own_jobs_[static_cast<std::size_t>(stage)];
  }
  const std::vector<plan::Pass>& passes_at(int stage) const {
    return schedule_at(stage).passes[static_cast<std::size_t>(stage_at(stage).place)];
  }
  int stage_of(int rank) const;
  // What all pipelines have in common: rounds, flushes, arrangement.
  const plan::Schedule& schedule() const { return result_.pipelines.front().schedule; }
  bool are_unlike() const { return !job_.plan.replicas.empty(); }
  bool holds_embedding(int stage) const;
  void record(StreamId stream, int lane, std::string name);
  // With the first of the ranks whose lane is recorded.
  void record_first(StreamId stream, const std::vector<int>& ranks, const std::string& name);
  bool has_embedding_reduction() const;

  const Job& job_;
  const bool may_be_uneven_;  // replica_plan()
  const topology::Cluster& cluster_;
  plan::RankGrid grid_;
  SystemBuilder builder_;
  JobSystem result_;
  std::vector<int> kinds_;        // [replica] of unlike ones, its pipeline
  std::vector<int> first_stage_;  // [pipeline]
  std::vector<Job> own_jobs_;     // [stage] as Stage::plan says, where replicas are unlike
  std::optional<plan::PackedBatch> packed_;  // where micro-batches differ by the lengths in them
  std::vector<StageDataPlan> data_plans_;    // [stage]
  SplitPlan split_;                          // of unlike replicas
  std::vector<plan::Holding> holdings_;      // plan::holdings()
  std::vector<int> shared_collectives_;      // [stage]
  std::vector<std::vector<int>> layers_;     // [pipeline][part of the dnn]
  // By type of device; where the routing is not even, rank in the expert group, and the group where
  // they are not alike; and tensor degree.
  std::map<std::tuple<std::string, int, int, int>, JobCosts> costs_;
  // By stage, type of device, expert rank and group.
  std::map<std::tuple<int, std::string, int, int>, std::vector<std::vector<Unit>>> units_;
  ReplicaPlan plan_;
  std::vector<int> ranks_;  // that are simulated, ascending
  std::unordered_map<int, int> lane_of_rank_;
  std::vector<Int128> merged_amounts_;                      // [resource] as JobSystem::amounts
  std::vector<std::shared_ptr<const TensorGroup>> tensor_;  // [lane]
  std::vector<std::vector<StreamId>> tensor_streams_;       // [lane]
  std::vector<std::int32_t> host_stream_;                   // [lane], -1: none
  std::vector<std::int32_t> send_next_, send_previous_;     // [lane]
  std::vector<std::vector<StreamId>> embedding_streams_;    // [lane]
  std::vector<std::int32_t> to_host_, from_host_, cpu_;     // [lane], -1: none
  std::vector<std::vector<std::vector<StreamId>>> data_streams_;  // [Sharers][lane]
  std::unordered_map<int, StreamId> data_stream_of_rank_;         // where there are copies
  std::vector<std::vector<StreamId>> copy_streams_;               // [lane]
  // [RankGroup][lane] of groups that may join several lanes.
  std::array<std::vector<std::vector<StreamId>>, rank_group_count> shared_streams_;
  std::map<GroupPlaces, std::string> signatures_;
  std::map<std::string, LanePrograms> made_;                      // by lane_key
  std::vector<const decltype(made_)::value_type*> made_of_lane_;  // [lane] in made_
  std::set<int> recorded_stages_;
  std::set<std::int32_t> disturbed_links_;
  // [device] those that are disturbed; none: not alike throughout.
  std::map<std::int32_t, std::optional<DeviceCapacity>> disturbed_devices_;
  std::set<std::int32_t> slow_launches_;  // devices whose hosts are disturbed
};

}  // namespace sim::training
