// Runs the smaller system in place of the whole one.
#pragma once

#include <memory>
#include <vector>

#include "sim/fold/quotient.h"
#include "sim/network/run.h"

namespace sim::fold {

// At a barrier nothing is in progress, so capacities are all that tells streams apart: the system
// folds from scratch. At a change of capacity within an iteration it is only split further.
class Folded : public network::Folding {
 public:
  explicit Folded(const network::System& system)
      : system_(system), shape_(system), may_fold_(fold::may_fold(system, shape_)) {}

  const network::System& at_barrier(std::span<const std::int64_t> capacity) override;
  const network::System& at_change(std::span<const std::int64_t> capacity,
                                   std::vector<std::int32_t>& parent) override;
  const std::vector<std::int32_t>& class_of_stream() const override {
    return lumping_.class_of_stream;
  }

  const Lumping& lumping() const { return lumping_; }
  const network::System& current() const { return current_ ? *current_ : system_; }

 private:
  const network::System& use_whole();

  const network::System& system_;
  const Shape shape_;
  const bool may_fold_;
  Lumping lumping_;
  std::vector<std::int64_t> capacity_;  // that lumping_ is of
  bool is_split_ = false;
  // The system before, still read while its state is copied, and the one in use; none: the whole.
  std::unique_ptr<network::System> before_, current_;
};

}  // namespace sim::fold
