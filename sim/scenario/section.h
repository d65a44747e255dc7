// A section of the format as a table of fields. The table reads the section, reports what is wrong
// in it, lists the defaults it took, and gives its JSON Schema.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/scenario/document.h"
#include "sim/scenario/kind.h"

namespace sim::scenario {

// The value of a default written as in YAML. REQUIRES: it is right.
Value default_value(const std::string& text, const Value& section);
// The same in JSON, for the schema.
std::string json_of(const Value& value);

template <class S>
class Section {
 public:
  enum class Presence { required, optional, defaulted, group, unsupported };
  struct Field {
    std::string key, doc;
    Schema schema;
    Presence presence = Presence::optional;
    bool is_needed = false;  // a group that has required fields
    std::string fallback;    // as it would be written
    // Reads the value into the target, or reports why not.
    std::function<void(Reader&, const Value&, const std::string& path, S&)> read;
  };
  using Check = std::function<void(Reader&, const Value&, const std::string& path, S&)>;

  explicit Section(std::string doc) : doc_(std::move(doc)) {}

  // `set` is a member of S (of type T or std::optional<T>) or a function of (S&, T).
  template <class T, class Set>
  Section& required(std::string key, Kind<T> kind, Set set, std::string doc) {
    return add(Presence::required, std::move(key), kind, set, "", std::move(doc));
  }
  template <class T, class Set>
  Section& optional(std::string key, Kind<T> kind, Set set, std::string doc) {
    return add(Presence::optional, std::move(key), kind, set, "", std::move(doc));
  }
  template <class T, class Set>
  Section& defaulted(std::string key, Kind<T> kind, Set set, std::string fallback,
                     std::string doc) {
    return add(Presence::defaulted, std::move(key), kind, set, std::move(fallback), std::move(doc));
  }
  // Where taking the value over may find more that is wrong: set(reader, path, target, value).
  template <class T, class Set>
  Section& optional_with_reader(std::string key, Kind<T> kind, Set set, std::string doc) {
    return field({std::move(key), std::move(doc), kind.schema, Presence::optional, false, "",
                  [read = kind.read, set](Reader& reader, const Value& value,
                                          const std::string& path, S& target) {
                    auto found = read(reader, value, path);
                    if (found) set(reader, path, target, std::move(*found));
                  }});
  }
  // A section inside; where it is left out, its defaults are taken.
  template <class Inner, class Part>
  Section& group(std::string key, Section<Inner> inner, Part part) {
    const auto section = std::make_shared<const Section<Inner>>(std::move(inner));
    return field(
        {std::move(key), section->doc(), [section] { return section->schema(); }, Presence::group,
         section->has_required(), "",
         [section, part](Reader& reader, const Value& value, const std::string& path, S& target) {
           section->read(reader, value, path, part(target));
         }});
  }
  // Named by the design, not built yet: an error, never ignored.
  Section& unsupported(std::string key, std::string hint = "") {
    return field({std::move(key), std::move(hint), {}, Presence::unsupported, false, "", {}});
  }
  // Runs after the fields, if all of them were right.
  Section& check(Check check) {
    checks_.push_back(std::move(check));
    return *this;
  }

  // Reads `value` into `target`. Keys in `ignored` may be absent without defaults or errors.
  void read(Reader& reader, const Value& value, const std::string& path, S& target,
            const std::set<std::string>& ignored = {}) const;
  // `base`: what a key of that name means, where one may say which entry the section changes.
  std::string schema(const std::string& base = "") const;
  const std::string& doc() const { return doc_; }
  std::vector<std::string> keys() const;
  const std::vector<Field>& fields() const { return fields_; }
  bool has_required() const;

  Kind<S> kind() const {
    const auto section = std::make_shared<const Section>(*this);
    return {
        [section] { return section->schema(); },
        [section](Reader& reader, const Value& value, const std::string& path) -> std::optional<S> {
          return section->whole(reader, value, path);
        }};
  }
  // Nothing if anything in it is wrong.
  std::optional<S> whole(Reader& reader, const Value& value, const std::string& path) const {
    S result;
    read(reader, value, path, result);
    if (!reader.is_clean(path)) return std::nullopt;
    return result;
  }

