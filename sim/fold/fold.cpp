// Folds again at barriers, splits in between.
#include "sim/fold/fold.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sim::fold {

// Every stream and resource a class.
const network::System& Folded::use_whole() {
  const auto all = [](std::size_t count) {
    std::vector<std::int32_t> list(count);
    std::iota(list.begin(), list.end(), 0);
    return list;
  };
  lumping_.class_of_stream = lumping_.stream = all(system_.streams.size());
  lumping_.class_of_resource = lumping_.resource = all(system_.capacity.size());
  capacity_ = system_.capacity;
  current_.reset();
  is_split_ = false;
  return system_;
}

const network::System& Folded::at_barrier(std::span<const std::int64_t> capacity) {
  before_.reset();
  const bool is_normal = std::equal(capacity.begin(), capacity.end(), system_.capacity.begin());
  if (!may_fold_ && is_normal) return use_whole();
  if (current_ && std::equal(capacity.begin(), capacity.end(), capacity_.begin()) && !is_split_) {
    return *current_;
  }
  capacity_.assign(capacity.begin(), capacity.end());
  lumping_ = lump(system_, shape_, capacity);
  current_ = std::make_unique<network::System>(quotient(system_, shape_, capacity, lumping_));
  is_split_ = false;
  return *current_;
}

const network::System& Folded::at_change(std::span<const std::int64_t> capacity,
                                         std::vector<std::int32_t>& parent) {
  capacity_.assign(capacity.begin(), capacity.end());
  const Lumping coarse = std::exchange(lumping_, lump(system_, shape_, capacity, &lumping_));
  parent.clear();
  for (const std::int32_t stream : lumping_.stream) {
    parent.push_back(coarse.class_of_stream[static_cast<std::size_t>(stream)]);
  }
  before_ = std::move(current_);
  current_ = std::make_unique<network::System>(quotient(system_, shape_, capacity, lumping_));
  is_split_ = true;
  return *current_;
}

}  // namespace sim::fold
