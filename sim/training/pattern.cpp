// Each kind of pattern gives its phases in order, up to where they end.
#include "sim/training/pattern.h"

#include <cmath>

namespace sim::training {
namespace {

class Phases {
 public:
  Phases(Picoseconds from, std::optional<Picoseconds> to, Picoseconds horizon)
      : from_(from), to_(to), horizon_(horizon) {}

  // `after` the beginning. Returns whether more can follow.
  bool add(Picoseconds after, double factor) {
    if (to_ && from_ + after >= *to_) return false;
    all_.push_back({from_ + after, factor});
    return true;
  }
  bool add_endless(Picoseconds after, double factor) {
    const bool is_beyond = from_ + after >= horizon_;
    return add(after, is_beyond ? 1 : factor) && !is_beyond;
  }
  std::vector<Phase> take() {
    if (to_) all_.push_back({*to_, 1});
    return std::move(all_);
  }

 private:
  Picoseconds from_;
  std::optional<Picoseconds> to_;
  Picoseconds horizon_;
  std::vector<Phase> all_;
};

void add(const Steady&, double factor, Phases& result) { result.add(0, factor); }

void add(const Periodic& p, double factor, Phases& result) {
  const Picoseconds every = to_picoseconds(p.every), lasts = to_picoseconds(p.lasts);
  for (Picoseconds at = 0; result.add_endless(at, factor); at += every) {
    if (!result.add_endless(at + lasts, 1)) return;
  }
}

void add(const Ramp& ramp, double factor, Phases& result) {
  const double rise = (factor - ramp.start) / ramp.steps;
  for (int i = 0; i < ramp.steps; ++i) {
    if (!result.add(to_picoseconds(ramp.over / ramp.steps * i), ramp.start + (i + 0.5) * rise))
      return;
  }
  result.add(to_picoseconds(ramp.over), factor);
}

void add(const OnOff& process, double factor, Phases& result) {
  DrawKey key = process.key;
  Picoseconds at = 0;
  const auto pass = [&](Seconds mean) {
    at += to_picoseconds(mean * -std::log(uniform(key)));
    ++key.index;
  };
  for (bool goes_on = true; goes_on;) {
    pass(process.off);
    if (!result.add_endless(at, factor)) return;
    pass(process.on);
    goes_on = result.add_endless(at, 1);
  }
}

void add(const Recorded& recorded, double, Phases& result) {
  for (const Phase& phase : *recorded) {
    if (!result.add(phase.at, phase.factor)) return;
  }
}

}  // namespace

std::vector<Phase> phases(const Pattern& pattern, double factor, Seconds from,
                          std::optional<Seconds> to, Picoseconds horizon) {
  std::optional<Picoseconds> end;
  if (to) end = to_picoseconds(*to);
  Phases result(to_picoseconds(from), end, horizon);
  std::visit([&](const auto& kind) { add(kind, factor, result); }, pattern);
  return result.take();
}

bool is_endless(const Pattern& pattern) {
  return std::holds_alternative<Periodic>(pattern) || std::holds_alternative<OnOff>(pattern);
}

double phases_per_second(const Pattern& pattern) {
  if (const auto* p = std::get_if<Periodic>(&pattern)) return 2 / p->every.value();
  if (const auto* p = std::get_if<OnOff>(&pattern)) return 2 / (p->on + p->off).value();
  return 0;
}

}  // namespace sim::training
