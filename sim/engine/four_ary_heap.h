// The moves of a 4-ary heap whose owner keeps track of where each entry is.
#pragma once

#include <cstddef>
#include <vector>

namespace sim::engine {

// Moves the entry at `place` towards the front. `put(place, entry)` stores an entry; it is called
// for each one that moves, and last for the entry itself.
template <typename Entry, typename Put>
void rise(const std::vector<Entry>& heap, std::size_t place, const Put& put) {
  const Entry entry = heap[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 4;
    if (!(entry < heap[parent])) break;
    put(place, heap[parent]);
    place = parent;
  }
  put(place, entry);
}

// Moves it towards the back.
template <typename Entry, typename Put>
void sink(const std::vector<Entry>& heap, std::size_t place, const Put& put) {
  const Entry entry = heap[place];
  for (;;) {
    const std::size_t first = 4 * place + 1;
    if (first >= heap.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < first + 4 && child < heap.size(); ++child) {
      if (heap[child] < heap[least]) least = child;
    }
    if (!(heap[least] < entry)) break;
    put(place, heap[least]);
    place = least;
  }
  put(place, entry);
}

// Takes the entry at `place` out.
template <typename Entry, typename Put>
void take_out(std::vector<Entry>& heap, std::size_t place, const Put& put) {
  const Entry last = heap.back();
  heap.pop_back();
  if (place == heap.size()) return;
  put(place, last);
  if (place > 0 && last < heap[(place - 1) / 4]) {
    rise(heap, place, put);
  } else {
    sink(heap, place, put);
  }
}

}  // namespace sim::engine
