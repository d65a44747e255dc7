// The same work on many items, by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sim {

// At least 1, where it is not known.
inline int core_count() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Calls work(i) once for every i below `count`, each thread taking the next one when it is done.
// After the last call, throws what the first failing one threw; then the rest may be left out.
template <class Work>
void parallel_for(std::size_t count, int threads, Work work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> others;
  const std::size_t most = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t i = 1; i < most; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sim
