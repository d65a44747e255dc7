// One possible course of a job over weeks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/fault/model.h"
#include "sim/fault/policy.h"
#include "sim/fault/rates.h"

namespace sim::fault {

// Where wall time goes that is not training at full speed that lasts.
enum class Loss {
  rework,      // training that a failure undid
  checkpoint,  // stopped to save the state, or slower while it is written
  shrunk,      // slower because replicas are missing
  detect,
  wait,  // for hosts
  restart,
  read,  // the checkpoint
};
inline constexpr std::size_t loss_count = 7;
std::string_view name(Loss loss);  // "rework", ...

// A stretch of a history: training, or a loss. Work that is undone later is training here.
struct Episode {
  double start = 0, end = 0;  // [s]
  bool is_training = true;
  Loss loss = Loss::rework;  // unless training
  int replicas = 0;
};

struct History {
  double wall = 0;                          // [s]
  double work = 0;                          // [s] at full speed, kept; work + losses = wall
  std::array<double, loss_count> lost{};    // [loss][s]
  std::vector<double> lost_by_process;      // [s] rework, detect, wait, restart, read and drains
  std::vector<std::int64_t> interruptions;  // [process]
  std::int64_t checkpoints = 0;             // completed, in storage
  std::int64_t memory_checkpoints = 0;
  double growing = 0;  // [s] of rework, restart and read, to run more replicas again
  std::vector<std::int64_t> hosts_out;  // [hosts under repair, at most hosts_out_max] interruptions
  std::vector<Episode> episodes;        // only if asked for
};
inline constexpr std::size_t hosts_out_max = 4096;

struct HistoryOptions {
  Draws draws;
  bool keeps_episodes = false;
};

// Simulates one. Ends at the horizon; a job that makes no progress is ended after 1000 times the
// time that the work takes at full speed.
History history(const Model& model, const Policy& policy, Rates& rates,
                const HistoryOptions& options);

}  // namespace sim::fault
