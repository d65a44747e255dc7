// Durations of a lane's operators with draws, and what samples say of more.
#include "sim/training/jitter.h"

#include <cmath>

#include "sim/base/random.h"
#include "tests/approximately.h"

using namespace sim;
using namespace sim::training;

namespace {

Jitter jitter(double device, double operation) {
  Jitter result;
  result.device = device;
  result.operation = operation;
  return result;
}

constexpr Picoseconds second = 1'000'000'000'000;

}  // namespace

TEST_CASE("jitter: none -> every operator takes its own duration, whoever waits") {
  LaneJitter lane(jitter(0, 0), {0, 1, 2});
  CHECK(lane.next(5) == 5);
  CHECK(lane.next(7) == 7);
  lane.meet();
  CHECK(lane.next(11) == 11);
}

TEST_CASE("jitter: factors have mean 1, and the deviations asked for") {
  constexpr int n = 20'000;
  double sum = 0, squares = 0;
  for (int rank = 0; rank < n; ++rank) {
    const double f = 1e-12 * static_cast<double>(LaneJitter(jitter(0.02, 0), {rank}).next(second));
    sum += f;
    squares += (f - 1) * (f - 1);
  }
  CHECK(std::abs(sum / n - 1) < 4 * 0.02 / std::sqrt(n));
  CHECK(std::sqrt(squares / n) == approximately(0.02, 0.03));
  // 100 operators of 1 s with 3 % each: 100 s with 0.3 %.
  sum = squares = 0;
  for (int rank = 0; rank < 1000; ++rank) {
    LaneJitter lane(jitter(0, 0.03), {rank});
    Picoseconds total = 0;
    for (int i = 0; i < 100; ++i) total += lane.next(second);
    const double f = 1e-14 * static_cast<double>(total);
    sum += f;
    squares += (f - 1) * (f - 1);
  }
  CHECK(std::abs(sum / 1000 - 1) < 4 * 0.003 / std::sqrt(1000.0));
  CHECK(std::sqrt(squares / 1000) == approximately(0.003, 0.1));
}

TEST_CASE("jitter: ranks in lockstep -> between two meetings as long as the slowest of them") {
  const Jitter both = jitter(0.02, 0.05);
  LaneJitter group(both, {3, 4, 5});
  std::vector<LaneJitter> alone = {{both, {3}}, {both, {4}}, {both, {5}}};
  for (const int operators : {1, 4, 9}) {
    Picoseconds together = 0, slowest = 0;
    for (int i = 0; i < operators; ++i) {
      const Picoseconds step = group.next(second);
      CHECK(step >= 0);
      together += step;
    }
    for (LaneJitter& lane : alone) {
      Picoseconds own = 0;
      for (int i = 0; i < operators; ++i) own += lane.next(second);
      slowest = std::max(slowest, own);
      lane.meet();
    }
    group.meet();
    CHECK(together == slowest);
  }
}

TEST_CASE("jitter: beyond the samples -> their deviation times the difference of maxima") {
  // Deviation of {-10, 10} x 32 around their mean: 10 ms * sqrt(64/63).
  const Picoseconds ms = 1'000'000'000;
  std::vector<Picoseconds> samples;
  for (int i = 0; i < 32; ++i) {
    samples.push_back(second - 10 * ms);
    samples.push_back(second + 10 * ms);
  }
  CHECK(beyond_samples(samples, 64) == 0);
  const double expected = 10e9 * std::sqrt(64.0 / 63) * (2.5846924742431 - 2.3366910755776);
  CHECK(static_cast<double>(beyond_samples(samples, 128)) == approximately(expected, 1e-9));
  CHECK(expected == approximately(2.48e9, 0.01));
  CHECK(beyond_samples({7, 7, 7}, 1000) == 0);
}
