// Programs compared by a hash first, then figure by figure.
#include "sim/fold/shape.h"

#include <algorithm>
#include <map>

#include "sim/engine/fingerprint.h"

namespace sim::fold {
namespace {

// All that a program does, apart from how it is called.
template <class Visit>
void each_figure(const network::Program& program, Visit visit) {
  for (const network::Step& step : program.steps) {
    for (const std::int64_t figure : {step.lag, step.work, step.weight, step.reserve})
      visit(figure);
    visit(step.wait_count);
    visit(step.use_count);
    visit(step.part_count);
    visit(step.kind);
  }
  for (const network::Wait& wait : program.waits) {
    visit(wait.slot);
    visit(wait.milestone);
    visit(wait.reserves ? 1 : 0);
  }
  for (const network::StepUse& use : program.uses) {
    visit(use.footprint);
    visit(use.amount);
  }
  for (const network::Part& part : program.parts) {
    visit(part.kind);
    visit(part.work);
  }
  for (const std::int32_t milestone : program.milestones) visit(milestone);
}

std::uint64_t hash_of(const network::Program& program) {
  std::uint64_t hash = program.steps.size();
  each_figure(program, [&](std::int64_t figure) {
    hash = engine::mix(hash ^ static_cast<std::uint64_t>(figure));
  });
  return hash;
}

std::vector<std::int64_t> figures_of(const network::Program& program) {
  std::vector<std::int64_t> figures = {static_cast<std::int64_t>(program.steps.size())};
  each_figure(program, [&](std::int64_t figure) { figures.push_back(figure); });
  return figures;
}

// Marks what is named; small numbers from 0 on.
class Marks {
 public:
  void add(std::int32_t number) {
    const auto n = static_cast<std::size_t>(number);
    if (marked_.size() <= n) marked_.resize(n + 1, 0);
    marked_[n] = 1;
  }
  std::vector<std::int32_t> list() const {
    std::vector<std::int32_t> result;
    for (std::size_t n = 0; n < marked_.size(); ++n) {
      if (marked_[n]) result.push_back(static_cast<std::int32_t>(n));
    }
    return result;
  }

 private:
  std::vector<char> marked_;
};

}  // namespace

ProgramNames::ProgramNames(const network::Program& program) {
  Marks slot, reserved, footprint;
  for (const network::Wait& wait : program.waits) {
    slot.add(wait.slot);
    if (wait.reserves) reserved.add(wait.slot);
  }
  for (const network::StepUse& use : program.uses) footprint.add(use.footprint);
  slots = slot.list();
  reserving = reserved.list();
  footprints = footprint.list();
}

Shape::Shape(const network::System& system)
    : names(system.programs.begin(), system.programs.end()) {
  std::multimap<std::uint64_t, std::size_t> first;  // of each kind, by hash
  for (std::size_t p = 0; p < system.programs.size(); ++p) {
    const std::uint64_t hash = hash_of(system.programs[p]);
    auto [same, end] = first.equal_range(hash);
    while (same != end &&
           figures_of(system.programs[same->second]) != figures_of(system.programs[p])) {
      ++same;
    }
    if (same == end) same = first.emplace(hash, p);
    program_number.push_back(static_cast<std::uint32_t>(same->second));
  }
}

}  // namespace sim::fold
