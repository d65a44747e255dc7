// Iterations, time, tracks and links of a run.
#include "sim/training/outcome.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/training/jitter.h"

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

std::vector<ObservedLinks> link_classes(const Job& job, const JobSystem& system,
                                        std::size_t limit) {
  const topology::Cluster& cluster = *job.cluster;
  std::vector<std::pair<topology::LinkIndex, std::int32_t>> order;  // (link, resource)
  for (std::size_t r = 0; r < system.origins.size(); ++r) {
    if (system.origins[r].kind != ResourceOrigin::Kind::link || system.amounts[r] <= 0) continue;
    order.emplace_back(system.origins[r].index, static_cast<std::int32_t>(r));
  }
  std::sort(order.begin(), order.end());
  // Bytes are compared in whole kilobytes: shares of a fraction are rounded.
  std::map<std::tuple<topology::LinkKind, double, std::int64_t>, ObservedLinks> classes;
  for (const auto& [l, resource] : order) {
    const double bytes = static_cast<double>(system.amounts[static_cast<std::size_t>(resource)]) /
                         (SystemBuilder::amounts_per_byte * system.rounds);
    const topology::Link link = cluster.link(l);
    const auto [entry, is_new] = classes.try_emplace(
        {link.kind, link.capacity.value(), static_cast<std::int64_t>(bytes / 1000)});
    ObservedLinks& c = entry->second;
    if (is_new) {
      c.resource = resource;
      c.links.count = 0;
      c.links.example = cluster.link_name(l);
      c.links.capacity = link.capacity.value();
      c.links.bytes = bytes;
    }
    c.links.count += system.alike[static_cast<std::size_t>(resource)];
  }
  std::vector<ObservedLinks> result;
  for (auto& [key, c] : classes) result.push_back(std::move(c));
  std::stable_sort(result.begin(), result.end(),
                   [](const ObservedLinks& a, const ObservedLinks& b) {
                     return a.links.bytes / a.links.capacity > b.links.bytes / b.links.capacity;
                   });
  if (result.size() > limit) result.resize(limit);
  return result;
}

namespace {

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
  invariant(sum == last_end - start || system.rounds > 1,
            "the parts of a rank's time do not sum to it");
  // Streams that end after the last compute stream (a send nobody needs any more).
  result.time[static_cast<std::size_t>(Category::other)] += iteration - sum;
}

void fill_tracks(const JobSystem& system, const std::vector<std::int32_t>& class_of,
                 const network::Outcome& outcome, Picoseconds start, Result& result) {
  const auto class_of_lane = [&](const Lane& lane) {
    return class_of[static_cast<std::size_t>(lane.compute)];
  };
  std::map<std::int32_t, std::int64_t> ranks;  // by class of their compute stream
  for (const Lane& lane : system.lanes) {
    ranks[class_of_lane(lane)] += lane.size * static_cast<std::int64_t>(lane.ranks.size());
  }
  std::map<std::int32_t, std::size_t> track_of;
  for (const RecordedStream& recorded : system.recorded) {
    Track track;
    if (!system.lanes.empty()) {
      const Lane& lane = system.lanes[static_cast<std::size_t>(recorded.lane)];
      track.rank = lane.ranks.front();
      const Stage& stage = system.stages[static_cast<std::size_t>(lane.stage)];
      track.stage = stage.place;
      track.replica = system.pipelines[static_cast<std::size_t>(stage.pipeline)].first_replica;
      track.ranks_alike = ranks.at(class_of_lane(lane));
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
    if (record.ended_at <= start && system.rounds > 1) continue;  // of a round before
    result.tracks[track_of.at(record.stream)].spans.push_back(
        {program.labels[static_cast<std::size_t>(step.label)], static_cast<Category>(step.kind),
         record.started_at - start, record.ended_at - start});
  }
}

}  // namespace

Picoseconds beyond_run(const JobSystem& system, const network::Outcome& outcome) {
  std::vector<Picoseconds> samples;
  Picoseconds last = 0;
  for (const FinishLine& line : system.finish_lines) {
    const Picoseconds end = outcome.last_ends[static_cast<std::size_t>(line.stream)];
    last = std::max(last, end);
    if (line.is_sampled) samples.push_back(end);
  }
  if (samples.size() < 2) return 0;
  const Picoseconds expected =
      *std::max_element(samples.begin(), samples.end()) + beyond_samples(samples, system.replicas);
  return std::max<Picoseconds>(expected - last, 0);  // a disturbed replica may be later still
}

namespace {

std::vector<Picoseconds> iteration_ends(const JobSystem& system, const network::Outcome& outcome) {
  if (system.round_ends.empty()) return outcome.iteration_ends;
  std::vector<Picoseconds> ends;
  for (const std::int32_t stream : system.round_ends) {
    ends.push_back(outcome.last_ends[static_cast<std::size_t>(stream)]);
  }
  return ends;
}

}  // namespace

void fill(const JobSystem& system, const std::vector<ObservedLinks>& links,
          const std::vector<std::int32_t>& class_of, const network::Outcome& outcome,
          Picoseconds beyond, Result& result) {
  Picoseconds before = 0;
  for (const Picoseconds end : iteration_ends(system, outcome)) {
    result.iterations_ps.push_back(end - before);
    before = end;
  }
  // The first round fills the pipeline.
  if (system.rounds > 1) result.iterations_ps.erase(result.iterations_ps.begin());
  const Picoseconds start = before - result.iteration_ps();
  fill_time(system, outcome, start, result);
  fill_tracks(system, class_of, outcome, start, result);
  for (std::int64_t& iteration : result.iterations_ps) iteration += beyond;
  result.time[static_cast<std::size_t>(Category::wait)] += beyond;
  result.fold.exact = system.finish_lines.empty();
  result.pipelining = system.pipelining;
  const double seconds = to_seconds(result.iteration_ps()).value();
  for (const ObservedLinks& observed : links) {
    LinkClass& link = result.links.emplace_back(observed.links);
    link.utilization_mean = seconds > 0 ? link.bytes / (link.capacity * seconds) : 0;
  }
  for (const network::LoadRecord& load : outcome.loads) {
    LinkClass& link = result.links[static_cast<std::size_t>(load.observed)];
    const double share = static_cast<double>(load.load >> 20) / 4096.0 / link.capacity;
    link.utilization_max = std::max(link.utilization_max, share);
    link.load.emplace_back(load.at - start, share);
  }
  for (LinkClass& link : result.links) {
    link.utilization_max = std::max(link.utilization_max, link.utilization_mean);
  }
  result.fingerprint = outcome.fingerprint;
}

}  // namespace sim::training
