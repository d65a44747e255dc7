// From the distribution of hosts under repair.
#include "sim/fault/spares.h"

#include <numeric>

namespace sim::fault {

std::vector<SparesNeeded> spares_needed(const Model& model, Rates& rates,
                                        const std::vector<double>& shares, const Effort& effort) {
  Model ample = model;
  ample.machines.spares = static_cast<int>(hosts_out_max) + model.machines.hosts;
  const Estimate found = estimate(ample, *policy("restart"), rates, effort);
  const auto all = static_cast<double>(
      std::accumulate(found.hosts_out.begin(), found.hosts_out.end(), std::int64_t{0}));
  std::vector<SparesNeeded> needed;
  for (const double share : shares) {
    double below = 0;
    std::size_t hosts = 0;
    for (; hosts < found.hosts_out.size(); ++hosts) {
      below += static_cast<double>(found.hosts_out[hosts]);
      if (below >= share * all) break;
    }
    needed.push_back({share, all > 0 ? static_cast<int>(hosts) : 0});
  }
  return needed;
}

}  // namespace sim::fault
