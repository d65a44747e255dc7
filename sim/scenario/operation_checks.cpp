// Cross-checks of programs written by hand.
#include <algorithm>
#include <functional>
#include <map>

#include "sim/scenario/checks.h"
#include "sim/scenario/encoding.h"
#include "topology/cluster.h"

namespace sim::scenario {
namespace {

using topology::DeviceIndex;

std::string path_of(std::size_t operation, const char* key) {
  return fmt::format("operations.{}.{}", operation, key);
}

void unknown_name(Reader& reader, const std::string& path, const char* noun,
                  const std::string& name, const std::vector<std::string>& known) {
  Value value;
  value.kind = Value::Kind::text;
  value.text = name;
  const Place place = reader.place(path);
  value.file = std::make_shared<const std::string>(place.file);
  value.spot = {place.line, place.column, place.length};
  report_unknown_word(reader, value, path, noun, known);
}

// Every device an operation names, with the path of the name.
std::vector<std::pair<std::string, std::string>> devices_of(const HandOperation& operation,
                                                            std::size_t index) {
  std::vector<std::pair<std::string, std::string>> named;
  if (const auto* compute = std::get_if<HandOperation::Compute>(&operation.what)) {
    named.emplace_back(path_of(index, "on"), compute->device);
  } else if (const auto* transfer = std::get_if<HandOperation::Transfer>(&operation.what)) {
    named.emplace_back(path_of(index, "from"), transfer->from);
    named.emplace_back(path_of(index, "to"), transfer->to);
  } else if (const auto* collective = std::get_if<HandOperation::Collective>(&operation.what)) {
    for (std::size_t i = 0; i < collective->devices.size(); ++i) {
      named.emplace_back(fmt::format("{}.{}", path_of(index, "devices"), i),
                         collective->devices[i]);
    }
  }
  return named;
}

// How many devices a collective's names stand for, and that each is there once.
void check_members(Reader& reader, std::size_t operation, std::vector<DeviceIndex> members) {
  const std::string path = path_of(operation, "devices");
  const std::size_t count = members.size();
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.size() < count) {
    reader.error(path, reader.place(path), fmt::format("a device twice in {}", path));
  }
  if (count < 2) {
    reader.error(path, reader.place(path), fmt::format("fewer than two devices in {}", path));
  }
}

bool is_name_of(const topology::Cluster& cluster, const std::vector<DeviceIndex>& found,
                const std::string& name) {
  return found.size() == 1 && cluster.device_name(found.front()) == name;
}

void check_devices(Reader& reader, const Scenario& scenario) {
  const topology::Cluster cluster(scenario.cluster);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scenario.operations.size(); ++i) {
    const auto* collective = std::get_if<HandOperation::Collective>(&scenario.operations[i].what);
    std::vector<DeviceIndex> members;
    bool are_all_known = true;
    for (const auto& [path, name] : devices_of(scenario.operations[i], i)) {
      const std::vector<DeviceIndex> found = cluster.devices_of_part(name);
      members.insert(members.end(), found.begin(), found.end());
      if (collective ? !found.empty() : is_name_of(cluster, found, name)) continue;
      are_all_known = false;
      const bool is_first = names.empty();
      for (topology::DeviceIndex d = 0; is_first && d < cluster.device_count(); ++d) {
        names.push_back(cluster.device_name(d));
      }
      unknown_name(reader, path, "device", name, names);
    }
    if (!collective || !are_all_known) continue;
    check_members(reader, i, members);
    const std::string path = fmt::format("operations.{}", i);
    if (reader.is_clean(path)) check_forced(reader, path, cluster, *collective, members);
  }
}

// after[i]: operations that i waits for. Returns a cycle, each waiting for the next, or nothing.
std::vector<std::size_t> cycle(const std::vector<std::vector<std::size_t>>& after) {
  enum class State { unseen, open, done };
  std::vector<State> states(after.size(), State::unseen);
  struct Step {
    std::size_t operation, next;
  };
  for (std::size_t start = 0; start < after.size(); ++start) {
    if (states[start] != State::unseen) continue;
    std::vector<Step> trail = {{start, 0}};
    states[start] = State::open;
    while (!trail.empty()) {
      Step& step = trail.back();
      if (step.next == after[step.operation].size()) {
        states[step.operation] = State::done;
        trail.pop_back();
        continue;
      }
      const std::size_t next = after[step.operation][step.next++];
      if (states[next] == State::unseen) {
        states[next] = State::open;
        trail.push_back({next, 0});
      } else if (states[next] == State::open) {
        std::vector<std::size_t> found;
        bool is_inside = false;
        for (const Step& one : trail) {
          is_inside = is_inside || one.operation == next;
          if (is_inside) found.push_back(one.operation);
        }
        return found;
      }
    }
  }
  return {};
}

void check_order(Reader& reader, const Scenario& scenario) {
  const auto& operations = scenario.operations;
  std::map<std::string, std::size_t> index_of;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    names.push_back(operations[i].name);
    if (index_of.emplace(operations[i].name, i).second) continue;
    reader.error(path_of(i, "name"), reader.place(path_of(i, "name")),
                 fmt::format("a second operation '{}'", shown(operations[i].name)));
  }
  std::vector<std::vector<std::size_t>> after(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (std::size_t j = 0; j < operations[i].after.size(); ++j) {
      const std::string& name = operations[i].after[j];
      const auto found = index_of.find(name);
      if (found == index_of.end()) {
        unknown_name(reader, fmt::format("{}.{}", path_of(i, "after"), j), "operation", name,
                     names);
      } else {
        after[i].push_back(found->second);
      }
    }
  }
  const std::vector<std::size_t> found = cycle(after);
  if (found.empty()) return;
  std::string text;
  for (const std::size_t i : found) text += shown(names[i]) + " -> ";
  reader.error(path_of(found.front(), "after"), reader.place(path_of(found.front(), "after")),
               "operations wait for each other: " + text + shown(names[found.front()]),
               "an arrow points to what must have ended before");
}

}  // namespace

void check_operations(Reader& reader, const Draft& draft) {
  check_order(reader, draft.scenario);
  if (reader.is_clean("cluster")) check_devices(reader, draft.scenario);
}

}  // namespace sim::scenario
