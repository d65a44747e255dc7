// Rounds of splitting; only vertices that see a renamed class are looked at again.
#include "sim/fold/partition.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/engine/fingerprint.h"

namespace sim::fold {
namespace {

struct Seen {
  std::uint32_t label;
  Class vertex, also;
  std::int64_t count;

  auto key() const { return std::tie(label, vertex, also); }
  bool operator<(const Seen& other) const { return key() < other.key(); }
  bool operator==(const Seen& other) const { return key() == other.key() && count == other.count; }
};

// Single vertices only, and those of one label next to each other.
bool is_grouped(std::span<const Sight> sights) {
  for (std::size_t i = 0; i < sights.size(); ++i) {
    if (sights[i].also >= 0 || (i > 0 && sights[i].label < sights[i - 1].label)) return false;
  }
  return true;
}

class Refinement {
 public:
  Refinement(const SightGraph& graph, int hash_bits)
      : graph_(graph),
        mask_(hash_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << hash_bits) - 1),
        class_of_(graph.colour.size(), 0) {}

  Partition run();

 private:
  using Signature = std::pair<std::uint64_t, std::uint64_t>;

  std::size_t size() const { return class_of_.size(); }
  Class& class_of(Vertex v) { return class_of_[static_cast<std::size_t>(v)]; }
  void colour();
  void fill_watchers();
  void look(Vertex v);
  static void add(Signature& sum, std::uint32_t label, Class c, Class also, std::uint64_t count);
  Signature signature(Vertex v);
  void round();
  void split(Class c, std::vector<std::pair<Signature, Vertex>>& looked);
  void rename(std::span<const std::pair<Signature, Vertex>> part);
  bool mend();
  Partition numbered() const;

  const SightGraph& graph_;
  const std::uint64_t mask_;
  std::vector<Class> class_of_;              // [vertex]
  std::vector<std::int64_t> class_size_;     // [class]
  std::vector<std::int64_t> first_watcher_;  // [vertex], into watchers_; one more at the end
  std::vector<Vertex> watchers_;             // who sees the vertex
  std::vector<Vertex> dirty_;                // to look at in the next round
  std::vector<char> is_dirty_;               // [vertex]
  std::vector<Vertex> renamed_;
  std::vector<Seen> seen_;  // by the vertex last looked at
  // [class] of the (vertex, label) that last saw it
  std::vector<std::uint64_t> stamps_;
  std::uint64_t stamp_ = 0;
};

void Refinement::colour() {
  std::vector<std::pair<std::pair<std::uint32_t, char>, Vertex>> order;
  for (std::size_t v = 0; v < size(); ++v) {
    order.push_back({{graph_.colour[v], graph_.counts[v]}, static_cast<Vertex>(v)});
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].first != order[i - 1].first) class_size_.push_back(0);
    class_of(order[i].second) = static_cast<Class>(class_size_.size()) - 1;
    ++class_size_.back();
  }
}

void Refinement::fill_watchers() {
  first_watcher_.assign(size() + 1, 0);
  const auto each = [&](auto visit) {
    for (std::size_t v = 0; v < size(); ++v) {
      for (const Sight& sight : graph_.sights_of(static_cast<Vertex>(v))) {
        visit(sight.vertex, static_cast<Vertex>(v));
        if (sight.also >= 0) visit(sight.also, static_cast<Vertex>(v));
      }
    }
  };
  each([&](Vertex of, Vertex) { ++first_watcher_[static_cast<std::size_t>(of) + 1]; });
  for (std::size_t v = 0; v < size(); ++v) first_watcher_[v + 1] += first_watcher_[v];
  watchers_.resize(static_cast<std::size_t>(first_watcher_[size()]));
  std::vector<std::int64_t> next(first_watcher_.begin(), first_watcher_.end() - 1);
  each([&](Vertex of, Vertex watcher) {
    watchers_[static_cast<std::size_t>(next[static_cast<std::size_t>(of)]++)] = watcher;
  });
}

// Fills seen_, sorted.
void Refinement::look(Vertex v) {
  seen_.clear();
  for (const Sight& sight : graph_.sights_of(v)) {
    seen_.push_back({sight.label, class_of(sight.vertex),
                     sight.also < 0 ? -1 : class_of(sight.also), sight.count});
  }
  std::sort(seen_.begin(), seen_.end());
  const bool counts = graph_.counts[static_cast<std::size_t>(v)];
  std::size_t kept = 0;
  for (const Seen& s : seen_) {
    if (kept > 0 && seen_[kept - 1].key() == s.key()) {
      seen_[kept - 1].count += s.count;
    } else {
      seen_[kept++] = s;
    }
  }
  seen_.resize(kept);
  if (counts) return;
  for (Seen& s : seen_) s.count = 1;
}

// A sum over what is seen: it does not depend on the order.
void Refinement::add(Signature& sum, std::uint32_t label, Class c, Class also,
                     std::uint64_t count) {
  const std::uint64_t place =
      (std::uint64_t{static_cast<std::uint32_t>(c)} << 32) ^ static_cast<std::uint32_t>(also);
  const std::uint64_t what = engine::mix(engine::mix(label) ^ place);
  sum.first += count * what;
  sum.second += count * engine::mix(what ^ 0x5bd1e9955bd1e995ULL);
}

