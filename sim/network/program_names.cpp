// Marks what is named.
#include "sim/network/program_names.h"

namespace sim::network {
namespace {

// Small numbers from 0 on.
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

ProgramNames::ProgramNames(const Program& program) {
  Marks slot, reserved, footprint;
  for (const Wait& wait : program.waits) {
    slot.add(wait.slot);
    if (wait.reserves) reserved.add(wait.slot);
  }
  for (const StepUse& use : program.uses) footprint.add(use.footprint);
  slots = slot.list();
  reserving = reserved.list();
  footprints = footprint.list();
}

}  // namespace sim::network
