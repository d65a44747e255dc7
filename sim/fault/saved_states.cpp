// Rows, since a job of weeks may save a hundred thousand times between two failures.
#include "sim/fault/saved_states.h"

#include <algorithm>
#include <cmath>

namespace sim::fault {

void SavedStates::add_row(const SavedState& newest, std::int64_t count, double work_step,
                          double time_step) {
  rows_.push_back({newest, count, work_step, time_step});
}

void SavedStates::forget_memory() {
  if (rows_.back().newest.place == SavedState::Place::memory) rows_.pop_back();
}

void SavedStates::keep(std::int64_t most) {
  std::int64_t all = 0;
  for (const Row& row : rows_) all += row.count;
  while (all > most) {
    const std::int64_t gone = std::min(all - most, rows_.front().count);
    all -= gone;
    rows_.front().count -= gone;
    if (rows_.front().count == 0) rows_.erase(rows_.begin());
  }
}

SavedState SavedStates::back_to(double time) {
  while (!rows_.empty() && rows_.back().newest.taken_at > time) {
    Row& row = rows_.back();
    const double later = row.count > 1 ? std::ceil((row.newest.taken_at - time) / row.time_step)
                                       : static_cast<double>(row.count);
    if (later >= static_cast<double>(row.count)) {
      rows_.pop_back();
      continue;
    }
    row.newest.work -= later * row.work_step;
    row.newest.taken_at -= later * row.time_step;
    row.count -= static_cast<std::int64_t>(later);
  }
  if (rows_.empty()) rows_ = {{}};
  return rows_.back().newest;
}

}  // namespace sim::fault
