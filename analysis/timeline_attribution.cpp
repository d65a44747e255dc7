// Replays each step with the durations that a choice of healed operations gives.
#include "analysis/timeline_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace analysis {
namespace {

// The operations of a worker in a step.
struct Run {
  int worker = 0;
  std::size_t first = 0, last = 0;
};

class Replay {
 public:
  explicit Replay(const Timeline& timeline);

  // The mean over all steps with those healed for which is_healed(operation). 0 where it is stuck.
  template <class IsHealed>
  Picoseconds iteration(IsHealed is_healed) {
    for (std::size_t i = 0; i < took_.size(); ++i) {
      const auto type = static_cast<std::size_t>(timeline_.operations[i].type);
      chosen_[i] = is_healed(timeline_.operations[i]) ? healed_[type] : took_[i];
    }
    Picoseconds sum = 0;
    for (const std::vector<Run>& step : steps_) sum += step_time(step);
    return sum / static_cast<Picoseconds>(steps_.size());
  }
  Picoseconds recorded() const;
  const std::optional<TimelineStuck>& stuck() const { return stuck_; }

 private:
  void measure();
  Picoseconds step_time(const std::vector<Run>& runs);
  bool advance(Run& run, Picoseconds& clock);
  std::size_t batch_end(const Run& run) const;

  const Timeline& timeline_;
  std::vector<std::vector<Run>> steps_;  // [step]
  std::vector<Picoseconds> took_;        // [operation]
  std::vector<Picoseconds> healed_;      // [type]
  std::vector<Picoseconds> chosen_;      // [operation] in this replay
  std::vector<char> has_come_;           // [operation] to its meeting
  std::vector<Picoseconds> latest_;      // [meeting] of those that have come
  std::vector<std::size_t> missing_;     // [meeting]
  std::optional<TimelineStuck> stuck_;
};

Replay::Replay(const Timeline& timeline) : timeline_(timeline) {
  steps_.resize(timeline.steps.size());
  const auto& all = timeline.operations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& runs = steps_[static_cast<std::size_t>(all[i].step)];
    if (runs.empty() || runs.back().worker != all[i].worker) runs.push_back({all[i].worker, i, i});
    runs.back().last = i + 1;
  }
  measure();
  chosen_.resize(all.size());
}

void Replay::measure() {
  const auto& all = timeline_.operations;
  for (const TimelineOperation& o : all) took_.push_back(o.lasted);
  for (const std::vector<int>& members : timeline_.meetings) {
    Picoseconds start = 0, end = INT64_MAX;
    for (const int m : members) {
      const TimelineOperation& o = all[static_cast<std::size_t>(m)];
      start = std::max(start, o.start);
      end = std::min(end, o.start + o.lasted);
    }
    const Picoseconds together = std::max<Picoseconds>(end - start, 0);
    for (const int m : members) took_[static_cast<std::size_t>(m)] = together;
  }
  std::vector<std::vector<Picoseconds>> of_type(timeline_.types.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    of_type[static_cast<std::size_t>(all[i].type)].push_back(took_[i]);
  }
  for (std::size_t t = 0; t < of_type.size(); ++t) {
    std::vector<Picoseconds>& times = of_type[t];
    const auto count = static_cast<Picoseconds>(times.size());
    std::sort(times.begin(), times.end());
    sim::Int128 sum = 0;
    for (const Picoseconds time : times) sum += time;
    const Picoseconds low = times[(times.size() - 1) / 2], high = times[times.size() / 2];
    healed_.push_back(timeline_.is_compute[t] ? static_cast<Picoseconds>(sum / count)
                                              : low + (high - low) / 2);
  }
}

Picoseconds Replay::recorded() const {
  Picoseconds sum = 0;
  for (const std::vector<Run>& runs : steps_) {
    Picoseconds start = INT64_MAX, end = 0;
    for (const Run& run : runs) {
      for (std::size_t i = run.first; i < run.last; ++i) {
        const TimelineOperation& o = timeline_.operations[i];
        start = std::min(start, o.start);
        end = std::max(end, o.start + o.lasted);
      }
    }
    sum += end - start;
  }
  return sum / static_cast<Picoseconds>(steps_.size());
}

std::size_t Replay::batch_end(const Run& run) const {
  std::size_t end = run.first + 1;
  const Picoseconds start = timeline_.operations[run.first].start;
  while (end < run.last && timeline_.operations[end].start == start) ++end;
  return end;
}

// Does what begins together, if all that it needs has come. Returns whether it did.
bool Replay::advance(Run& run, Picoseconds& clock) {
  const std::size_t batch = batch_end(run);
  bool is_ready = true;
  for (std::size_t i = run.first; i < batch; ++i) {
    const int meeting = timeline_.operations[i].meeting;
    if (meeting < 0) continue;
    const auto m = static_cast<std::size_t>(meeting);
    if (!std::exchange(has_come_[i], 1)) {
      latest_[m] = std::max(latest_[m], clock);
      --missing_[m];
    }
    is_ready &= missing_[m] == 0;
  }
  if (!is_ready) return false;
  Picoseconds end = clock;
  for (std::size_t i = run.first; i < batch; ++i) {
    const int meeting = timeline_.operations[i].meeting;
    Picoseconds start = clock, lasts = chosen_[i];
    if (meeting >= 0) {
      const auto m = static_cast<std::size_t>(meeting);
      start = latest_[m];
      for (const int other : timeline_.meetings[m]) {
        lasts = std::max(lasts, chosen_[static_cast<std::size_t>(other)]);
      }
    }
    end = std::max(end, start + lasts);
  }
  clock = end;
  run.first = batch;
  return true;
}

