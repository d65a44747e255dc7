// States of parts, compared with states before.
#include "sim/network/repetition.h"

#include <algorithm>
#include <map>

namespace sim::network {
namespace {

constexpr std::int32_t periods_min = 40;  // of the longest program; with fewer, looking costs more
constexpr std::int32_t groupings = 8;     // of an iteration
constexpr std::size_t snapshots_max = 8;  // periods of so many strides are found
constexpr std::int32_t states_kept_max = 200;  // then the part is given up until the next grouping

}  // namespace

// The smallest p such that the middle third of the sequence repeats after p; 0: there is none.
std::int32_t Repetition::middle_period(const std::vector<std::int32_t>& sequence) {
  const std::size_t first = sequence.size() / 3, count = sequence.size() - 2 * first;
  const std::int32_t* middle = sequence.data() + first;
  // Knuth, Morris and Pratt: the longest border of every prefix.
  std::vector<std::size_t> border(count + 1, 0);
  for (std::size_t i = 1, k = 0; i < count; ++i) {
    while (k > 0 && middle[i] != middle[k]) k = border[k];
    if (middle[i] == middle[k]) ++k;
    border[i + 1] = k;
  }
  const std::size_t period = count - border[count];
  return 2 * period <= count ? static_cast<std::int32_t>(period) : 0;
}

void Repetition::begin_iteration() {
  parts_.clear();
  due_.clear();
  longest_ = -1;
  const System& system = run_.system_;
  std::size_t most = 0;
  for (std::size_t s = 0; s < system.streams.size(); ++s) {
    const std::size_t steps = system.program_of(static_cast<std::int32_t>(s)).steps.size();
    if (steps > most) {
      most = steps;
      longest_ = static_cast<std::int32_t>(s);
    }
  }
  if (longest_ >= 0) {
    const std::int32_t program = system.streams[static_cast<std::size_t>(longest_)].program;
    const std::int32_t period = middle_period(contents(program));
    if (period == 0 || static_cast<std::int32_t>(most) < periods_min * period) longest_ = -1;
  }
  group_at_ = static_cast<std::int32_t>(most) / groupings;
  part_of_.assign(system.streams.size(), -1);
  index_of_.assign(system.streams.size(), -1);
}

// Equal numbers for steps that do the same, apart from how far others must have come.
const std::vector<std::int32_t>& Repetition::contents(std::int32_t program) {
  contents_.resize(run_.system_.programs.size());
  std::vector<std::int32_t>& result = contents_[static_cast<std::size_t>(program)];
  const Program& p = run_.system_.programs[static_cast<std::size_t>(program)];
  if (!result.empty() || p.steps.empty()) return result;
  std::map<std::vector<std::int64_t>, std::int32_t> numbers;
  std::vector<std::int64_t> key;
  for (const Step& step : p.steps) {
    const auto place = static_cast<std::int32_t>(&step - p.steps.data());
    key = {step.lag,  step.work,       step.weight,    step.reserve,
           step.kind, step.wait_count, step.use_count, p.is_accounted(place)};
    for (std::int32_t w = step.first_wait; w < step.first_wait + step.wait_count; ++w) {
      const Wait& wait = p.waits[static_cast<std::size_t>(w)];
      key.insert(key.end(), {wait.slot, wait.reserves});
    }
    for (std::int32_t u = step.first_use; u < step.first_use + step.use_count; ++u) {
      const StepUse& use = p.uses[static_cast<std::size_t>(u)];
      key.insert(key.end(), {use.footprint, use.amount});
    }
    for (std::int32_t i = step.first_part; i < step.first_part + step.part_count; ++i) {
      const network::Part& part = p.parts[static_cast<std::size_t>(i)];
      key.insert(key.end(), {part.kind, part.work});
    }
    result.push_back(
        numbers.try_emplace(key, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  return result;
}

void Repetition::forget() {
  for (Part& part : parts_) {
    part.snapshots.clear();
    part.log.clear();
  }
  due_.clear();
}

void Repetition::ended(std::int32_t stream, std::int32_t step, Picoseconds started_at) {
  const std::int32_t p = part_of_[static_cast<std::size_t>(stream)];
  if (p < 0) return;
  Part& part = parts_[static_cast<std::size_t>(p)];
  if (part.is_over) return;
  part.log.push_back({stream, step, started_at, run_.now_});
  if (stream == part.pacer && (step + 1) % part.stride == 0) due_.push_back(p);
}

bool Repetition::look(Picoseconds limit) {
  if (longest_ < 0) return false;
  bool has_jumped = false;
  for (const std::int32_t p : due_) {
    Part& part = parts_[static_cast<std::size_t>(p)];
    if (!part.is_over && examine(part, limit)) has_jumped = true;
  }
  due_.clear();
  const std::int32_t position = run_.state(longest_).position;
  if (position < group_at_) return has_jumped;
  const auto steps = static_cast<std::int32_t>(run_.program(longest_).steps.size());
  group_at_ = position + std::max(steps / groupings, 1);
  if (group_at_ < steps) group();
  return has_jumped;
}

Repetition::Snapshot Repetition::snapshot(const Part& part) {
  Snapshot result;
  result.at = run_.now_;
  result.events = part.log.size();
  std::uint64_t hash = 1;
  for (const std::int32_t stream : part.streams) {
    const State& s = run_.state(stream);
    Picoseconds due = -1;
    Int128 remaining = 0;
    if (s.is_running) {
      if (run_.sharing_.in_progress(stream)) {
        remaining = run_.sharing_.remaining(stream, run_.now_);
      } else {
        due = run_.heap_.at(stream) - run_.now_;
      }
      hash = engine::mix(hash ^ static_cast<std::uint64_t>(due));
      hash = engine::mix(hash ^ static_cast<std::uint64_t>(remaining));
    }
    hash = engine::mix(hash + static_cast<std::uint64_t>(s.unmet));
    result.states.push_back(s);
    result.due.push_back(due);
    result.remaining.push_back(remaining);
    result.times.push_back(run_.outcome_.times[static_cast<std::size_t>(stream)]);
  }
  for (const std::int32_t o : part.observed) {
    result.loads.push_back(run_.sharing_.load(run_.system_.observed[static_cast<std::size_t>(o)]));
  }
  for (const auto* streams : {&part.outside, &part.targets}) {
    for (const std::int32_t s : *streams) {
      result.still.push_back(run_.state(s).position);
      result.still.push_back(run_.state(s).unmet);
    }
  }
  result.hash = hash;
  return result;
}

bool Repetition::examine(Part& part, Picoseconds limit) {
  Snapshot now = snapshot(part);
  for (auto before = part.snapshots.rbegin(); before != part.snapshots.rend(); ++before) {
    if (before->hash != now.hash || before->at == now.at) continue;
    if (!is_repeated(part, *before, now)) continue;
    const std::int64_t times = repeats(part, *before, now, limit);
    if (times < 1) continue;
    jump(part, *before, now, times);
    part.is_over = true;
    part.snapshots.clear();
    part.log.clear();
    return true;
  }
  part.snapshots.push_back(std::move(now));
  if (part.snapshots.size() > snapshots_max) part.snapshots.pop_front();
  if (++part.kept > states_kept_max) part.is_over = true;
  return false;
}

// Whether `b` is `a`, later. What a stream that was at the same point did must be the same.
bool Repetition::is_shifted(std::int32_t stream, const State& a, const State& b, Picoseconds by) {
  if (a.unmet != b.unmet || a.met_slot != b.met_slot || a.is_running != b.is_running) return false;
  if (a.position == b.position) {
    return !a.is_running && a.met_at == b.met_at && a.met_started_at == b.met_started_at;
  }
  const auto steps = static_cast<std::int32_t>(run_.program(stream).steps.size());
  if (b.position == steps || a.is_flowing != b.is_flowing || a.is_parked || b.is_parked) {
    return false;
  }
  return content(stream, a.position) == content(stream, b.position) &&
         a.previous_end + by == b.previous_end && a.started_at + by == b.started_at &&
         a.ended_started_at + by == b.ended_started_at && a.met_at + by == b.met_at &&
         (a.met_slot < 0 || a.met_started_at + by == b.met_started_at);
}

bool Repetition::is_repeated(const Part& part, const Snapshot& before, const Snapshot& now) {
  if (before.due != now.due || before.remaining != now.remaining || before.loads != now.loads ||
      before.still != now.still) {
    return false;
  }
  for (std::size_t i = 0; i < part.streams.size(); ++i) {
    if (!is_shifted(part.streams[i], before.states[i], now.states[i], now.at - before.at)) {
      return false;
    }
  }
  return true;
}

}  // namespace sim::network
