// Cuts the units at the borders of marks; counts by whole periods.
#include "sim/fold/periodic.h"

#include <algorithm>
#include <set>

#include "sim/base/invariant.h"

namespace sim::fold {

PeriodicReplicas::PeriodicReplicas(Replica count, Replica unit, std::vector<std::int32_t> kinds,
                                   std::span<const Mark> marks)
    : count_(count), unit_(unit), kinds_(std::move(kinds)) {
  invariant(unit > 0 && !kinds_.empty(), "replicas without units or kinds");
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    places_[kinds_[i]].push_back(static_cast<Replica>(i));
  }
  cut(marks);
  classify();
}

void PeriodicReplicas::cut(std::span<const Mark> marks) {
  const Replica units = (count_ + unit_ - 1) / unit_;
  std::set<Replica> borders = {0, units}, alone;
  const auto place = [&](Replica replica) {
    if (replica <= 0 || replica >= count_) return;
    borders.insert(replica / unit_);
    if (replica % unit_ == 0) return;
    alone.insert(replica / unit_);
    borders.insert(replica / unit_ + 1);
  };
  for (const Mark& mark : marks) {
    place(mark.first);
    place(mark.last);
  }
  if (count_ % unit_ != 0) {
    alone.insert(units - 1);
    borders.insert(units - 1);
  }
  std::map<std::vector<std::int32_t>, std::int32_t> covers;  // by labels, or the unit alone
  for (auto border = borders.begin(); *border < units; ++border) {
    const Section section{*border, *std::next(border), 0};
    std::vector<std::int32_t> labels;
    for (const Mark& mark : marks) {
      const bool covers_it = mark.first <= section.first * unit_ &&
                             mark.last >= std::min(section.last * unit_, count_);
      if (covers_it) labels.push_back(mark.label);
    }
    std::sort(labels.begin(), labels.end());
    // No label is negative.
    if (alone.contains(section.first)) labels = {-1, static_cast<std::int32_t>(section.first)};
    const auto next = static_cast<std::int32_t>(covers.size());
    sections_.push_back(
        {section.first, section.last, covers.try_emplace(labels, next).first->second});
  }
}

// Units of the kind among 0 .. end - 1.
Replica PeriodicReplicas::units_before(std::int32_t kind, Replica end) const {
  const std::vector<Replica>& places = places_.at(kind);
  const auto rest = std::lower_bound(places.begin(), places.end(), end % period());
  return end / period() * static_cast<Replica>(places.size()) + (rest - places.begin());
}

Replica PeriodicReplicas::first_from(std::int32_t kind, Replica begin) const {
  const std::vector<Replica>& places = places_.at(kind);
  const Replica start = begin - begin % period();
  const auto found = std::lower_bound(places.begin(), places.end(), begin % period());
  return found != places.end() ? start + *found : start + period() + places.front();
}

void PeriodicReplicas::classify() {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> known;  // (cover, kind)
  std::vector<std::pair<Replica, std::size_t>> lowest;                 // (unit, class)
  for (const Section& section : sections_) {
    for (const auto& [kind, places] : places_) {
      const Replica first = first_from(kind, section.first);
      if (first >= section.last) continue;
      const auto [entry, is_new] = known.try_emplace({section.cover, kind}, classes_.size());
      if (is_new) {
        classes_.push_back({kind, {}});
        lowest.emplace_back(first, entry->second);
      }
      classes_[entry->second].sections.push_back(section);
    }
  }
  std::sort(lowest.begin(), lowest.end());
  for (const auto& [number, unit_class] : lowest) {
    for (Replica r = number * unit_; r < std::min((number + 1) * unit_, count_); ++r) {
      kept_.push_back({r, unit_class});
    }
  }
}

std::int64_t PeriodicReplicas::count_in(std::size_t index, Replica first, Replica last) const {
  const Kept& kept = kept_[index];
  const Class& of = classes_[kept.unit_class];
  const Replica offset = kept.replica % unit_;
  // Units whose replica in that place is in [first, last).
  const auto unit_from = [&](Replica replica) {
    return std::max<Replica>(replica - offset + unit_ - 1, 0) / unit_;
  };
  const Replica begin = unit_from(first), end = unit_from(last);
  std::int64_t sum = 0;
  auto section = std::partition_point(of.sections.begin(), of.sections.end(),
                                      [&](const Section& s) { return s.last <= begin; });
  for (; section != of.sections.end() && section->first < end; ++section) {
    sum += units_before(of.kind, std::min(end, section->last)) -
           units_before(of.kind, std::max(begin, section->first));
  }
  return sum;
}

std::span<const PeriodicReplicas::Section> PeriodicReplicas::sections_of(std::size_t index) const {
  return classes_[kept_[index].unit_class].sections;
}

Replicas PeriodicReplicas::kept() const {
  std::vector<Replica> kept;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    kept.push_back(kept_[i].replica);
    sizes.push_back(count_in(i, 0, count_));
  }
  return {count_, std::move(kept), sizes};
}

}  // namespace sim::fold
