// From a system to its sight graph, and from the graph's partition to the smaller system.
#include "sim/fold/quotient.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sim::fold {

using network::Coefficient;
using network::Member;
using network::Stream;
using network::System;

namespace {

bool is_passive(const System& system, std::int32_t resource) {
  return !system.is_passive.empty() && system.is_passive[static_cast<std::size_t>(resource)];
}

// What loads a resource: a stream through one of its footprints, or by what it reserves when a
// member of one of its slots has come far enough.
struct Load {
  std::int32_t resource = 0, stream = 0;
  std::int32_t member = -1;  // stream waited for; -1: use
  std::int32_t part = 0;     // footprint of the stream, or slot
  std::int64_t coefficient = Coefficient::coefficient_one;
  std::int32_t count = 1;
};

template <class Visit>
void each_load(const System& system, const Shape& shape, Visit visit) {
  const auto each = [&](std::int32_t footprint, Load load) {
    for (const Coefficient& coefficient : system.coefficients_of(footprint)) {
      load.resource = coefficient.resource;
      load.coefficient = coefficient.coefficient;
      load.count = coefficient.count;
      visit(load);
    }
  };
  for (std::size_t s = 0; s < system.streams.size(); ++s) {
    const Stream& stream = system.streams[s];
    const network::ProgramNames& named = shape.names[static_cast<std::size_t>(stream.program)];
    const auto index = static_cast<std::int32_t>(s);
    for (const std::int32_t f : named.footprints) {
      each(stream.first_footprint + f, {.stream = index, .part = f});
    }
    for (const std::int32_t k : named.reserving) {
      for (const Member& member : system.members_of(system.slot_of(index, k))) {
        if (member.footprint < 0) continue;
        each(member.footprint, {.stream = index, .member = member.stream, .part = k});
      }
    }
  }
}

// Numbers equal keys alike, in the order in which they first come.
template <class Key>
class Numbering {
 public:
  std::uint32_t operator()(const Key& key) {
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, std::uint32_t> numbers_;
};

// C0. Also what decides how a stream's time is called.
std::vector<std::uint32_t> stream_colours(const System& system, const Shape& shape,
                                          const Lumping* start) {
  Numbering<std::vector<std::int64_t>> colour;
  std::vector<std::uint32_t> result;
  std::vector<std::int64_t> key;
  for (std::size_t s = 0; s < system.streams.size(); ++s) {
    const Stream& stream = system.streams[s];
    const auto program = static_cast<std::size_t>(stream.program);
    key = {shape.program_number[program], stream.is_accounted,
           start ? start->class_of_stream[s] : 0};
    for (const std::int32_t k : shape.names[program].slots) {
      const network::Slot& slot = system.slot_of(static_cast<std::int32_t>(s), k);
      key.push_back(slot.kind_in_progress * 256 + slot.kind_late);
    }
    result.push_back(colour(key));
  }
  return result;
}

// Labels of uses come after those of slots.
constexpr std::uint32_t use_label = 1U << 30;

// Streams, then resources.
SightGraph sight_graph(const System& system, const Shape& shape,
                       std::span<const std::int64_t> capacity, const Lumping* start) {
  SightGraph graph;
  const auto streams = static_cast<std::int32_t>(system.streams.size());
  const std::vector<std::uint32_t> colours = stream_colours(system, shape, start);
  for (std::int32_t s = 0; s < streams; ++s) {
    const Stream& stream = system.streams[static_cast<std::size_t>(s)];
    const network::ProgramNames& named = shape.names[static_cast<std::size_t>(stream.program)];
    graph.add_vertex(colours[static_cast<std::size_t>(s)], false);
    for (const std::int32_t k : named.slots) {  // C1
      for (const Member& member : system.members_of(system.slot_of(s, k))) {
        graph.add_sight({.vertex = member.stream, .label = static_cast<std::uint32_t>(k)});
      }
    }
    for (const std::int32_t f : named.footprints) {  // C2
      for (const Coefficient& c : system.coefficients_of(stream.first_footprint + f)) {
        if (is_passive(system, c.resource)) continue;
        graph.add_sight(
            {.vertex = streams + c.resource, .label = use_label + static_cast<std::uint32_t>(f)});
      }
    }
  }
  std::vector<std::vector<Sight>> loads(system.capacity.size());  // C3
  Numbering<std::tuple<bool, std::int32_t, std::int64_t>> label;
  each_load(system, shape, [&](const Load& load) {
    if (is_passive(system, load.resource)) return;
    loads[static_cast<std::size_t>(load.resource)].push_back(
        {load.stream, load.member, label({load.member >= 0, load.part, load.coefficient}),
         load.count});
  });
  Numbering<std::tuple<std::int64_t, std::int32_t, bool>> colour;
  for (std::size_t r = 0; r < system.capacity.size(); ++r) {
    const bool passive = is_passive(system, static_cast<std::int32_t>(r));
    graph.add_vertex(colour({capacity[r], start ? start->class_of_resource[r] : 0, passive}), true);
    for (const Sight& sight : loads[r]) graph.add_sight(sight);
  }
  return graph;
}

}  // namespace

Lumping lump(const System& system, const Shape& shape, std::span<const std::int64_t> capacity,
             const Lumping* start, int hash_bits) {
  const Partition partition = refine(sight_graph(system, shape, capacity, start), hash_bits);
  const auto streams = static_cast<std::int32_t>(system.streams.size());
  Lumping result;
  for (const Vertex v : partition.lowest) {
    if (v < streams) {
      result.stream.push_back(v);
    } else if (!is_passive(system, v - streams)) {
      result.resource.push_back(v - streams);
    }
  }
  // Streams come first, so their classes have the lowest numbers.
  const auto stream_classes = static_cast<Class>(result.stream.size());
  std::vector<Class> number(partition.lowest.size(), -1);
  Class next = 0;
  for (std::size_t c = result.stream.size(); c < partition.lowest.size(); ++c) {
    if (!is_passive(system, partition.lowest[c] - streams)) number[c] = next++;
  }
  for (std::size_t v = 0; v < partition.class_of.size(); ++v) {
    const Class c = partition.class_of[v];
    if (c < stream_classes) {
      result.class_of_stream.push_back(c);
    } else {
      result.class_of_resource.push_back(number[static_cast<std::size_t>(c)]);
    }
  }
  return result;
}

bool may_fold(const System& system, const Shape& shape) {
  std::vector<char> is_run(system.programs.size(), 0);
  return std::any_of(system.streams.begin(), system.streams.end(), [&](const Stream& stream) {
    const std::uint32_t number = shape.program_number[static_cast<std::size_t>(stream.program)];
    return std::exchange(is_run[number], 1) == 1;
  });
}

namespace {

class QuotientWriter {
 public:
  QuotientWriter(const System& system, const Shape& shape, std::span<const std::int64_t> capacity,
                 const Lumping& lumping)
      : system_(system), shape_(shape), capacity_(capacity), lumping_(lumping) {}

