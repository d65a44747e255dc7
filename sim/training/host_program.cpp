// Launches in the order of the compute steps.
#include "sim/training/host_program.h"

namespace sim::training {

network::Program host_program(const std::vector<Launch>& launches, int run_ahead,
                              bool loads_launches, int first_milestone, ProgramWriter& compute) {
  std::vector<std::int64_t> before(launches.size() + 1, 0);  // launches of the steps before
  for (std::size_t i = 0; i < launches.size(); ++i) before[i + 1] = before[i] + launches[i].kernels;
  ProgramWriter host;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].kernels > 0) {
      ProgramWriter::StepSpec spec{
          .label = "launch", .category = Category::host, .work = launches[i].duration};
      if (loads_launches) spec.uses.push_back({footprint_launches, multiprocessors_one});
      // A merged step starts launching when its first launch may go ahead.
      const std::int64_t needed = before[i] + 1 - run_ahead;
      while (ended < i && before[ended] < needed) ++ended;
      if (ended > 0) {
        const int milestone = first_milestone + static_cast<int>(ended);
        compute.reach(milestone, static_cast<std::int32_t>(ended));
        spec.waits.push_back({0, milestone});
      }
      host.add(spec);
    }
    host.reach(static_cast<std::int32_t>(i));
  }
  return host.take();
}

}  // namespace sim::training
