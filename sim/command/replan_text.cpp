// Three iteration times, what was tried, and the plan to go on with.
#include "sim/command/replan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/json_writer.h"
#include "sim/base/units.h"
#include "sim/scenario/replanned.h"
#include "sim/scenario/yaml_text.h"

namespace sim::command {

namespace {

constexpr std::size_t names_max = 8;  // of devices on a line

std::string time(Picoseconds duration) { return to_text(to_seconds(duration)); }

std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= names_max) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... {} in all", fmt::join(names.begin(), names.begin() + names_max, ", "),
                     names.size());
}

}  // namespace

std::string described(const plan::Replanning& replanning) {
  std::set<plan::Change> changes(replanning.changes.begin(), replanning.changes.end());
  if (changes.size() > 1) changes.erase(plan::Change::keep);
  std::string text = "each replica its own change";
  if (changes.size() == 1) {
    switch (*changes.begin()) {
      case plan::Change::keep:
        text = "tensor groups kept";
        break;
      case plan::Change::regroup:
        text = "regrouped";
        break;
      case plan::Change::drop:
        text = "slow devices left out";
        break;
    }
  }
  if (replanning.order == plan::StageOrder::slow_first) text += ", slow stages first";
  if (replanning.order == plan::StageOrder::slow_last) text += ", slow stages last";
  return text;
}

std::vector<std::string> ReplanReport::idle_devices() const {
  std::vector<std::string> result;
  if (!best()) return result;
  std::set<int> held;
  for (const plan::Replica& replica : best()->plan.replicas) {
    held.insert(replica.devices.begin(), replica.devices.end());
  }
  for (int device = 0; device < static_cast<int>(replan.slowdowns.size()); ++device) {
    if (!held.contains(device)) result.push_back(cluster.device_name(device));
  }
  return result;
}

std::string ReplanReport::slow_devices() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < replan.slowdowns.size(); ++i) {
    if (replan.slowdowns[i] <= 1) continue;
    result.push_back(
        fmt::format("{} by {:.4g}", cluster.device_name(static_cast<int>(i)), replan.slowdowns[i]));
  }
  return listed(result);
}

std::string ReplanReport::plan_text() const {
  scenario::Value plan, root;
  scenario::put(plan, "replicas", scenario::replicas_value(best()->plan.replicas, cluster));
  scenario::put(root, "plan", std::move(plan));
  return scenario::yaml_text(root);
}

std::string ReplanReport::moving_text() const {
  if (!replan.moving) return "";
  if (replan.moving->time == 0) return "moving states          none\n";
  const std::int64_t iterations = replan.iterations_to_pay();
  return fmt::format(
      "moving states          {} between devices, at most {} into one, in {}\n"
      "                       paid after {} iteration{}\n",
      to_text(replan.moving->total), to_text(replan.moving->into_one), time(replan.moving->time),
      iterations, iterations == 1 ? "" : "s");
}

std::string ReplanReport::text() const {
  std::string out =
      fmt::format("iteration time         {} without stragglers\n", time(replan.healthy));
  out += fmt::format("                       {} with them, slowdown {:.4g}\n", time(replan.slow),
                     static_cast<double>(replan.slow) / static_cast<double>(replan.healthy));
  if (best()) {
    out += fmt::format(
        "                       {} with the new plan, {:.1f} % of the slowdown won back\n",
        time(best()->iteration), 100 * replan.won_back());
  }
  out += fmt::format("healthy, dealt anew    {}, layers dealt around embedding and head\n",
                     time(replan.even));
  out += fmt::format("ideal                  {}, that at the speed of all devices together\n",
                     time(replan.ideal()));
  out += fmt::format("slow devices           {}\n", slow_devices());
  if (best()) {
    const auto idle = idle_devices();
    out += fmt::format("idle devices           {}\n", idle.empty() ? "none" : listed(idle));
    out += moving_text();
  }
  for (const std::string& note : notes) out += fmt::format("note                   {}\n", note);
  out += fmt::format("\n{:<46} {:>14} {:>14}\n", "tried", "planner says", "simulated");
  for (const training::PlannedAnew& one : replan.tried) {
    out += fmt::format("{} {:<44} {:>14} {:>14}{}\n", &one == best() ? '*' : ' ',
                       described(one.replanning), time(one.estimate), time(one.iteration),
                       one.fits ? "" : "  out of memory");
  }
  if (!best()) {
    return out + (replan.tried.empty() ? "  nothing: the layers fit no other way\n"
                                       : "nothing is faster than the plan as it is\n");
  }
  return out + "\n" + plan_text();
}

std::string ReplanReport::json() const {
  analysis::JsonWriter json;
  json.open_object();
  json.key("healthy_iteration_time_s").seconds(replan.healthy);
  json.key("iteration_time_s").seconds(replan.slow);
  json.key("healthy_dealt_anew_s").seconds(replan.even);
  json.key("ideal_iteration_time_s").seconds(replan.ideal());
  json.key("slow_devices").open_array();
  for (std::size_t i = 0; i < replan.slowdowns.size(); ++i) {
    if (replan.slowdowns[i] <= 1) continue;
    json.open_object().member("device", cluster.device_name(static_cast<int>(i)));
    json.member("slowdown", replan.slowdowns[i]).close_object();
  }
  json.close_array().key("tried").open_array();
  for (const training::PlannedAnew& one : replan.tried) {
    json.open_object().member("what", described(one.replanning));
    json.key("estimate_s").seconds(one.estimate);
    json.key("iteration_time_s").seconds(one.iteration);
    json.member("fits", one.fits).member("is_best", &one == best()).close_object();
  }
  json.close_array().member("notes", notes);
  if (best()) {
    json.key("planned_iteration_time_s").seconds(best()->iteration);
    json.member("won_back", replan.won_back());
    json.member("fingerprint", fmt::format("{:016x}", best()->fingerprint));
    json.member("idle_devices", idle_devices());
    if (const auto& moving = replan.moving) {
      json.key("moving").open_object().member("bytes", moving->total.value());
      json.member("bytes_into_one", moving->into_one.value());
      json.key("time_s").seconds(moving->time);
      json.member("iterations_to_pay", replan.iterations_to_pay()).close_object();
    }
    json.key("replicas").open_array();
    for (const plan::Replica& replica : best()->plan.replicas) {
      json.open_object().key("tensor").open_array();
      for (const int degree : replica.tensor) json.value(degree);
      json.close_array().key("layers").open_array();
      for (const int count : replica.layers) json.value(count);
      json.close_array().member("micro_batches", replica.micro_batches);
      std::vector<std::string> names;
      for (const int device : replica.devices) names.push_back(cluster.device_name(device));
      json.member("devices", names).close_object();
    }
    json.close_array();
  }
  return json.close_object().take();
}

}  // namespace sim::command