// Of equal sights that are not counted, only the first is added; where they stand together, that
// is seen without sorting.
Refinement::Signature Refinement::signature(Vertex v) {
  const bool counts = graph_.counts[static_cast<std::size_t>(v)];
  const auto sights = graph_.sights_of(v);
  Signature sum{1, 2};
  if (counts) {
    for (const Sight& s : sights) {
      add(sum, s.label, class_of(s.vertex), s.also < 0 ? -1 : class_of(s.also),
          static_cast<std::uint64_t>(s.count));
    }
  } else if (is_grouped(sights)) {
    stamps_.resize(class_size_.size(), 0);
    std::uint32_t label = 0;
    ++stamp_;
    for (const Sight& s : sights) {
      if (std::exchange(label, s.label) != s.label) ++stamp_;
      const Class c = class_of(s.vertex);
      if (std::exchange(stamps_[static_cast<std::size_t>(c)], stamp_) == stamp_) continue;
      add(sum, s.label, c, -1, 1);
    }
  } else {
    look(v);
    for (const Seen& s : seen_) add(sum, s.label, s.vertex, s.also, 1);
  }
  const bool is_whole = mask_ == ~std::uint64_t{0};
  return {sum.first & mask_, is_whole ? sum.second : 0};
}

void Refinement::rename(std::span<const std::pair<Signature, Vertex>> part) {
  const Class name = static_cast<Class>(class_size_.size());
  class_size_.push_back(static_cast<std::int64_t>(part.size()));
  for (const auto& [signature, v] : part) {
    --class_size_[static_cast<std::size_t>(class_of(v))];
    class_of(v) = name;
    renamed_.push_back(v);
  }
}

// `looked`: the members that see a renamed class, with what they see now, sorted. Those not looked
// at still see all the same, and no renamed class: they stay. Otherwise the largest part stays.
void Refinement::split(Class c, std::vector<std::pair<Signature, Vertex>>& looked) {
  std::vector<std::span<const std::pair<Signature, Vertex>>> parts;
  for (std::size_t i = 0, start = 0; i < looked.size(); ++i) {
    if (i + 1 < looked.size() && looked[i + 1].first == looked[i].first) continue;
    parts.push_back(std::span(looked).subspan(start, i + 1 - start));
    start = i + 1;
  }
  const bool are_all =
      static_cast<std::int64_t>(looked.size()) == class_size_[static_cast<std::size_t>(c)];
  if (are_all) {
    const auto largest =
        std::max_element(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    parts.erase(largest);
  }
  for (const auto& part : parts) rename(part);
}

void Refinement::round() {
  std::vector<std::tuple<Class, Signature, Vertex>> looked;
  looked.reserve(dirty_.size());
  for (const Vertex v : dirty_) {
    is_dirty_[static_cast<std::size_t>(v)] = 0;
    if (class_size_[static_cast<std::size_t>(class_of(v))] == 1) continue;
    looked.emplace_back(class_of(v), signature(v), v);
  }
  dirty_.clear();
  renamed_.clear();
  std::sort(looked.begin(), looked.end());
  std::vector<std::pair<Signature, Vertex>> members;
  for (std::size_t i = 0; i < looked.size(); ++i) {
    const Class c = std::get<0>(looked[i]);
    members.emplace_back(std::get<1>(looked[i]), std::get<2>(looked[i]));
    if (i + 1 < looked.size() && std::get<0>(looked[i + 1]) == c) continue;
    split(c, members);
    members.clear();
  }
  for (const Vertex v : renamed_) {
    const std::size_t i = static_cast<std::size_t>(v);
    for (std::int64_t w = first_watcher_[i]; w < first_watcher_[i + 1]; ++w) {
      const Vertex watcher = watchers_[static_cast<std::size_t>(w)];
      if (std::exchange(is_dirty_[static_cast<std::size_t>(watcher)], 1)) continue;
      dirty_.push_back(watcher);
    }
  }
}

// Compares every vertex in full with the lowest of its class; those that see something else become
// a class of their own, to be refined further. Returns whether there were any.
bool Refinement::mend() {
  std::vector<Vertex> order(size());
  for (std::size_t v = 0; v < size(); ++v) order[v] = static_cast<Vertex>(v);
  std::stable_sort(order.begin(), order.end(),
                   [&](Vertex a, Vertex b) { return class_of(a) < class_of(b); });
  std::vector<Seen> lowest;
  std::vector<std::pair<Signature, Vertex>> others;
  renamed_.clear();
  std::vector<std::vector<std::pair<Signature, Vertex>>> found;
  for (std::size_t i = 0; i < order.size(); ++i) {
    look(order[i]);
    const bool is_first = i == 0 || class_of(order[i]) != class_of(order[i - 1]);
    if (is_first) {
      lowest = seen_;
    } else if (lowest != seen_) {
      others.push_back({{}, order[i]});
    }
    const bool is_last = i + 1 == order.size() || class_of(order[i + 1]) != class_of(order[i]);
    if (is_last && !others.empty()) found.push_back(std::exchange(others, {}));
  }
  for (const auto& part : found) rename(part);
  return !found.empty();
}

Partition Refinement::numbered() const {
  Partition result;
  std::vector<Class> number(class_size_.size(), -1);
  result.class_of.reserve(size());
  for (std::size_t v = 0; v < size(); ++v) {
    Class& c = number[static_cast<std::size_t>(class_of_[v])];
    if (c < 0) {
      c = static_cast<Class>(result.lowest.size());
      result.lowest.push_back(static_cast<Vertex>(v));
    }
    result.class_of.push_back(c);
  }
  return result;
}

Partition Refinement::run() {
  colour();
  fill_watchers();
  do {
    is_dirty_.assign(size(), 1);
    dirty_.clear();
    for (std::size_t v = 0; v < size(); ++v) dirty_.push_back(static_cast<Vertex>(v));
    while (!dirty_.empty()) round();
  } while (mend());
  return numbered();
}

}  // namespace

Partition refine(const SightGraph& graph, int hash_bits) {
  return Refinement(graph, hash_bits).run();
}

}  // namespace sim::fold
