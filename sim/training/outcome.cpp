// Iterations, time, tracks and links of a run.
#include "sim/training/outcome.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sim::training {

std::string_view name(Category category) {
  switch (category) {
    case Category::compute:
      return "compute";
    case Category::recompute:
      return "recompute";
    case Category::optimizer:
      return "optimizer";
    case Category::bubble:
      return "bubble";
    case Category::wait:
      return "wait";
    case Category::host:
      return "host";
    case Category::other:
      return "other";
    case Category::exposed_tensor:
      return "exposed.tensor";
    case Category::exposed_context:
      return "exposed.context";
    case Category::exposed_expert:
      return "exposed.expert";
    case Category::exposed_pipeline:
      return "exposed.pipeline";
    case Category::exposed_data:
      return "exposed.data";
    case Category::exposed_offload:
      return "exposed.offload";
  }
  bug("unknown category");
}

std::vector<LinkClass> link_classes(const Job& job, const JobSystem& system, std::size_t limit) {
  const topology::Cluster& cluster = *job.cluster;
  // Bytes are compared in whole kilobytes: sums of shares differ in their last bits.
  std::map<std::tuple<topology::LinkKind, double, std::int64_t>, LinkClass> classes;
  for (topology::LinkIndex l = 0; l < cluster.link_count(); ++l) {
    const double bytes = system.amounts[static_cast<std::size_t>(l)];
    if (bytes <= 0) continue;
    const topology::Link link = cluster.link(l);
    LinkClass& c =
        classes[{link.kind, link.capacity.value(), static_cast<std::int64_t>(bytes / 1000)}];
    if (!c.example.empty()) {
      ++c.count;
      continue;
    }
    c.example = cluster.link_name(l);
    c.capacity = link.capacity.value();
    c.bytes = bytes;
  }
  std::vector<LinkClass> result;
  for (auto& [key, c] : classes) result.push_back(std::move(c));
  std::stable_sort(result.begin(), result.end(), [](const LinkClass& a, const LinkClass& b) {
    return a.bytes / a.capacity > b.bytes / b.capacity;
  });
  if (result.size() > limit) result.resize(limit);
  return result;
}

std::vector<std::int32_t> examples(const Job& job, const std::vector<LinkClass>& classes) {
  std::vector<std::int32_t> result;
  for (const LinkClass& c : classes) {
    for (const topology::LinkIndex l : job.cluster->links_of_part(c.example)) {
      if (job.cluster->link_name(l) == c.example) result.push_back(l);
    }
  }
  return result;
}

namespace {

Picoseconds last_start(const network::Outcome& outcome) {
  const std::size_t runs = outcome.iteration_ends.size();
  // A repeated iteration was recorded when it ran first.
  if (runs < 2) return 0;
  const bool is_repeat = outcome.last_ends.empty() ||
                         *std::max_element(outcome.last_ends.begin(), outcome.last_ends.end()) <=
                             outcome.iteration_ends.front();
  return is_repeat ? 0 : outcome.iteration_ends[runs - 2];
}

void fill_time(const JobSystem& system, const network::Outcome& outcome, Picoseconds start,
               Result& result) {
  const Lane* last = nullptr;
  Picoseconds last_end = -1;
  for (const Lane& lane : system.lanes) {
    const Picoseconds end = outcome.last_ends[static_cast<std::size_t>(lane.compute)];
    if (end <= last_end) continue;
    last_end = end;
    last = &lane;
  }
  const Picoseconds iteration = result.iteration_ps();
  if (!last) {
    result.time[static_cast<std::size_t>(Category::other)] = iteration;
    return;
  }
  result.time_rank = last->ranks.front();
  const auto& times = outcome.times[static_cast<std::size_t>(last->compute)];
  Picoseconds sum = 0;
  for (int c = 0; c < category_count; ++c) {
    result.time[static_cast<std::size_t>(c)] = times[static_cast<std::size_t>(c)];
    sum += times[static_cast<std::size_t>(c)];
  }
  invariant(sum == last_end - start, "the parts of a rank's time do not sum to it");
  // Streams that end after the last compute stream (a send nobody needs any more).
  result.time[static_cast<std::size_t>(Category::other)] += iteration - sum;
}

void fill_tracks(const JobSystem& system, const network::Outcome& outcome, Picoseconds start,
                 Result& result) {
  std::map<std::int32_t, std::size_t> track_of;
  for (const RecordedStream& recorded : system.recorded) {
    Track track;
    if (!system.lanes.empty()) {
      const Lane& lane = system.lanes[static_cast<std::size_t>(recorded.lane)];
      track.rank = lane.ranks.front();
      track.stage = lane.stage;
      for (const Lane& other : system.lanes) {
        const auto& streams = system.system.streams;
        const bool is_alike = streams[static_cast<std::size_t>(other.compute)].program ==
                              streams[static_cast<std::size_t>(lane.compute)].program;
        if (is_alike) track.ranks_alike += static_cast<int>(other.ranks.size());
      }
      --track.ranks_alike;  // it began at one
    }
    track.stream = recorded.name;
    track_of[recorded.stream] = result.tracks.size();
    result.tracks.push_back(std::move(track));
  }
  for (const network::Record& record : outcome.records) {
    const network::Stream& stream = system.system.streams[static_cast<std::size_t>(record.stream)];
    const network::Program& program =
        system.system.programs[static_cast<std::size_t>(stream.program)];
    const network::Step& step = program.steps[static_cast<std::size_t>(record.step)];
    result.tracks[track_of.at(record.stream)].spans.push_back(
        {program.labels[static_cast<std::size_t>(step.label)], static_cast<Category>(step.kind),
         record.started_at - start, record.ended_at - start});
  }
}

}  // namespace

void fill(const Job& job, const JobSystem& system, const network::Outcome& outcome,
          Result& result) {
  Picoseconds before = 0;
  for (const Picoseconds end : outcome.iteration_ends) {
    result.iterations_ps.push_back(end - before);
    before = end;
  }
  const Picoseconds start = last_start(outcome);
  fill_time(system, outcome, start, result);
  fill_tracks(system, outcome, start, result);
  result.links = link_classes(job, system, 20);
  const double seconds = to_seconds(result.iteration_ps()).value();
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    LinkClass& link = result.links[i];
    link.utilization_mean = seconds > 0 ? link.bytes / (link.capacity * seconds) : 0;
    for (const network::LoadRecord& load : outcome.loads) {
      if (load.observed != static_cast<std::int32_t>(i)) continue;
      const double share = static_cast<double>(load.load >> 20) / 4096.0 / link.capacity;
      link.utilization_max = std::max(link.utilization_max, share);
      link.load.emplace_back(load.at - start, share);
    }
    link.utilization_max = std::max(link.utilization_max, link.utilization_mean);
  }
  result.fingerprint = outcome.fingerprint;
}

}  // namespace sim::training
