// Stragglers healed one at a time, and one kind at a time; lengths of documents beside them.
#include "sim/command/attribution.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/invariant.h"
#include "sim/base/units.h"
#include "sim/command/heal_lengths.h"
#include "sim/command/load.h"

namespace sim::command {
namespace {

using scenario::Straggler;

bool is_slow(const Straggler& s) { return s.compute || s.memory || s.link || s.host || s.slowdown; }

std::string course_label(const Straggler& s) {
  using scenario::StragglerTrace;
  std::string text;
  if (const auto* p = std::get_if<Straggler::Periodic>(&s.course)) {
    text = fmt::format(", every {} for {}", to_text(p->every), to_text(p->lasts));
  } else if (const auto* ramp = std::get_if<Straggler::Ramp>(&s.course)) {
    text = fmt::format(", over {}", to_text(ramp->over));
  } else if (const auto* random = std::get_if<Straggler::Random>(&s.course)) {
    text = fmt::format(", on {} off {}", to_text(random->on), to_text(random->off));
  } else if (const auto* trace = std::get_if<StragglerTrace>(&s.course)) {
    text = ", " + trace->file;
  }
  if (s.drawn) text += ", drawn";
  return text;
}

std::string label(const Straggler& s) {
  std::string text = s.rank ? fmt::format("rank {}", *s.rank) : s.part;
  const char* between = ": ";
  const auto add = [&](const std::string& what) {
    text += between + what;
    between = ", ";
  };
  const std::pair<const char*, const std::optional<double>*> shares[] = {
      {"compute", &s.compute}, {"memory", &s.memory}, {"link", &s.link}, {"host", &s.host}};
  for (const auto& [name, share] : shares) {
    if (*share) add(fmt::format("{} {:g} %", name, **share * 100));
  }
  if (s.slowdown) add(fmt::format("slowdown {:g}", *s.slowdown));
  if (s.from.value() > 0) add("from " + to_text(s.from));
  if (s.to) add("to " + to_text(*s.to));
  return text + course_label(s);
}

struct Kind {
  const char* name;
  std::optional<double> Straggler::*member;
};
constexpr Kind kinds[] = {{"all that is slow in compute", &Straggler::compute},
                          {"all that is slow in memory", &Straggler::memory},
                          {"all that is slow in links", &Straggler::link},
                          {"all hosts that are slow", &Straggler::host},
                          {"all devices that are slow", &Straggler::slowdown}};

class Healer {
 public:
  explicit Healer(const scenario::Scenario& scenario) : scenario_(scenario) {}

  // Nothing where the job cannot be run; why is in failure().
  std::optional<std::int64_t> iteration(std::vector<Straggler> stragglers);
  std::variant<Attribution, training::Stuck, training::TooLarge> failure() {
    return std::move(*failure_);
  }

 private:
  scenario::Scenario scenario_;
  std::optional<std::variant<Attribution, training::Stuck, training::TooLarge>> failure_;
};

std::optional<std::int64_t> Healer::iteration(std::vector<Straggler> stragglers) {
  std::erase_if(stragglers, [](const Straggler& s) { return !is_slow(s); });
  scenario_.stragglers = std::move(stragglers);
  Diagnostics diagnostics;
  const std::optional<LoadedJob> loaded = load(scenario_, diagnostics);
  invariant(loaded.has_value(), "a job with a straggler healed cannot be loaded");
  auto outcome = training::simulate(loaded->job);
  if (auto* stuck = std::get_if<training::Stuck>(&outcome)) failure_ = std::move(*stuck);
  if (auto* large = std::get_if<training::TooLarge>(&outcome)) failure_ = *large;
  if (failure_) return std::nullopt;
  return std::get<training::Result>(outcome).iteration_ps();
}

}  // namespace

double Attribution::slowdown() const {
  return static_cast<double>(iteration_ps) / static_cast<double>(ideal_ps);
}

double Attribution::explains(const Healed& healed) const {
  const std::int64_t cost = iteration_ps - ideal_ps;
  if (cost == 0) return 0;
  return static_cast<double>(iteration_ps - healed.iteration_ps) / static_cast<double>(cost);
}

std::variant<Attribution, training::Stuck, training::TooLarge> attribution(
    const scenario::Scenario& scenario) {
  const std::vector<Straggler>& all = scenario.stragglers;
  const bool has_lengths = do_lengths_vary(scenario);
  Healer healer(scenario), healer_of_lengths(with_lengths_healed(scenario));
  Attribution result;
  const auto slow = healer.iteration(all);
  if (!slow) return healer.failure();
  const auto ideal = healer_of_lengths.iteration({});
  if (!ideal) return healer_of_lengths.failure();
  result.iteration_ps = *slow, result.ideal_ps = *ideal;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Straggler> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const auto healed = healer.iteration(std::move(others));
    if (!healed) return healer.failure();
    result.one.push_back({label(all[i]), *healed});
  }
  if (has_lengths) {
    const auto healed = healer_of_lengths.iteration(all);
    if (!healed) return healer_of_lengths.failure();
    result.one.push_back({"lengths of documents", *healed});
  }
  for (const Kind& kind : kinds) {
    std::vector<Straggler> others = all;
    bool is_any = false, is_every = true;
    for (Straggler& s : others) {
      is_any |= (s.*kind.member).has_value();
      (s.*kind.member).reset();
      is_every &= !is_slow(s);
    }
    if (!is_any || (is_every && !has_lengths)) continue;
    const auto healed = healer.iteration(std::move(others));
    if (!healed) return healer.failure();
    result.kinds.push_back({kind.name, *healed});
  }
  return result;
}

}  // namespace sim::command
