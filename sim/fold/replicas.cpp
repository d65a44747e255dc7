// Descends through the blocks; of the children of a block that are marked alike, into one.
#include "sim/fold/replicas.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/base/invariant.h"

namespace sim::fold {

// A block that is kept, with the marks that do not cover it.
struct Replicas::Node {
  Replica first = 0, last = 0;
  std::size_t level = 0;                   // its children are blocks of level - 1, or units
  std::vector<std::int64_t> multiplicity;  // from the top: equal siblings of it and its parents
  std::vector<Mark> marks;
};

Replicas Replicas::all(Replica count) {
  Replicas result(0, 1, {}, {});
  result.count_ = count;
  result.kept_.resize(static_cast<std::size_t>(count));
  std::iota(result.kept_.begin(), result.kept_.end(), Replica{0});
  result.sizes_.assign(2 * static_cast<std::size_t>(count), 1);
  return result;
}

Replicas::Replicas(Replica count, std::vector<Replica> kept, const std::vector<std::int64_t>& sizes)
    : count_(count), kept_(std::move(kept)) {
  for (const std::int64_t size : sizes) sizes_.insert(sizes_.end(), {1, size});
}

Replicas::Replicas(Replica count, Replica unit, std::vector<Replica> blocks,
                   std::vector<Mark> marks)
    : count_(count), unit_(unit), levels_(blocks.size() + 1), blocks_(std::move(blocks)) {
  invariant(unit > 0 && count % unit == 0, "replicas are no whole number of units");
  if (count == 0) return;
  visit({0, count, levels_, {}, std::move(marks)});
  // Keeping ascends inside a block, but of several kinds of blocks in the order of the kinds.
  std::vector<std::size_t> order(kept_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return kept_[a] < kept_[b]; });
  std::vector<Replica> kept;
  std::vector<std::int64_t> sizes;
  for (const std::size_t i : order) {
    kept.push_back(kept_[i]);
    for (std::size_t level = 0; level <= levels_; ++level) sizes.push_back(size(i, level));
  }
  kept_ = std::move(kept);
  sizes_ = std::move(sizes);
  std::sort(neighbours_.begin(), neighbours_.end());
}

void Replicas::keep(const Node& node) {
  for (Replica r = node.first; r < node.last; ++r) {
    kept_.push_back(r);
    std::int64_t product = 1;
    sizes_.push_back(product);
    for (std::size_t level = 1; level <= levels_; ++level) {
      product *= node.multiplicity[levels_ - level];
      sizes_.push_back(product);
    }
  }
}

void Replicas::visit(const Node& node) {
  if (node.level == 0) return keep(node);
  const Replica step = node.level == 1 ? unit_ : blocks_[node.level - 2];
  const Replica children = (node.last - node.first + step - 1) / step;
  // Children are alike between these borders; those around a mark's border stand alone.
  std::set<Replica> borders = {0, children}, alone;
  const auto place = [&](Replica replica) {
    if (replica <= node.first || replica >= node.last) return;
    const Replica child = (replica - node.first) / step;
    borders.insert(child);
    if ((replica - node.first) % step == 0) return;
    alone.insert(child);
    borders.insert(child + 1);
  };
  for (const Mark& mark : node.marks) {
    place(mark.first);
    place(mark.last);
  }
  if ((node.last - node.first) % step != 0) {  // the last child is smaller
    alone.insert(children - 1);
    borders.insert(children - 1);
  }
  struct Kind {
    Replica child = 0, count = 0;
    Replica second = -1;  // the next one of the kind
    std::vector<Mark> marks;
  };
  std::map<std::vector<std::int32_t>, Kind> kinds;  // by the labels that cover
  std::vector<Kind> found;
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
    const Replica child = *border, next = *std::next(border);
    const Replica first = node.first + child * step, last = std::min(first + step, node.last);
    std::vector<std::int32_t> labels;
    std::vector<Mark> inside;
    for (const Mark& mark : node.marks) {
      if (mark.first <= first && mark.last >= last) {
        labels.push_back(mark.label);
      } else if (mark.first < last && mark.last > first) {
        inside.push_back(mark);
      }
    }
    if (alone.contains(child)) {
      found.push_back({child, 1, -1, std::move(inside)});
      continue;
    }
    std::sort(labels.begin(), labels.end());
    Kind& kind = kinds[labels];
    if (kind.count == 0) {
      kind.child = child;
      if (next - child > 1) kind.second = child + 1;
    } else if (kind.second < 0) {
      kind.second = child;
    }
    kind.count += next - child;
  }
  for (auto& [labels, kind] : kinds) found.push_back(std::move(kind));
  for (const Kind& kind : found) {
    Node child{node.first + kind.child * step, 0, node.level - 1, node.multiplicity, kind.marks};
    child.last = std::min(child.first + step, node.last);
    child.multiplicity.push_back(kind.count);
    visit(child);
    if (kind.second < 0) continue;
    const Replica other = node.first + kind.second * step;
    for (Replica r = other; r < std::min(other + unit_, node.last); ++r) neighbours_.push_back(r);
  }
}

std::int64_t Replicas::index_of(Replica replica) const {
  if (are_all_kept()) return replica;
  const auto found = std::lower_bound(kept_.begin(), kept_.end(), replica);
  return found != kept_.end() && *found == replica ? found - kept_.begin() : -1;
}

bool Replicas::keeps_any(Replica first, Replica last) const {
  const auto found = std::lower_bound(kept_.begin(), kept_.end(), first);
  return found != kept_.end() && *found < last;
}

}  // namespace sim::fold
