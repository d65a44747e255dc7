// The tree of a scenario with another plan in it.
#include "sim/scenario/replanned.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/scenario/document.h"
#include "sim/scenario/yaml_text.h"

namespace sim::scenario {
namespace {

using plan::Replica;

// "h0.gpu" and 3 of "h0.gpu3".
std::pair<std::string, std::string> in_two(const std::string& name) {
  const std::size_t letters = name.find_last_not_of("0123456789") + 1;
  return {name.substr(0, letters), name.substr(letters)};
}

// Names that count upwards are one pattern.
std::vector<Value> device_names(const std::vector<std::string>& names) {
  std::vector<Value> result;
  for (std::size_t i = 0; i < names.size();) {
    const auto [stem, number] = in_two(names[i]);
    std::size_t end = i + 1;
    while (!number.empty() && number.size() < 9 && end < names.size() &&
           names[end] == fmt::format("{}{}", stem, std::stoul(number) + (end - i))) {
      ++end;
    }
    const std::size_t count = end - i;
    result.push_back(text_value(
        count == 1 ? names[i]
                   : fmt::format("{}[{}..{}]", stem, number, std::stoul(number) + count - 1)));
    i = end;
  }
  return result;
}

Value numbers(const std::vector<int>& values) {
  std::vector<Value> items;
  for (const int value : values) items.push_back(text_value(std::to_string(value)));
  return list_value(std::move(items));
}

// What is there is named as seen from another folder.
void name_from(const std::filesystem::path& here, Value& value) {
  for (Value& item : value.items) name_from(here, item);
  for (Entry& entry : value.entries) name_from(here, entry.value);
  if (value.kind != Value::Kind::text || value.text.find('.') == std::string::npos) return;
  std::error_code status;
  const auto file = here / value.text;
  if (!std::filesystem::is_regular_file(file, status)) return;
  value.text = std::filesystem::absolute(file).lexically_normal().generic_string();
}

void remove_below(Value& root, const std::string& section, const std::vector<std::string>& keys) {
  Value* found = root.find(section);
  if (!found) return;
  for (const std::string& key : keys) remove(*found, key);
  if (found->kind == Value::Kind::map && found->entries.empty()) remove(root, section);
}

void remove_idle_ranks(Value& root, const std::vector<Replica>& replicas) {
  std::set<std::string> held;
  for (const Replica& replica : replicas) {
    for (const int device : replica.devices) held.insert(std::to_string(device));
  }
  Value* stragglers = root.find("stragglers");
  if (!stragglers) return;
  std::erase_if(stragglers->items, [&](const Value& straggler) {
    const Value* rank = straggler.find("rank");
    return rank && !held.contains(rank->text);
  });
}

bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto whole = [](const std::filesystem::path& folder) {
    return std::filesystem::weakly_canonical(folder.empty() ? "." : folder);
  };
  return whole(a) == whole(b);
}

}  // namespace

Value replicas_value(const std::vector<Replica>& replicas, const topology::Cluster& cluster) {
  std::vector<Value> entries;
  for (std::size_t i = 0; i < replicas.size();) {
    std::vector<std::string> names;
    std::size_t end = i;
    for (; end < replicas.size() && replicas[end].is_cut_like(replicas[i]); ++end) {
      for (const int device : replicas[end].devices) names.push_back(cluster.device_name(device));
    }
    const Replica& first = replicas[i];
    const bool is_even = std::all_of(first.tensor.begin(), first.tensor.end(),
                                     [&](int degree) { return degree == first.tensor.front(); });
    Value entry;
    if (end - i > 1) put(entry, "count", text_value(std::to_string(end - i)));
    put(entry, "tensor",
        is_even ? text_value(std::to_string(first.tensor.front())) : numbers(first.tensor));
    put(entry, "layers", numbers(first.layers));
    put(entry, "micro_batches", text_value(std::to_string(first.micro_batches)));
    put(entry, "devices", list_value(device_names(names)));
    entries.push_back(std::move(entry));
    i = end;
  }
  return list_value(std::move(entries));
}

std::optional<Replanned> replanned(const std::filesystem::path& file,
                                   const std::vector<Override>& overrides,
                                   const std::vector<Replica>& replicas,
                                   const topology::Cluster& cluster,
                                   const std::filesystem::path& folder, Diagnostics& diagnostics) {
  std::optional<Value> root = read_document(file, {file.generic_string(), 0, 0, 1}, diagnostics);
  if (!root) return std::nullopt;
  for (const Override& change : overrides) apply(change, *root, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  Replanned result;
  for (const char* section : {"expect", "failures", "checkpoint", "recovery"}) {
    if (!root->find(section)) continue;
    remove(*root, section);
    result.left.emplace_back(section);
  }
  remove_below(*root, "run", {"duration", "histories", "device_hour"});
  remove_below(*root, "placement", {"order"});
  if (!root->find("plan")) put(*root, "plan", Value{});
  Value& plan = *root->find("plan");
  remove(plan, "tensor");
  remove_below(plan, "data", {"degree"});
  remove_below(plan, "pipeline", {"stages", "layers"});
  put(plan, "replicas", replicas_value(replicas, cluster));
  remove_idle_ranks(*root, replicas);
  if (!is_same_folder(file.parent_path(), folder)) name_from(file.parent_path(), *root);
  result.text = yaml_text(*root);
  return result;
}

}  // namespace sim::scenario
