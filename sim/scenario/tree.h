// The values of an input file with their places, free of any library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"

namespace sim::scenario {

// A place inside one file; lines and columns count from 1.
struct Spot {
  int line = 0, column = 0, length = 1;
};

struct Entry;

struct Value {
  enum class Kind { nothing, text, list, map };
  Kind kind = Kind::nothing;
  std::string text;
  bool is_quoted = false;
  std::vector<Value> items;
  std::vector<Entry> entries;  // in file order; keys are unique
  std::shared_ptr<const std::string> file;
  Spot spot;      // of the value; where it is empty, of what names it
  Spot named_at;  // the key in front of it; in a list, the value itself

  Place place() const { return at(spot); }
  Place name_place() const { return at(named_at); }
  // What to point at: a text itself, but the name of a list or a map.
  Place blamed() const { return kind == Kind::text ? place() : name_place(); }
  const Value* find(const std::string& key) const;
  Value* find(const std::string& key);

 private:
  Place at(const Spot& where) const;
};

struct Entry {
  std::string key;
  Spot key_spot;
  std::shared_ptr<const std::string> key_file;
  Value value;
  Place key_place() const;
};

// "text '4'", "a list", "a map", "nothing": for messages.
std::string described(const Value& value);

// `changes` laid over `base`: maps are merged key by key, everything else is replaced.
Value overlaid(Value base, const Value& changes);

}  // namespace sim::scenario
