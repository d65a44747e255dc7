// Chunk-level schedules of hierarchical collectives.
#include "sim/collective/lane_steps.h"

#include "sim/collective/lanes.h"

namespace sim::collective {
namespace {

// chunks[host][lane]: what the ring along the lane moves as one for this host: its part of the lane
// (all-reduce) or what its members contribute or receive (the others).
class LaneSchedule {
 public:
  LaneSchedule(Operation operation, const Hosts& hosts)
      : operation_(operation), hosts_(hosts), lanes_(hosts) {}

  Steps run() {
    cut();
    if (operation_ == Operation::all_gather) hand_over(true);
    if (operation_ != Operation::all_gather) {
      chains(true);
      lane_rings(true);
    }
    if (operation_ != Operation::reduce_scatter) {
      lane_rings(false);
      chains(false);
    }
    if (operation_ == Operation::reduce_scatter) hand_over(false);
    return std::move(result_);
  }

 private:
  std::vector<int>& chunks(int host, int lane) {
    return chunks_[static_cast<std::size_t>(host * lanes_.count + lane)];
  }
  void cut();
  void hand_over(bool is_gather);
  void chains(bool is_up);
  void lane_rings(bool reduces);
  void move(Step& step, int source, int target, const std::vector<int>& chunks, bool reduces) {
    for (const int chunk : chunks) step.push_back({source, target, chunk, reduces});
  }

  Operation operation_;
  const Hosts& hosts_;
  Lanes lanes_;
  std::vector<std::vector<int>> chunks_;
  Steps result_;
};

void LaneSchedule::cut() {
  int ranks = 0;
  for (int host = 0; host < hosts_.count(); ++host) ranks += hosts_.size(host);
  chunks_.resize(static_cast<std::size_t>(hosts_.count() * lanes_.count));
  const bool is_even = operation_ == Operation::all_reduce;
  const double share = 1.0 / (is_even ? hosts_.count() * lanes_.count : ranks);
  for (int host = 0; host < hosts_.count(); ++host) {
    const int count = is_even ? lanes_.count : hosts_.size(host);
    for (int number = 0; number < count; ++number) {
      chunks(host, number % lanes_.count).push_back(static_cast<int>(result_.chunks.size()));
      result_.chunks.push_back({share, hosts_.member(host, number)});
    }
  }
}

void LaneSchedule::hand_over(bool is_gather) {
  Step step;
  for (int host = 0; host < hosts_.count(); ++host) {
    for (int lane = 0; lane < lanes_.count; ++lane) {
      for (const int chunk : chunks(host, lane)) {
        const int extra = result_.chunks[static_cast<std::size_t>(chunk)].owner;
        const int first = hosts_.member(host, lane);
        if (extra == first) continue;
        step.push_back({is_gather ? extra : first, is_gather ? first : extra, chunk, false});
      }
    }
  }
  if (!step.empty()) result_.steps.push_back(std::move(step));
}

// Everything of a lane through each host, to the lane's member or from it.
void LaneSchedule::chains(bool is_up) {
  for (int i = 0; i + 1 < hosts_.size_max(); ++i) {
    Step step;
    for (int host = 0; host < hosts_.count(); ++host) {
      if (i + 1 >= hosts_.size(host)) continue;
      for (int lane = 0; lane < lanes_.count; ++lane) {
        const int at = lane + i + (is_up ? 1 : 0);
        for (int from = 0; from < hosts_.count(); ++from) {
          move(step, hosts_.member(host, at), hosts_.member(host, at + 1), chunks(from, lane),
               is_up);
        }
      }
    }
    result_.steps.push_back(std::move(step));
  }
}

void LaneSchedule::lane_rings(bool reduces) {
  const int n = hosts_.count();
  for (int i = 0; i + 1 < n; ++i) {
    Step step;
    for (int host = 0; host < n; ++host) {
      const int owner = ((host - i - (reduces ? 1 : 0)) % n + n) % n;
      for (int lane = 0; lane < lanes_.count; ++lane) {
        move(step, hosts_.member(host, lane), hosts_.member((host + 1) % n, lane),
             chunks(owner, lane), reduces);
      }
    }
    result_.steps.push_back(std::move(step));
  }
}

}  // namespace

Steps lane_steps(Operation operation, const Hosts& hosts) {
  return LaneSchedule(operation, hosts).run();
}

}  // namespace sim::collective