 private:
  Section& field(Field field) {
    fields_.push_back(std::move(field));
    return *this;
  }
  template <class T, class Set>
  Section& add(Presence presence, std::string key, Kind<T> kind, Set set, std::string fallback,
               std::string doc) {
    return field({std::move(key), std::move(doc), kind.schema, presence, false, std::move(fallback),
                  [read = kind.read, set](Reader& reader, const Value& value,
                                          const std::string& path, S& target) {
                    auto found = read(reader, value, path);
                    if (!found) return;
                    if constexpr (std::is_member_object_pointer_v<Set>) {
                      target.*set = std::move(*found);
                    } else {
                      set(target, std::move(*found));
                    }
                  }});
  }
  void read_absent(Reader& reader, const Value& section, const std::string& path,
                   const Field& field, S& target) const;

  std::string doc_;
  std::vector<Field> fields_;
  std::vector<Check> checks_;
};

template <class S>
std::vector<std::string> Section<S>::keys() const {
  std::vector<std::string> keys;
  for (const Field& field : fields_) {
    if (field.presence != Presence::unsupported) keys.push_back(field.key);
  }
  return keys;
}

template <class S>
bool Section<S>::has_required() const {
  return std::any_of(fields_.begin(), fields_.end(), [](const Field& field) {
    return field.presence == Presence::required || field.is_needed;
  });
}

template <class S>
void Section<S>::read_absent(Reader& reader, const Value& section, const std::string& path,
                             const Field& field, S& target) const {
  const std::string field_path = joined_path(path, field.key);
  if (field.presence == Presence::required || field.is_needed) {
    report_missing(reader, section, path, field.key, field.doc);
  } else if (field.presence == Presence::defaulted) {
    reader.add_default(section, field_path, field.fallback);
    field.read(reader, default_value(field.fallback, section), field_path, target);
  } else if (field.presence == Presence::group) {
    Value empty;
    empty.kind = Value::Kind::map;
    empty.file = section.file;
    empty.spot = empty.named_at = section.named_at;
    field.read(reader, empty, field_path, target);
  }
}

template <class S>
void Section<S>::read(Reader& reader, const Value& value, const std::string& path, S& target,
                      const std::set<std::string>& ignored) const {
  if (value.kind != Value::Kind::map) {
    report_shape(reader, value, path, "a map of keys",
                 fmt::format("{} has the keys {}", path, fmt::join(keys(), ", ")));
    return;
  }
  for (const Entry& entry : value.entries) {
    const std::string entry_path = joined_path(path, entry.key);
    reader.add_place(entry_path, entry.value.blamed());
    const Field* known = nullptr;
    for (const Field& field : fields_) {
      if (field.key == entry.key) known = &field;
    }
    if (known == nullptr) {
      report_unknown_key(reader, entry, path, keys());
    } else if (known->presence == Presence::unsupported) {
      report_unsupported(reader, entry.key_place(), entry_path, fmt::format("'{}'", entry_path),
                         known->doc);
    } else {
      known->read(reader, entry.value, entry_path, target);
    }
  }
  for (const Field& field : fields_) {
    if (value.find(field.key) == nullptr && !ignored.contains(field.key)) {
      read_absent(reader, value, path, field, target);
    }
  }
  if (!reader.is_clean(path)) return;
  for (const Check& check : checks_) check(reader, value, path, target);
}

template <class S>
std::string Section<S>::schema(const std::string& base) const {
  std::string properties, required;
  const auto add = [](std::string& all, const std::string& one) {
    all += (all.empty() ? "" : ",") + one;
  };
  if (!base.empty()) {
    add(properties,
        fmt::format("\"base\":{{\"description\":{},\"type\":\"string\"}}", json_quoted(base)));
  }
  for (const Field& field : fields_) {
    if (field.presence == Presence::unsupported) continue;
    const std::string rule = field.schema();
    std::string facts;
    // A section describes itself.
    if (rule.rfind("{\"description\"", 0) != 0) {
      add(facts, "\"description\":" + json_quoted(field.doc));
    }
    if (field.presence == Presence::defaulted) {
      add(facts, "\"default\":" + json_of(default_value(field.fallback, {})));
    }
    add(properties, fmt::format("{}:{{{}{}{}", json_quoted(field.key), facts,
                                facts.empty() ? "" : ",", rule.substr(1)));
    if (field.presence == Presence::required || field.is_needed) {
      add(required, json_quoted(field.key));
    }
  }
  if (!required.empty()) required = fmt::format("\"required\":[{}]", required);
  if (!base.empty() && !required.empty()) {
    required = fmt::format("\"if\":{{\"required\":[\"base\"]}},\"else\":{{{}}}", required);
  }
  return fmt::format(
      "{{\"description\":{},\"type\":\"object\",\"properties\":{{{}}},{}{}\"additionalProperties\":"
      "false}}",
      json_quoted(doc_), properties, required, required.empty() ? "" : ",");
}

}  // namespace sim::scenario
