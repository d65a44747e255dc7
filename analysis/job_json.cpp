// The keys of `job`.
#include <cmath>

#include "analysis/job_summary.h"

namespace analysis {

using sim::fault::Loss;
using sim::fault::Outlook;
using sim::fault::Spread;

namespace {

void add_spread(JsonWriter& json, const char* key, const Spread& spread) {
  json.key(key).open_object().member("mean", spread.mean);
  json.member("half_width", spread.half_width).member("p10", spread.p10).member("p90", spread.p90);
  json.close_object();
}

void add_losses(JsonWriter& json, const Outlook& outlook) {
  const auto& found = outlook.estimate;
  json.key("lost").open_object();
  for (std::size_t l = 0; l < sim::fault::loss_count; ++l) {
    json.member(std::string(name(static_cast<Loss>(l))) + "_s", found.lost[l]);
  }
  json.close_object();
  json.key("causes").open_array();
  for (std::size_t p = 0; p < found.causes.size(); ++p) {
    json.open_object().member("cause", outlook.model.processes[p].cause);
    json.member("parts", outlook.model.processes[p].parts);
    json.member("interruptions", found.causes[p].interruptions);
    json.member("lost_s", found.causes[p].lost).close_object();
  }
  json.close_array();
  json.member("growing_s", found.growing);
}

void add_checkpoint(JsonWriter& json, const Outlook& outlook) {
  const auto& checkpoint = outlook.model.checkpoint;
  const auto seconds = [](const std::optional<sim::Seconds>& time) {
    return time ? std::optional<double>(time->value()) : std::nullopt;
  };
  json.key("checkpoint").open_object();
  json.member("every_s", checkpoint.every.value()).member("stall_s", checkpoint.stall.value());
  json.member("write_s", checkpoint.write.value()).member("read_s", checkpoint.read.value());
  json.member("completed", outlook.estimate.checkpoints);
  json.member("best_every_s",
              outlook.best ? std::optional(outlook.best->every.value()) : std::nullopt);
  json.member("best_ratio", outlook.best ? std::optional(outlook.best->ratio) : std::nullopt);
  json.member("young_every_s", seconds(outlook.young)).member("young_ratio", outlook.ratio_young);
  json.member("daly_every_s", seconds(outlook.daly)).key("memory");
  if (!outlook.model.memory) {
    json.value(std::optional<double>()).close_object();
    return;
  }
  const auto& memory = outlook.model.memory->times;
  json.open_object().member("every_s", memory.every.value());
  json.member("stall_s", memory.stall.value()).member("write_s", memory.write.value());
  json.member("read_s", memory.read.value());
  json.member("completed", outlook.estimate.memory_checkpoints);
  json.close_object().close_object();
}

void add_cost(JsonWriter& json, const Outlook& outlook) {
  const bool has_tokens = outlook.tokens > 0;
  const double wall = has_tokens ? outlook.time_to_tokens() : outlook.estimate.wall.mean;
  const double hours = wall / 3600 * outlook.devices;
  json.member("time_to_tokens_s", has_tokens ? std::optional<double>(wall) : std::nullopt);
  json.member("device_hours", hours);
  json.member("cost_usd",
              outlook.device_hour ? std::optional(hours * *outlook.device_hour) : std::nullopt);
}

void add_timeline(JsonWriter& json, const Outlook& outlook) {
  json.key("timeline").open_array();
  for (const auto& episode : outlook.episodes) {
    json.open_object().member("start_s", episode.start).member("end_s", episode.end);
    json.key("what").value(episode.is_training ? std::string_view("training") : name(episode.loss));
    json.member("replicas", episode.replicas).close_object();
  }
  json.close_array();
}

}  // namespace

void add_job(JsonWriter& json, const Outlook& outlook) {
  const auto& found = outlook.estimate;
  json.key("job").open_object();
  add_spread(json, "effective_training_time_ratio", found.ratio);
  json.member("goodput_tokens_per_second", found.ratio.mean * outlook.tokens_per_second);
  json.member("policy", outlook.policy).member("histories", found.histories);
  json.member("is_precise", found.is_precise).member("unfinished", found.unfinished);
  add_spread(json, "wall_s", found.wall);
  add_spread(json, "work_s", found.work);
  add_spread(json, "interruptions", found.interruptions);
  json.member("mean_time_to_interruption_s", found.time_to_interruption);
  add_losses(json, outlook);
  add_checkpoint(json, outlook);
  json.member("spares", outlook.model.machines.spares).key("spares_needed").open_array();
  for (const auto& needed : outlook.spares_needed) {
    json.open_object().member("share", needed.share).member("hosts", needed.hosts).close_object();
  }
  json.close_array();
  add_cost(json, outlook);
  json.member("states", outlook.states).member("assumed", outlook.notes);
  add_timeline(json, outlook);
  json.close_object();
}

}  // namespace analysis
