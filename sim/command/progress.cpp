// Rate so far, and what it means for the rest.
#include "sim/command/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sim::command {

namespace {

std::string left_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_text(const std::string& noun, std::int64_t done, std::int64_t total,
                          double seconds) {
  std::string text = fmt::format("{} of {} {}", done, total, noun);
  if (done == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  return text + fmt::format(", {:.3g} /s, {} left", rate,
                            left_text(static_cast<double>(total - done) / rate));
}

Progress::Progress(std::string noun, std::int64_t total, bool is_quiet)
    : noun_(std::move(noun)),
      total_(total),
      is_quiet_(is_quiet),
      is_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (is_terminal_ && has_shown_) fmt::print(stderr, "\n");
}

void Progress::advance() {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (is_quiet_) return;
  const auto now = Clock::now();
  const auto pause = is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10);
  if (now - shown_at_ < pause) return;
  shown_at_ = now;
  has_shown_ = true;
  const double seconds = std::chrono::duration<double>(now - begun_at_).count();
  const std::string text = progress_text(noun_, done_, total_, seconds);
  fmt::print(stderr, "{}{}{}", is_terminal_ ? "\r\033[K" : "", text, is_terminal_ ? "" : "\n");
}

}  // namespace sim::command
