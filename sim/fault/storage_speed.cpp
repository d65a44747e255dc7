// From change to change, each found when it is reached.
#include "sim/fault/storage_speed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/invariant.h"

namespace sim::fault {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

StorageSpeed::StorageSpeed(const std::vector<Slowness>& slowness, const Draws& draws, double end)
    : slowness_(slowness), draws_(draws), end_(end), changes_(slowness.size()) {}

StorageSpeed::State StorageSpeed::drawn(std::size_t number, const Slowness::OnOff& course,
                                        double since) {
  std::vector<double>& changes = changes_[number];
  Draws draws = draws_;
  draws.seed += course.seed - 1;
  while (changes.empty() || changes.back() <= since) {
    const double mean = (changes.size() % 2 == 0 ? course.off : course.on).value();
    const double last = changes.empty() ? 0 : changes.back();
    changes.push_back(
        last + mean * -std::log(draws.uniform(Draws::What::storage, number, changes.size())));
  }
  const auto next = std::upper_bound(changes.begin(), changes.end(), since);
  const bool is_on = (next - changes.begin()) % 2 == 1;
  return {is_on ? slowness_[number].share : 1, *next};
}

// `until` counts from `from` until the end.
StorageSpeed::State StorageSpeed::at(std::size_t number, double time) {
  const Slowness& slow = slowness_[number];
  const double from = slow.from.value(), end = slow.to ? slow.to->value() : never;
  if (time < from) return {1, from};
  if (time >= end) return {1, never};
  const double since = time - from;
  State result{slow.share, never};
  if (const auto* periodic = std::get_if<Slowness::Periodic>(&slow.course)) {
    const double every = periodic->every.value(), lasts = periodic->lasts.value();
    const double begun = std::floor(since / every) * every;
    const bool is_on = since < begun + lasts;
    result = {is_on ? slow.share : 1, begun + (is_on ? lasts : every)};
  } else if (const auto* random = std::get_if<Slowness::OnOff>(&slow.course)) {
    result = drawn(number, *random, since);
  } else if (const auto* recorded = std::get_if<Slowness::Recorded>(&slow.course)) {
    const auto next = std::upper_bound(recorded->at.begin(), recorded->at.end(), Seconds(since));
    const auto passed = next - recorded->at.begin();
    result.share = passed > 0 ? recorded->share[static_cast<std::size_t>(passed - 1)] : 1;
    if (next != recorded->at.end()) result.until = next->value();
  }
  // Rounding must not bring time to a stop.
  result.until = std::max(from + result.until, std::nextafter(time, never));
  return {result.share, std::min(result.until, end)};
}

StorageSpeed::State StorageSpeed::at(double time) {
  State all{1, never};
  for (std::size_t i = 0; i < slowness_.size(); ++i) {
    const State one = at(i, time);
    all.share *= one.share;
    all.until = std::min(all.until, one.until);
  }
  return all;
}

double StorageSpeed::takes(double start, double seconds, double room) {
  if (slowness_.empty() || room == never) return seconds;
  double left = seconds, now = start;
  while (now < end_) {
    const State state = at(now);
    const double speed = std::min(1.0, state.share * room);
    invariant(speed > 0, "a storage that stands still");
    if (left <= speed * (state.until - now)) return now + left / speed - start;
    left -= speed * (state.until - now);
    now = state.until;
  }
  return never;
}

}  // namespace sim::fault
