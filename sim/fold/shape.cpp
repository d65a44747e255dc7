// Programs compared by a hash first, then figure by figure.
#include "sim/fold/shape.h"

#include <map>

namespace sim::fold {
namespace {

// All that a program does, apart from how it is called.
std::vector<std::int64_t> figures_of(const network::Program& program) {
  std::vector<std::int64_t> figures = {static_cast<std::int64_t>(program.steps.size()),
                                       program.accounted_from, program.accounted_to};
  const auto add = [&](std::initializer_list<std::int64_t> more) {
    figures.insert(figures.end(), more);
  };
  for (const network::Step& step : program.steps) {
    add({step.lag, step.work, step.weight, step.reserve, step.wait_count, step.use_count,
         step.part_count, step.kind});
  }
  for (const network::Wait& wait : program.waits) add({wait.slot, wait.milestone, wait.reserves});
  for (const network::StepUse& use : program.uses) add({use.footprint, use.amount});
  for (const network::Part& part : program.parts) add({part.kind, part.work});
  figures.insert(figures.end(), program.milestones.begin(), program.milestones.end());
  return figures;
}

}  // namespace

Shape::Shape(const network::System& system)
    : names(system.programs.begin(), system.programs.end()) {
  std::multimap<std::uint64_t, std::size_t> first;  // of each kind, by hash
  for (std::size_t p = 0; p < system.programs.size(); ++p) {
    const std::uint64_t hash = network::program_hash(system.programs[p]);
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
