// Collectives of a team against sums by hand, over sizes that fill no, one and several chunks.
#include "calibrate/measure/team.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace calibrate::measure;

namespace {

// What a child finds wrong reaches rank 0 as a failed process.
void require(bool condition) {
  if (!condition) throw TeamError{"wrong"};
}

float value(int rank, std::size_t i) {
  return static_cast<float>(rank + 1) * static_cast<float>(i % 1000);
}

const std::vector<std::size_t> sizes{6, 6 * 1000, 6 * Team::slot_floats / 4 + 6};

}  // namespace

TEST_CASE("team: all-reduce of i, 2 i and 3 i -> 6 i on every rank") {
  for (const std::size_t size : sizes) {
    CHECK_NOTHROW(run_team(3, [size](Team& team) {
      std::vector<float> data(size);
      for (std::size_t i = 0; i < size; ++i) data[i] = value(team.rank(), i);
      team.all_reduce(data);
      for (std::size_t i = 0; i < size; ++i) {
        require(data[i] == 6 * static_cast<float>(i % 1000));
      }
    }));
  }
}

TEST_CASE("team: gathered, scattered, exchanged and broadcast parts are where they belong") {
  for (const std::size_t size : sizes) {
    CHECK_NOTHROW(run_team(2, [size](Team& team) {
      const std::size_t part = size / 2, own = static_cast<std::size_t>(team.rank()) * part;
      std::vector<float> data(size, -1), other(size);
      for (std::size_t i = 0; i < part; ++i) data[own + i] = value(team.rank(), i);
      team.all_gather(data);
      for (std::size_t i = 0; i < size; ++i) {
        require(data[i] == value(static_cast<int>(i / part), i % part));
      }
      team.reduce_scatter(data);  // both have the same: doubled
      for (std::size_t i = 0; i < part; ++i) {
        require(data[own + i] == 2 * value(team.rank(), i));
      }
      for (std::size_t i = 0; i < size; ++i) {
        data[i] = static_cast<float>(10 * team.rank()) + static_cast<float>(i / part);
      }
      team.all_to_all(data, other);  // what rank r meant for me: 10 r + me
      for (std::size_t i = 0; i < size; ++i) {
        require(other[i] == static_cast<float>(10 * (i / part)) + static_cast<float>(team.rank()));
      }
      team.broadcast(data);
      require(data[0] == 0 && data[size - 1] == 1);
    }));
  }
}

TEST_CASE("team: messages both ways, in order") {
  CHECK_NOTHROW(run_team(2, [](Team& team) {
    const int peer = 1 - team.rank();
    for (int i = 0; i < 10; ++i) {
      const std::vector<float> sent(100, static_cast<float>(10 * team.rank() + i));
      std::vector<float> received(100);
      team.send(peer, sent);
      team.receive(peer, received);
      require(received[99] == static_cast<float>(10 * peer + i));
    }
    require(team.share(team.rank() == 0 ? 42 : 0) == 42);
  }));
}

TEST_CASE("team: a process that fails ends the team with an error, not a wait") {
  CHECK_THROWS_AS(run_team(2,
                           [](Team& team) {
                             if (team.rank() == 1) throw TeamError{"on purpose"};
                             team.barrier();
                           }),
                  TeamError);
}
