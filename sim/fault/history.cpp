// Names, and the way in.
#include "sim/fault/history.h"

#include "sim/fault/course.h"

namespace sim::fault {

std::string_view name(Loss loss) {
  constexpr std::string_view names[loss_count] = {"rework", "checkpoint", "shrunk", "detect",
                                                  "wait",   "restart",    "read"};
  return names[static_cast<std::size_t>(loss)];
}

History history(const Model& model, const Policy& policy, Rates& rates,
                const HistoryOptions& options) {
  return Course(model, policy, rates, options).run();
}

}  // namespace sim::fault
