// Trace events: "M" names a process or thread, "X" is a span, "C" a counter.
#include "analysis/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/file.h"
#include "analysis/gzip.h"
#include "analysis/lines.h"
#include "analysis/measures.h"

namespace analysis {

using sim::training::Result;
using sim::training::Track;

void name_part(JsonWriter& json, const char* what, int process, int thread,
               const std::string& name) {
  json.new_line().open_object().member("ph", "M").member("name", what);
  json.member("pid", process).member("tid", thread);
  json.key("args").open_object().member("name", name).close_object().close_object();
}

namespace {

void add_spans(JsonWriter& json, const Track& track, int thread) {
  for (const auto& span : track.spans) {
    json.new_line().open_object().member("ph", "X").member("name", span.name);
    json.member("cat", name(span.category)).member("pid", track.rank).member("tid", thread);
    json.key("ts").microseconds(span.start_ps);
    json.key("dur").microseconds(span.end_ps - span.start_ps).close_object();
  }
}

void add_loads(JsonWriter& json, const Result& result, int process) {
  for (const auto& link : result.links) {
    for (const auto& [at, share] : link.load) {
      json.new_line().open_object().member("ph", "C").member("name", link.example);
      json.member("pid", process).member("tid", 0);
      json.key("ts").microseconds(at);
      json.key("args").open_object().member("use [%]", 100 * share).close_object().close_object();
    }
  }
}

// Everything that a rank holds.
void add_memory(JsonWriter& json, const Result& result) {
  for (const auto& stage : result.memory) {
    const auto track = std::find_if(
        result.tracks.begin(), result.tracks.end(),
        [&](const Track& t) { return t.stage == stage.stage && t.replica == stage.replica; });
    if (track == result.tracks.end()) continue;
    const double rest = (stage.memory.peak() - stage.memory.activations).value();
    for (const auto& [at, bytes] : stage.activations) {
      json.new_line().open_object().member("ph", "C").member("name", "memory");
      json.member("pid", track->rank).member("tid", 0);
      json.key("ts").microseconds(at);
      json.key("args").open_object().member("bytes", rest + bytes).close_object().close_object();
    }
  }
}

}  // namespace

std::string trace_json(const Result& result) {
  JsonWriter json;
  json.open_object().member("displayTimeUnit", "ns");
  json.key("otherData").open_object().member("scenario", result.scenario);
  json.member("fingerprint", fmt::format("{:016x}", result.fingerprint)).close_object();
  json.key("traceEvents").open_array();
  std::map<int, int> threads;  // of each process, so far
  int last_rank = 0;
  for (const Track& track : result.tracks) {
    const int thread = threads[track.rank]++;
    last_rank = std::max(last_rank, track.rank);
    if (thread == 0) {
      const std::string alike = counted(track.ranks_alike, "rank");
      name_part(json, "process_name", track.rank, 0,
                fmt::format("rank {} ({}, {} alike)", track.rank,
                            stage_name(result, track.stage, track.replica), alike));
    }
    name_part(json, "thread_name", track.rank, thread, track.stream);
    add_spans(json, track, thread);
  }
  add_memory(json, result);
  const int links = last_rank + 1;
  if (!result.links.empty()) name_part(json, "process_name", links, 0, "busiest links");
  add_loads(json, result, links);
  return json.new_line().close_array().close_object().take() + "\n";
}

void write_trace(const Result& result, const std::filesystem::path& file) {
  write_whole(file, gzip(trace_json(result)));
}

}  // namespace analysis
