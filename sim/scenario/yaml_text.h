// A tree of values as YAML text that reads back as the same tree.
#pragma once

#include <string>

#include "sim/scenario/tree.h"

namespace sim::scenario {

Value text_value(std::string text);
Value list_value(std::vector<Value> items);
// The value under this key, made where there is none.
Value& put(Value& map, const std::string& key, Value value);
void remove(Value& map, const std::string& key);

// In block style, with lists and maps on one line where they fit. REQUIRES: a map.
std::string yaml_text(const Value& root);

}  // namespace sim::scenario
