// Pending events: at most one instant per index, earliest first; 4-ary, re-keyed in place.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/fixed.h"

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
      rise(static_cast<std::size_t>(position));
      return;
    }
    const std::size_t place = static_cast<std::size_t>(position);
    const Picoseconds before = heap_[place].at;
    heap_[place].at = at;
    if (at < before) rise(place);
    if (at > before) sink(place);
  }

  void remove(Index index) {
    const std::int32_t position = position_[static_cast<std::size_t>(index)];
    if (position == absent) return;
    const std::size_t place = static_cast<std::size_t>(position);
    position_[static_cast<std::size_t>(index)] = absent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    rise(place);
    sink(static_cast<std::size_t>(position_[static_cast<std::size_t>(last.index)]));
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

  void put(std::size_t place, Entry entry) {
    heap_[place] = entry;
    position_[static_cast<std::size_t>(entry.index)] = static_cast<std::int32_t>(place);
  }
  void rise(std::size_t place) {
    const Entry entry = heap_[place];
    while (place > 0) {
      const std::size_t parent = (place - 1) / 4;
      if (!(entry < heap_[parent])) break;
      put(place, heap_[parent]);
      place = parent;
    }
    put(place, entry);
  }
  void sink(std::size_t place) {
    const Entry entry = heap_[place];
    for (;;) {
      const std::size_t first = 4 * place + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < first + 4 && child < heap_.size(); ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < entry)) break;
      put(place, heap_[least]);
      place = least;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::int32_t> position_;  // [index]
};

}  // namespace sim::engine
