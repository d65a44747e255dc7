// The checkpoints that a job can go back to.
#pragma once

#include <cstdint>
#include <vector>

namespace sim::fault {

struct SavedState {
  enum class Place { storage, memory };
  double work = 0, taken_at = 0;  // [s]
  Place place = Place::storage;
};

// In order of time; at most one is in memory, the newest. At first there is the start of the job.
class SavedStates {
 public:
  void add(const SavedState& state) { add_row(state, 1, 0, 0); }
  // `count` of them, of which `newest` is the last, evenly apart in work and time [s]. As one.
  void add_row(const SavedState& newest, std::int64_t count, double work_step, double time_step);
  void forget_memory();
  // No more than the newest so many.
  void keep(std::int64_t most);
  // Forgets those after `time`; returns the newest that is left, or the start.
  SavedState back_to(double time);

 private:
  struct Row {
    SavedState newest;
    std::int64_t count = 1;
    double work_step = 0, time_step = 0;
  };
  std::vector<Row> rows_ = {{}};
};

}  // namespace sim::fault