  System write();

 private:
  // (class, class waited for or -1, footprint or slot) -> (resource, coefficient) -> streams
  using LoadKey = std::tuple<Class, Class, std::int32_t>;
  using Loads = std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t>;

  Class stream_class(std::int32_t stream) const {
    return lumping_.class_of_stream[static_cast<std::size_t>(stream)];
  }
  void write_resources();
  void collect_loads();
  void write_stream(Class c);
  std::int32_t write_footprint(const LoadKey& key);

  const System& system_;
  const Shape& shape_;
  std::span<const std::int64_t> capacity_;
  const Lumping& lumping_;
  std::vector<std::int32_t> lowest_;              // [resource of the result]
  std::map<std::int32_t, std::int32_t> passive_;  // resource -> its number in the result
  std::map<LoadKey, Loads> loads_;
  System result_;
};

void QuotientWriter::write_resources() {
  const auto add = [&](std::int32_t resource) {
    const auto r = static_cast<std::size_t>(resource);
    result_.capacity.push_back(capacity_[r]);
    lowest_.push_back(resource);
    result_.is_passive.push_back(is_passive(system_, resource) ? 1 : 0);
    return static_cast<std::int32_t>(result_.capacity.size()) - 1;
  };
  for (const std::int32_t resource : lumping_.resource) add(resource);
  for (const std::int32_t resource : system_.observed) {
    if (is_passive(system_, resource)) {
      if (!passive_.contains(resource)) passive_[resource] = add(resource);
      result_.observed.push_back(passive_[resource]);
    } else {
      result_.observed.push_back(lumping_.class_of_resource[static_cast<std::size_t>(resource)]);
    }
  }
}

// What the lowest resource of each class carries.
void QuotientWriter::collect_loads() {
  each_load(system_, shape_, [&](const Load& load) {
    std::int32_t resource = 0;
    if (is_passive(system_, load.resource)) {
      const auto found = passive_.find(load.resource);
      if (found == passive_.end()) return;
      resource = found->second;
    } else {
      resource = lumping_.class_of_resource[static_cast<std::size_t>(load.resource)];
      if (lumping_.resource[static_cast<std::size_t>(resource)] != load.resource) return;
    }
    const Class member = load.member < 0 ? -1 : stream_class(load.member);
    loads_[{stream_class(load.stream), member, load.part}][{resource, load.coefficient}] +=
        load.count;
  });
}

std::int32_t QuotientWriter::write_footprint(const LoadKey& key) {
  const auto first = static_cast<std::int32_t>(result_.coefficients.size());
  const auto found = loads_.find(key);
  if (found != loads_.end()) {
    for (const auto& [where, count] : found->second) {
      result_.coefficients.push_back({where.first, count, where.second});
    }
  }
  result_.footprints.push_back(
      {first, static_cast<std::int32_t>(result_.coefficients.size()) - first});
  return static_cast<std::int32_t>(result_.footprints.size()) - 1;
}

void QuotientWriter::write_stream(Class c) {
  const std::int32_t lowest = lumping_.stream[static_cast<std::size_t>(c)];
  const Stream& stream = system_.streams[static_cast<std::size_t>(lowest)];
  const network::ProgramNames& named = shape_.names[static_cast<std::size_t>(stream.program)];
  Stream written = stream;
  written.size = 0;
  written.is_recorded = false;
  written.first_slot = static_cast<std::int32_t>(result_.slots.size());
  written.first_footprint = static_cast<std::int32_t>(result_.footprints.size());
  const std::int32_t footprints = named.footprints.empty() ? 0 : named.footprints.back() + 1;
  for (std::int32_t f = 0; f < footprints; ++f) write_footprint({c, -1, f});
  const std::int32_t slots = named.slots.empty() ? 0 : named.slots.back() + 1;
  std::vector<Class> classes;
  for (std::int32_t k = 0; k < slots; ++k) {
    network::Slot slot = system_.slot_of(lowest, k);
    classes.clear();
    for (const Member& member : system_.members_of(slot)) {
      classes.push_back(stream_class(member.stream));
    }
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    slot.first = static_cast<std::int32_t>(result_.members.size());
    slot.count = static_cast<std::int32_t>(classes.size());
    const bool reserves = std::binary_search(named.reserving.begin(), named.reserving.end(), k);
    for (const Class member : classes) {
      result_.members.push_back({member, reserves ? write_footprint({c, member, k}) : -1});
    }
    result_.slots.push_back(slot);
  }
  result_.streams.push_back(written);
  result_.stream_names.push_back(system_.stream_names[static_cast<std::size_t>(lowest)]);
}

System QuotientWriter::write() {
  result_.programs = system_.programs;
  result_.iterations = system_.iterations;
  write_resources();
  result_.resource_name = [name = system_.resource_name, lowest = lowest_](std::int32_t r) {
    return name(lowest[static_cast<std::size_t>(r)]);
  };
  collect_loads();
  for (std::size_t c = 0; c < lumping_.stream.size(); ++c) write_stream(static_cast<Class>(c));
  for (std::size_t s = 0; s < system_.streams.size(); ++s) {
    Stream& stream = result_.streams[static_cast<std::size_t>(lumping_.class_of_stream[s])];
    stream.size += system_.streams[s].size;
    stream.is_recorded = stream.is_recorded || system_.streams[s].is_recorded;
  }
  return std::move(result_);
}

}  // namespace

System quotient(const System& system, const Shape& shape, std::span<const std::int64_t> capacity,
                const Lumping& lumping) {
  return QuotientWriter(system, shape, capacity, lumping).write();
}

}  // namespace sim::fold
