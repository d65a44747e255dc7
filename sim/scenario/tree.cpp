// Looking up and merging the values of input files.
#include "sim/scenario/tree.h"

#include <fmt/format.h>

#include "sim/base/invariant.h"
#include "sim/scenario/encoding.h"

namespace sim::scenario {

Place Value::at(const Spot& where) const {
  return {file ? *file : "", where.line, where.column, where.length};
}

Place Entry::key_place() const {
  return {key_file ? *key_file : "", key_spot.line, key_spot.column, key_spot.length};
}

const Value* Value::find(const std::string& key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Value* Value::find(const std::string& key) {
  for (Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string described(const Value& value) {
  switch (value.kind) {
    case Value::Kind::nothing:
      return "nothing";
    case Value::Kind::text:
      return fmt::format("'{}'", shown(value.text));
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
  }
  bug("a value has no kind");
}

Value overlaid(Value base, const Value& changes) {
  if (base.kind != Value::Kind::map || changes.kind != Value::Kind::map) return changes;
  for (const Entry& change : changes.entries) {
    if (Value* old = base.find(change.key)) {
      *old = overlaid(std::move(*old), change.value);
    } else {
      base.entries.push_back(change);
    }
  }
  return base;
}

}  // namespace sim::scenario
