// Rows of checkpoints do as single ones would.
#include "sim/fault/saved_states.h"

#include <random>

#include "tests/approximately.h"

using namespace sim;
using namespace sim::fault;

TEST_CASE("saved states: back to the newest from before, or to the start") {
  SavedStates states;
  CHECK(states.back_to(5).work == 0);
  // Work 10, 20, 30 saved at 12, 24, 36 s; then 33 in memory.
  states.add_row({30, 36}, 3, 10, 12);
  states.add({33, 40, SavedState::Place::memory});
  CHECK(states.back_to(50).work == 33);
  states.forget_memory();
  states.forget_memory();
  CHECK(states.back_to(50).work == 30);
  CHECK(states.back_to(35.9).work == 20);
  CHECK(states.back_to(36).work == 20);
  CHECK(states.back_to(24).work == 20);
  CHECK(states.back_to(23).work == 10);
  CHECK(states.back_to(11).work == 0);
  // The newest two of these are at 24 and 36 s, and nothing is left of the start.
  states.add_row({30, 36}, 3, 10, 12);
  states.keep(2);
  CHECK(states.back_to(24).work == 20);
  CHECK(states.back_to(23).work == 0);
  CHECK(states.back_to(23).taken_at == 0);
}

TEST_CASE("saved states: 200 random courses, in rows and one by one") {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    SavedStates rows, single;
    double now = 0;
    for (int step = 0; step < 30; ++step) {
      const auto count = static_cast<int>(random() % 5) + 1;
      rows.add_row({now + 4 * count, now + 8 * count}, count, 4, 8);
      for (int k = 1; k <= count; ++k) single.add({now + 4 * k, now + 8 * k});
      now += 8 * count;
      if (random() % 3 == 0) {
        const auto most = static_cast<int>(random() % 9) + 1;
        rows.keep(most);
        single.keep(most);
      }
      if (random() % 2 == 0) continue;
      const double time = now - static_cast<double>(random() % 100);
      const SavedState a = rows.back_to(time), b = single.back_to(time);
      CHECK(a.work == b.work);
      CHECK(a.taken_at == b.taken_at);
    }
  }
}
