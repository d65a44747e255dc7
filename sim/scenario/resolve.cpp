// Following names, files and `base:`.
#include "sim/scenario/resolve.h"

#include "sim/scenario/catalog.h"
#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

// Counted with the files between them, two for each base.
constexpr int steps_max = 16;

bool is_file_name(const std::string& text) {
  const auto ends_in = [&](std::string_view tail) {
    return text.size() > tail.size() &&
           text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
  };
  return text.find('/') != std::string::npos || ends_in(".yaml") || ends_in(".yml");
}

// The folder of the kind without its plural: "devices" -> "device".
std::string singular(const std::string& kind) { return kind.substr(0, kind.size() - 1); }

std::optional<std::filesystem::path> file_of(Reader& reader, const Value& name,
                                             const std::string& path, const std::string& kind) {
  if (is_file_name(name.text)) {
    auto file = reader.file_named(name);
    if (file) return file;
    reader.error(path, name.place(),
                 fmt::format("no file '{}' for {}", shown(name.text, 200), path),
                 "paths are relative to the file that names them, then to the catalog", "");
    return std::nullopt;
  }
  const std::vector<std::string> known = catalog_names(reader.catalog(), kind);
  for (const std::string& one : known) {
    if (one == name.text) return reader.catalog() / kind / (one + ".yaml");
  }
  report_unknown_word(reader, name, path, singular(kind), known);
  return std::nullopt;
}

std::optional<Value> loaded(Reader& reader, const Value& name, const std::string& path,
                            const std::string& kind) {
  const auto file = file_of(reader, name, path, kind);
  if (!file) return std::nullopt;
  std::optional<Value> value = reader.document(*file, name.place());
  if (!value) {
    reader.mark_bad(path);
    return std::nullopt;
  }
  // A catalog file of a cluster holds the section as a scenario does.
  if (value->kind == Value::Kind::map && value->entries.size() == 1 &&
      value->entries[0].key == singular(kind)) {
    value = Value(value->entries[0].value);
  }
  if (value->kind != Value::Kind::map) {
    report_shape(reader, *value, path, "a map of keys");
    return std::nullopt;
  }
  if (value->find("name") == nullptr && kind != "clusters") {
    Entry entry{"name", name.spot, name.file, name};
    entry.value.text = file->stem().string();
    value->entries.push_back(std::move(entry));
  }
  return value;
}

std::optional<Value> follow(Reader& reader, const Value& value, const std::string& path,
                            const std::string& kind, Naming naming, int depth) {
  if (depth > steps_max) {
    reader.error(path, value.place(),
                 fmt::format("more than {} bases of each other for {}", steps_max / 2, path), "",
                 "let no file be its own base");
    return std::nullopt;
  }
  if (value.kind == Value::Kind::text) {
    const auto map = loaded(reader, value, path, kind);
    return map ? follow(reader, *map, path, kind, Naming::text, depth + 1) : std::nullopt;
  }
  if (value.kind != Value::Kind::map) {
    report_shape(reader, value, path, fmt::format("the name of a {} or a map", singular(kind)));
    return std::nullopt;
  }
  const Value* only_name =
      naming == Naming::text_or_name && value.entries.size() == 1 ? value.find("name") : nullptr;
  const Value* base = only_name != nullptr ? only_name : value.find("base");
  if (base == nullptr) return value;
  const std::string key = only_name != nullptr ? "name" : "base";
  const std::string base_path = depth == 0 ? joined_path(path, key) : path;
  reader.add_place(base_path, base->place());
  if (base->kind != Value::Kind::text) {
    report_shape(reader, *base, base_path, fmt::format("the name of a {}", singular(kind)));
    return std::nullopt;
  }
  auto below = follow(reader, *base, base_path, kind, Naming::text, depth + 1);
  if (!below) return std::nullopt;
  if (only_name != nullptr) return below;
  Value changes = value;
  std::erase_if(changes.entries, [](const Entry& entry) { return entry.key == "base"; });
  // Two things that differ do not go by one name.
  Value* name = below->find("name");
  if (name != nullptr && !changes.entries.empty()) name->text += " (changed)";
  return overlaid(std::move(*below), changes);
}

}  // namespace

std::optional<Value> resolved(Reader& reader, const Value& value, const std::string& path,
                              const std::string& kind, Naming naming) {
  return follow(reader, value, path, kind, naming, 0);
}

}  // namespace sim::scenario
