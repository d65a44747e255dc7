// Processes over shared memory: barrier, mailboxes, collectives.
#include "calibrate/measure/team.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <vector>

#include "sim/base/invariant.h"

namespace calibrate::measure {
namespace {

constexpr double patience = 60;  // [s]
constexpr std::size_t cache_line = 64;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Team::Shared {
  struct alignas(cache_line) Counter {
    std::atomic<std::uint64_t> value{0};
  };
  struct alignas(cache_line) Mailbox {  // from one rank to another
    std::atomic<std::uint64_t> sent{0}, taken{0};
    std::size_t count = 0;
  };
  Counter arrived[ranks_most];
  Counter failed;
  double word = 0;
  Mailbox mail[ranks_most * ranks_most];

  // Behind this: a slot of each rank, then the contents of the mailboxes.
  float* slots() { return reinterpret_cast<float*>(this + 1); }
  float* slot(int rank) { return slots() + static_cast<std::size_t>(rank) * slot_floats; }
  float* letter(int ranks, int from, int to) {
    return slots() + static_cast<std::size_t>(ranks + from * ranks + to) * slot_floats;
  }
  static std::size_t bytes(int ranks) {
    const auto slots = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks + 1);
    return sizeof(Shared) + slots * slot_floats * sizeof(float);
  }
};

template <class Condition>
void Team::wait(Condition is_met, const char* what) {
  constexpr int spins = 2000, yields_between_looks = 1000;
  for (int i = 0; i < spins; ++i) {
    if (is_met()) return;
  }
  const double until = now() + patience;
  for (int i = 1; !is_met(); ++i) {
    sched_yield();
    if (i % yields_between_looks != 0) continue;
    if (shared_.failed.value.load() != 0) throw TeamError{"another process failed"};
    if (now() > until) {
      throw TeamError{fmt::format("rank {} waited {} s for {}", rank_, patience, what)};
    }
  }
}

void Team::barrier() {
  ++barriers_;
  shared_.arrived[rank_].value.store(barriers_, std::memory_order_release);
  for (int other = 0; other < ranks_; ++other) {
    wait([&] { return shared_.arrived[other].value.load(std::memory_order_acquire) >= barriers_; },
         "the others");
  }
}

double Team::share(double value) {
  if (rank_ == 0) shared_.word = value;
  barrier();
  const double told = shared_.word;
  barrier();
  return told;
}

float* Team::half(int rank) { return shared_.slot(rank) + chunks_ % 2 * (slot_floats / 2); }

// `put` writes a chunk into the own half, `take` reads those of all.
template <class Put, class Take>
void Team::in_chunks(std::size_t count, std::size_t chunk, Put put, Take take) {
  for (std::size_t from = 0; from < count; from += chunk) {
    const std::size_t size = std::min(chunk, count - from);
    put(from, size);
    barrier();
    take(from, size);
    ++chunks_;
  }
}

void Team::all_reduce(std::span<float> data) {
  in_chunks(
      data.size(), slot_floats / 2,
      [&](std::size_t from, std::size_t size) {
        std::copy_n(data.data() + from, size, half(rank_));
      },
      [&](std::size_t from, std::size_t size) {
        float* sum = data.data() + from;
        std::copy_n(half(0), size, sum);
        for (int other = 1; other < ranks_; ++other) {
          const float* part = half(other);
          for (std::size_t i = 0; i < size; ++i) sum[i] += part[i];
        }
      });
}

void Team::all_gather(std::span<float> all) {
  const std::size_t part = all.size() / static_cast<std::size_t>(ranks_);
  in_chunks(
      part, slot_floats / 2,
      [&](std::size_t from, std::size_t size) {
        std::copy_n(all.data() + static_cast<std::size_t>(rank_) * part + from, size, half(rank_));
      },
      [&](std::size_t from, std::size_t size) {
        for (int other = 0; other < ranks_; ++other) {
          if (other == rank_) continue;
          std::copy_n(half(other), size,
                      all.data() + static_cast<std::size_t>(other) * part + from);
        }
      });
}

void Team::reduce_scatter(std::span<float> all) {
  const auto ranks = static_cast<std::size_t>(ranks_), own = static_cast<std::size_t>(rank_);
  const std::size_t part = all.size() / ranks;
  const std::size_t chunk = slot_floats / 2 / ranks;
  in_chunks(
      part, chunk,
      [&](std::size_t from, std::size_t size) {
        for (std::size_t other = 0; other < ranks; ++other) {
          std::copy_n(all.data() + other * part + from, size, half(rank_) + other * chunk);
        }
      },
      [&](std::size_t from, std::size_t size) {
        float* sum = all.data() + own * part + from;
        std::copy_n(half(0) + own * chunk, size, sum);
        for (int other = 1; other < ranks_; ++other) {
          const float* term = half(other) + own * chunk;
          for (std::size_t i = 0; i < size; ++i) sum[i] += term[i];
        }
      });
}

void Team::all_to_all(std::span<const float> all, std::span<float> received) {
  const auto ranks = static_cast<std::size_t>(ranks_), own = static_cast<std::size_t>(rank_);
  const std::size_t part = all.size() / ranks;
  const std::size_t chunk = slot_floats / 2 / ranks;
  in_chunks(
      part, chunk,
      [&](std::size_t from, std::size_t size) {
        for (std::size_t other = 0; other < ranks; ++other) {
          std::copy_n(all.data() + other * part + from, size, half(rank_) + other * chunk);
        }
      },
      [&](std::size_t from, std::size_t size) {
        for (std::size_t other = 0; other < ranks; ++other) {
          std::copy_n(half(static_cast<int>(other)) + own * chunk, size,
                      received.data() + other * part + from);
        }
      });
}

void Team::broadcast(std::span<float> data) {
  in_chunks(
      data.size(), slot_floats / 2,
      [&](std::size_t from, std::size_t size) {
        if (rank_ == 0) std::copy_n(data.data() + from, size, half(0));
      },
      [&](std::size_t from, std::size_t size) {
        if (rank_ != 0) std::copy_n(half(0), size, data.data() + from);
      });
}

void Team::send(int to, std::span<const float> data) {
  sim::invariant(data.size() <= slot_floats, "a message fits into a slot");
  Shared::Mailbox& box = shared_.mail[rank_ * ranks_ + to];
  wait([&] { return box.taken.load(std::memory_order_acquire) == box.sent.load(); },
       "the message before to be taken");
  std::copy(data.begin(), data.end(), shared_.letter(ranks_, rank_, to));
  box.count = data.size();
  box.sent.store(box.sent.load() + 1, std::memory_order_release);
}

void Team::receive(int from, std::span<float> data) {
  Shared::Mailbox& box = shared_.mail[from * ranks_ + rank_];
  wait([&] { return box.sent.load(std::memory_order_acquire) > box.taken.load(); }, "a message");
  sim::invariant(box.count == data.size(), "sender and receiver agree on the size");
  std::copy_n(shared_.letter(ranks_, from, rank_), data.size(), data.begin());
  box.taken.store(box.taken.load() + 1, std::memory_order_release);
}

namespace {

[[noreturn]] void be_child(pid_t parent, Team& team, const std::function<void(Team&)>& body,
                           std::atomic<std::uint64_t>& failed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGINT, SIG_IGN);  // rank 0 decides what an interrupt means
  int status = 0;
  try {
    body(team);
  } catch (...) {
    failed = 1;
    status = 1;
  }
  _exit(status);
}

// Waits for the children; those that are not needed any more are ended first.
bool all_ended_well(const std::vector<pid_t>& children, bool kills) {
  bool is_well = true;
  for (const pid_t child : children) {
    if (kills) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    is_well = is_well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return is_well;
}

}  // namespace

void run_team(int ranks, const std::function<void(Team&)>& body) {
  sim::invariant(ranks >= 1 && ranks <= Team::ranks_most, "a team has 1 to 64 ranks");
  const std::size_t bytes = Team::Shared::bytes(ranks);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw TeamError{fmt::format("no {} bytes of shared memory: {}", bytes, std::strerror(errno))};
  }
  auto* shared = new (memory) Team::Shared;
  const pid_t parent = getpid();
  std::vector<pid_t> children;
  const auto finish = [&](bool kills) {
    const bool is_well = all_ended_well(children, kills);
    munmap(memory, bytes);
    return is_well;
  };
  for (int rank = 1; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      Team team(*shared, rank, ranks);
      be_child(parent, team, body, shared->failed.value);
    }
    if (child < 0) {
      const std::string why = std::strerror(errno);
      finish(true);
      throw TeamError{"cannot start a process: " + why};
    }
    children.push_back(child);
  }
  try {
    Team team(*shared, 0, ranks);
    body(team);
  } catch (...) {
    finish(true);
    throw;
  }
  if (!finish(false)) throw TeamError{"a process of the team failed"};
}

}  // namespace calibrate::measure
