// Stretches are trace events of one process.
#include "analysis/job_file.h"

#include <cmath>

#include "analysis/file.h"
#include "analysis/gzip.h"
#include "analysis/json_writer.h"
#include "analysis/trace.h"

namespace analysis {

using sim::fault::Episode;
using sim::fault::Loss;
using sim::fault::Outlook;

namespace {

using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

std::string what(const Episode& episode) {
  return std::string(episode.is_training ? "training" : name(episode.loss));
}

void add_losses(Hdf5Image& image, const Outlook& outlook) {
  const auto& found = outlook.estimate;
  Texts losses, causes;
  for (std::size_t l = 0; l < sim::fault::loss_count; ++l) {
    losses.emplace_back(name(static_cast<Loss>(l)));
  }
  image.dataset("loss", losses);
  image.dataset("lost", "s", Numbers(found.lost.begin(), found.lost.end()));
  Numbers interruptions, lost;
  for (std::size_t p = 0; p < found.causes.size(); ++p) {
    causes.push_back(outlook.model.processes[p].cause);
    interruptions.push_back(found.causes[p].interruptions);
    lost.push_back(found.causes[p].lost);
  }
  image.dataset("cause", causes);
  image.dataset("cause_interruptions", "1", interruptions);
  image.dataset("cause_lost", "s", lost);
}

void add_course(Hdf5Image& image, const Outlook& outlook) {
  Numbers start, end;
  Integers replicas;
  Texts names;
  for (const Episode& episode : outlook.episodes) {
    start.push_back(episode.start);
    end.push_back(episode.end);
    replicas.push_back(episode.replicas);
    names.push_back(what(episode));
  }
  image.enter("course");
  image.dataset("start", "s", start);
  image.dataset("end", "s", end);
  image.dataset("what", names);
  image.dataset("replicas", "1", replicas);
  image.leave();
}

// Seconds as whole picoseconds overflow after 107 days.
std::int64_t milliseconds(double seconds) { return std::llround(seconds * 1e3); }

void add_stretch(JsonWriter& json, const Episode& episode) {
  const std::int64_t start = milliseconds(episode.start), end = milliseconds(episode.end);
  json.new_line().open_object().member("ph", "X").member("name", what(episode));
  json.member("cat", episode.is_training ? "training" : "loss").member("pid", 0);
  json.member("tid", episode.is_training ? 0 : 1);
  json.member("ts", start * 1000).member("dur", (end - start) * 1000);
  json.key("args").open_object().member("replicas", episode.replicas);
  json.close_object().close_object();
}

}  // namespace

void add_job(Hdf5Image& image, const Outlook& outlook) {
  const auto& columns = outlook.estimate.columns;
  image.enter("job");
  image.attribute("policy", outlook.policy);
  image.dataset("ratio", "1", columns.ratio);
  image.dataset("wall", "s", columns.wall);
  image.dataset("work", "s", columns.work);
  image.dataset("interruptions", "1", columns.interruptions);
  add_losses(image, outlook);
  add_course(image, outlook);
  image.leave();
}

std::string job_trace_json(const std::string& scenario, const Outlook& outlook) {
  JsonWriter json;
  json.open_object().member("displayTimeUnit", "ms");
  json.key("otherData").open_object().member("scenario", scenario).close_object();
  json.key("traceEvents").open_array();
  name_part(json, "process_name", 0, 0, "the job, one possible course");
  name_part(json, "thread_name", 0, 0, "training");
  name_part(json, "thread_name", 0, 1, "lost");
  int replicas = -1;
  for (const Episode& episode : outlook.episodes) {
    add_stretch(json, episode);
    if (episode.replicas == replicas) continue;
    replicas = episode.replicas;
    json.new_line().open_object().member("ph", "C").member("name", "replicas");
    json.member("pid", 0).member("tid", 0).member("ts", milliseconds(episode.start) * 1000);
    json.key("args").open_object().member("replicas", replicas).close_object().close_object();
  }
  return json.new_line().close_array().close_object().take() + "\n";
}

void write_job_trace(const std::string& scenario, const Outlook& outlook,
                     const std::filesystem::path& file) {
  write_whole(file, gzip(job_trace_json(scenario, outlook)));
}

}  // namespace analysis
