// Which streams depend on each other, and how often each part keeps its state.
#include <algorithm>
#include <numeric>

#include "sim/network/repetition.h"

namespace sim::network {
namespace {

class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t find(std::int32_t i) {
    while (parent_[static_cast<std::size_t>(i)] != i) {
      std::int32_t& parent = parent_[static_cast<std::size_t>(i)];
      parent = parent_[static_cast<std::size_t>(parent)];
      i = parent;
    }
    return i;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = find(a);
    b = find(b);
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace

// Ended, or waiting for something that is not near.
bool Repetition::stands_still(std::int32_t stream) const {
  const State& s = run_.state(stream);
  if (has_ended(stream)) return true;
  if (s.is_running) return false;
  constexpr std::int32_t near = 4;  // such parts of the target's program
  return any_target(run_.system_, stream, run_.step_of(stream), [&](const Target& t) {
    const auto steps = static_cast<std::int32_t>(run_.program(t.stream).steps.size());
    return t.needed - run_.state(t.stream).position > steps / near;
  });
}

// How often the part's state is kept: whenever its longest program has gone on by a period.
void Repetition::pace(Part& part) {
  std::size_t most = 0;
  for (const std::int32_t stream : part.streams) {
    const std::size_t steps = run_.program(stream).steps.size();
    if (steps <= most) continue;
    most = steps;
    part.pacer = stream;
  }
  const std::int32_t program = run_.system_.streams[static_cast<std::size_t>(part.pacer)].program;
  part.stride = middle_period(contents(program));
  part.is_over = part.stride == 0;
}

const ProgramNames& Repetition::names_of(std::size_t stream) {
  const auto& programs = run_.system_.programs;
  if (names_.empty()) names_ = std::vector<ProgramNames>(programs.begin(), programs.end());
  return names_[static_cast<std::size_t>(run_.system_.streams[stream].program)];
}

// Members of the stream's slots.
template <class Visit>
void Repetition::each_member(std::size_t stream, Visit visit) {
  const System& system = run_.system_;
  for (const std::int32_t k : names_of(stream).slots) {
    const Slot& slot = system.slot_of(static_cast<std::int32_t>(stream), k);
    for (const Member& member : system.members_of(slot)) visit(member);
  }
}

// Resources that the stream loads or reserves.
template <class Visit>
void Repetition::each_use(std::size_t stream, Visit visit) {
  const System& system = run_.system_;
  const auto each = [&](std::int32_t footprint) {
    for (const Coefficient& c : system.coefficients_of(footprint)) visit(c.resource);
  };
  for (const std::int32_t f : names_of(stream).footprints) {
    each(system.streams[stream].first_footprint + f);
  }
  each_member(stream, [&](const Member& member) {
    if (member.footprint >= 0) each(member.footprint);
  });
}

// Makes a part of all that goes on and is joined by waits or resources.
void Repetition::join(const std::vector<char>& is_still) {
  const std::size_t count = is_still.size();
  Sets sets(count);
  for (std::size_t s = 0; s < count; ++s) {
    if (is_still[s]) continue;
    const auto stream = static_cast<std::int32_t>(s);
    each_member(s, [&](const Member& member) {
      if (!is_still[static_cast<std::size_t>(member.stream)]) sets.join(stream, member.stream);
    });
    each_use(s, [&](std::int32_t resource) {
      std::int32_t& first = user_[static_cast<std::size_t>(resource)];
      if (first < 0) first = stream;
      sets.join(stream, first);
    });
  }
  std::vector<std::int32_t> part_of_root(count, -1);
  for (std::size_t s = 0; s < count; ++s) {
    if (is_still[s]) continue;
    const std::int32_t root = sets.find(static_cast<std::int32_t>(s));
    std::int32_t& p = part_of_root[static_cast<std::size_t>(root)];
    if (p < 0) {
      p = static_cast<std::int32_t>(parts_.size());
      parts_.emplace_back();
    }
    Part& part = parts_[static_cast<std::size_t>(p)];
    part_of_[s] = p;
    index_of_[s] = static_cast<std::int32_t>(part.streams.size());
    part.streams.push_back(static_cast<std::int32_t>(s));
  }
}

void Repetition::group() {
  const System& system = run_.system_;
  const std::size_t count = system.streams.size();
  std::vector<char> is_still(count);
  for (std::size_t s = 0; s < count; ++s)
    is_still[s] = stands_still(static_cast<std::int32_t>(s)) ? 1 : 0;
  parts_.clear();
  due_.clear();
  std::fill(part_of_.begin(), part_of_.end(), -1);
  user_.assign(system.capacity.size(), -1);
  join(is_still);
  for (std::size_t s = 0; s < count; ++s) {
    const auto see = [&](std::int32_t inside) {
      const std::int32_t p = inside < 0 ? -1 : part_of_[static_cast<std::size_t>(inside)];
      if (p < 0 || p == part_of_[s]) return;
      auto& outside = parts_[static_cast<std::size_t>(p)].outside;
      const auto stream = static_cast<std::int32_t>(s);
      if (outside.empty() || outside.back() != stream) outside.push_back(stream);
    };
    each_member(s, [&](const Member& member) {
      see(member.stream);
      const std::int32_t p = part_of_[s];
      if (p < 0 || part_of_[static_cast<std::size_t>(member.stream)] == p) return;
      parts_[static_cast<std::size_t>(p)].targets.push_back(member.stream);
    });
    each_use(s, [&](std::int32_t resource) { see(user_[static_cast<std::size_t>(resource)]); });
  }
  for (std::size_t o = 0; o < system.observed.size(); ++o) {
    const std::int32_t first = user_[static_cast<std::size_t>(system.observed[o])];
    if (first < 0) continue;
    const std::int32_t p = part_of_[static_cast<std::size_t>(first)];
    parts_[static_cast<std::size_t>(p)].observed.push_back(static_cast<std::int32_t>(o));
  }
  for (Part& part : parts_) pace(part);
}

}  // namespace sim::network
