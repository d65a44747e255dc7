// A few processes on this machine that work in step, and their collectives over shared memory.
//
// Every process runs the same body; what one decides it tells the others with share(). Buffers go
// through a slot of each process in the shared memory, chunk by chunk; a slot has two halves, so
// that one barrier a chunk is enough. Sums are in the order of the ranks on every rank: results are
// the same bits everywhere.
//
// Waiting spins and yields. A process that is gone, or does not come within `patience`, ends the
// wait with TeamError: nothing hangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace calibrate::measure {

struct TeamError {
  std::string message;
};

class Team {
 public:
  static constexpr std::size_t slot_floats = std::size_t{1} << 18;  // 1 MiB, of a rank
  static constexpr int ranks_most = 64;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  void barrier();
  // The value of rank 0, on every rank.
  double share(double value);

  // As nccl-tests counts: `all` is the whole buffer, cut into equal parts where there are parts.
  void all_reduce(std::span<float> data);
  void all_gather(std::span<float> all);      // own part is in place
  void reduce_scatter(std::span<float> all);  // the sum of the own part comes in its place
  void all_to_all(std::span<const float> all, std::span<float> received);
  void broadcast(std::span<float> data);  // of rank 0
  // Blocks until the receiver took the message before; so two ranks may send to each other.
  // REQUIRES: at most slot_floats.
  void send(int to, std::span<const float> data);
  void receive(int from, std::span<float> data);

 private:
  friend void run_team(int, const std::function<void(Team&)>&);
  struct Shared;
  Team(Shared& shared, int rank, int ranks) : shared_(shared), rank_(rank), ranks_(ranks) {}

  float* half(int rank);
  template <class Condition>
  void wait(Condition is_met, const char* what);
  template <class Put, class Take>
  void in_chunks(std::size_t count, std::size_t chunk, Put put, Take take);

  Shared& shared_;
  int rank_, ranks_;
  std::uint64_t barriers_ = 0, chunks_ = 0;
};

// Runs `body` in `ranks` processes; this one is rank 0. Ends the others before it returns or
// throws. Throws TeamError if one cannot be started, fails, or is not there in time.
void run_team(int ranks, const std::function<void(Team&)>& body);

}  // namespace calibrate::measure
