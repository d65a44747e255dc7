// The state of a job while one of its histories is simulated.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "sim/fault/history.h"
#include "sim/fault/saved_states.h"

namespace sim::fault {

class Course {
 public:
  Course(const Model& model, const Policy& policy, Rates& rates, const HistoryOptions& options);
  History run();

 private:
  using Place = SavedState::Place;
  struct Pending {
    SavedState saved;
    double done_at = 0;
    int percent = 100;  // of the load of writing, where the storage is slow
  };
  struct Repair {
    double at = 0;
    int hosts = 0;
  };
  // A failure, and since when the job's state was wrong.
  struct Interruption {
    Failure failure;
    double wrong_since = 0;
  };
  enum class Outcome { done, interrupted, finished };

  void skip_cycles();
  double next_repair() const;
  // Training until something stops it.
  Outcome train();
  Outcome checkpoint(Place place);
  Outcome saved();
  Outcome drain();
  const Checkpointing& times(Place place) const;
  // [s] from now on, with the storage as it is then.
  double stall_time(Place place);
  double drain_time();
  double read_time();
  void write_on(const SavedState& state);
  // The checkpoint that is due first, and when; one to memory waits for one on its way to storage.
  std::pair<Place, double> next_due() const;
  // From an interruption until training goes on.
  void recover();
  // Stops for a time; what happens meanwhile cuts it short.
  Outcome pass(double duration, Loss loss);
  Outcome come_back();
  Outcome wait_for_hosts(bool& has_spare);
  void lose_copies();
  void roll_back();
  // Whether what survives the current interruption goes on, as the policy says.
  bool goes_on() const;
  Outcome go_on();

  void train_for(double duration);
  void lose(double duration, Loss loss);
  void note(double start, bool is_training, Loss loss);
  // The next failure that anything sees; `next_`.
  void draw_next();
  // Whether the job is still there to be hit: fewer replicas are hit less.
  bool is_hit();
  void take_hosts();
  int hosts_working() const;
  Situation situation() const;
  // Goes on with so many replicas, and with what they leave over.
  void run_with(int replicas);
  double speed();
  double speed_in(Writing writing, int percent);
  Writing writing() const;
  double draw(Draws::What what, const Distribution& distribution) const;

  const Model& model_;
  const Policy& policy_;
  Rates& rates_;
  const HistoryOptions& options_;
  Arrivals arrivals_;
  Failure coming_;                    // next of arrivals_
  std::vector<Interruption> hidden_;  // silent failures, by when they are found; not in order
  Interruption next_, current_;
  std::optional<std::size_t> cause_;  // process of the recovery under way; none: growing

  double now_ = 0, work_ = 0, end_at_ = 0, work_end_ = 0;  // [s]
  std::array<double, 2> since_checkpoint_{};               // [place][s] of training
  Place read_from_ = Place::storage;                       // the state to go on from
  int hosts_lost_ = 0;                                     // since training stopped
  int replicas_ = 0;
  int part_ = 0;           // hosts of one more replica
  bool can_skip_ = false;  // nothing needs each checkpoint
  SavedStates saved_;
  std::optional<Pending> pending_;
  std::vector<Repair> repairs_;
  StorageSpeed storage_;
  std::vector<double> speeds_;  // [replicas][part][writing]; below 0: not asked yet
  History history_;
};

}  // namespace sim::fault
