// Pending events: at most one instant per index, earliest first; 4-ary, re-keyed in place.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/engine/four_ary_heap.h"

namespace sim::engine {

class IndexedHeap {
 public:
  using Index = std::int32_t;

  explicit IndexedHeap(std::size_t indices) : position_(indices, absent) {}

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  Picoseconds earliest() const { return heap_.front().at; }
  Index top() const { return heap_.front().index; }
  bool contains(Index index) const { return position_[static_cast<std::size_t>(index)] != absent; }

  // REQUIRES: contains(index).
  Picoseconds at(Index index) const {
    return heap_[static_cast<std::size_t>(position_[static_cast<std::size_t>(index)])].at;
  }

  // Adds the index, or moves it to another instant.
  void set(Index index, Picoseconds at) {
    std::int32_t& position = position_[static_cast<std::size_t>(index)];
    if (position == absent) {
      position = static_cast<std::int32_t>(heap_.size());
      heap_.push_back({at, index});
      rise(heap_, static_cast<std::size_t>(position), Put{*this});
      return;
    }
    const std::size_t place = static_cast<std::size_t>(position);
    const Picoseconds before = heap_[place].at;
    heap_[place].at = at;
    if (at < before) rise(heap_, place, Put{*this});
    if (at > before) sink(heap_, place, Put{*this});
  }

  void remove(Index index) {
    const std::int32_t position = position_[static_cast<std::size_t>(index)];
    if (position == absent) return;
    const std::size_t place = static_cast<std::size_t>(position);
    position_[static_cast<std::size_t>(index)] = absent;
    take_out(heap_, place, Put{*this});
  }

 private:
  struct Entry {
    Picoseconds at;
    Index index;
    // Equal instants are handled as one set; the index only makes the order of the heap definite.
    bool operator<(const Entry& other) const {
      return at != other.at ? at < other.at : index < other.index;
    }
  };
  static constexpr std::int32_t absent = -1;

  // Stores an entry and where it is.
  struct Put {
    IndexedHeap& owner;
    void operator()(std::size_t place, Entry entry) const {
      owner.heap_[place] = entry;
      owner.position_[static_cast<std::size_t>(entry.index)] = static_cast<std::int32_t>(place);
    }
  };

  std::vector<Entry> heap_;
  std::vector<std::int32_t> position_;  // [index]
};

}  // namespace sim::engine
