// How far long work is, on stderr: in place on a terminal, else a line every ten seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace sim::command {

class Progress {
 public:
  // `noun`: "candidates". Nothing is shown if quiet.
  Progress(std::string noun, std::int64_t total, bool is_quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more is done. From any thread.
  void advance();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::string noun_;
  std::int64_t total_, done_ = 0;
  bool is_quiet_, is_terminal_, has_shown_ = false;
  Clock::time_point begun_at_ = Clock::now(), shown_at_ = begun_at_;
};

// "12 of 96 candidates, 3.2 /s, 26 s left"
std::string progress_text(const std::string& noun, std::int64_t done, std::int64_t total,
                          double seconds);

}  // namespace sim::command