Picoseconds Replay::step_time(const std::vector<Run>& step) {
  std::vector<Run> runs = step;
  std::vector<Picoseconds> clocks(runs.size(), 0);
  has_come_.resize(timeline_.operations.size());
  latest_.resize(timeline_.meetings.size());
  missing_.resize(timeline_.meetings.size());
  for (const Run& run : runs) {
    for (std::size_t i = run.first; i < run.last; ++i) {
      has_come_[i] = 0;
      const int meeting = timeline_.operations[i].meeting;
      if (meeting < 0) continue;
      latest_[static_cast<std::size_t>(meeting)] = 0;
      missing_[static_cast<std::size_t>(meeting)] =
          timeline_.meetings[static_cast<std::size_t>(meeting)].size();
    }
  }
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      while (runs[r].first < runs[r].last && advance(runs[r], clocks[r])) goes_on = true;
    }
  }
  for (const Run& run : runs) {
    if (run.first == run.last || stuck_) continue;
    const TimelineOperation& o = timeline_.operations[run.first];
    const TimelineWorker& w = timeline_.workers[static_cast<std::size_t>(run.worker)];
    stuck_ = TimelineStuck{fmt::format(
        "data rank {}, stage {}, tensor rank {} waits in step {} for others to come to {}", w.data,
        w.stage, w.tensor, timeline_.steps[static_cast<std::size_t>(o.step)],
        timeline_.types[static_cast<std::size_t>(o.type)])};
  }
  return *std::max_element(clocks.begin(), clocks.end());
}

template <class IsPart>
HealedPart healed_part(Replay& replay, std::string what, IsPart is_part) {
  const Picoseconds without = replay.iteration(is_part);
  const Picoseconds alone =
      replay.iteration([&](const TimelineOperation& o) { return !is_part(o); });
  return {std::move(what), without, alone};
}

// One part for each rank that workers have in a dimension.
std::vector<HealedPart> by_rank(const Timeline& timeline, Replay& replay, const char* name,
                                int TimelineWorker::*rank) {
  std::set<int> ranks;
  for (const TimelineWorker& w : timeline.workers) ranks.insert(w.*rank);
  std::vector<HealedPart> result;
  for (const int one : ranks) {
    result.push_back(
        healed_part(replay, fmt::format("{} {}", name, one), [&](const TimelineOperation& o) {
          return timeline.workers[static_cast<std::size_t>(o.worker)].*rank == one;
        }));
  }
  return result;
}

void heal_slowest(Replay& replay, TimelineAttribution& result) {
  constexpr double share = 0.03;
  const std::size_t workers = result.workers.size();
  const auto count = static_cast<std::size_t>(std::max(1.0, share * static_cast<double>(workers)));
  std::vector<int> order(workers);
  for (std::size_t w = 0; w < workers; ++w) order[w] = static_cast<int>(w);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return result.workers[static_cast<std::size_t>(a)].alone >
           result.workers[static_cast<std::size_t>(b)].alone;
  });
  order.resize(count);
  const std::set<int> slowest(order.begin(), order.end());
  result.without_slowest =
      replay.iteration([&](const TimelineOperation& o) { return slowest.contains(o.worker); });
  result.slowest = std::move(order);
}

}  // namespace

std::variant<TimelineAttribution, TimelineStuck> attribute(const Timeline& timeline) {
  Replay replay(timeline);
  TimelineAttribution result;
  result.recorded = replay.recorded();
  result.replayed = replay.iteration([](const TimelineOperation&) { return false; });
  if (replay.stuck()) return *replay.stuck();
  result.ideal = replay.iteration([](const TimelineOperation&) { return true; });
  result.ranks = timeline.workers;
  for (std::size_t t = 0; t < timeline.types.size(); ++t) {
    result.types.push_back(healed_part(replay, timeline.types[t], [&](const TimelineOperation& o) {
      return o.type == static_cast<int>(t);
    }));
  }
  result.stages = by_rank(timeline, replay, "stage", &TimelineWorker::stage);
  result.data = by_rank(timeline, replay, "data rank", &TimelineWorker::data);
  for (std::size_t w = 0; w < timeline.workers.size(); ++w) {
    const TimelineWorker& one = timeline.workers[w];
    result.workers.push_back(healed_part(
        replay,
        fmt::format("data rank {}, stage {}, tensor rank {}", one.data, one.stage, one.tensor),
        [&](const TimelineOperation& o) { return o.worker == static_cast<int>(w); }));
  }
  heal_slowest(replay, result);
  return result;
}

}  // namespace analysis
