// Walking down the tree to the value that an option replaces.
#include "sim/scenario/override.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/document.h"
#include "sim/scenario/encoding.h"

namespace sim::scenario {
namespace {

constexpr std::string_view option = "--set ";

struct Walk {
  const std::string& file;
  Diagnostics& diagnostics;
  std::shared_ptr<const std::string> shared_file;

  // `at`: offset of the part of the path in it.
  Spot spot(const std::string& path, std::size_t at, std::size_t length) const {
    return {1, static_cast<int>(option.size() + character_count(path.substr(0, at))) + 1,
            std::max(static_cast<int>(character_count(path.substr(at, length))), 1)};
  }
  Value* fail(const Spot& spot, const std::string& message) const {
    diagnostics.error({file, spot.line, spot.column, spot.length}, message);
    return nullptr;
  }
};

Value* enter_list(Value& list, const std::string& key, const Spot& spot, const Walk& walk) {
  const bool is_index = !key.empty() && key.size() < 7 &&
                        std::all_of(key.begin(), key.end(),
                                    [](char letter) { return letter >= '0' && letter <= '9'; });
  const std::size_t index = is_index ? std::stoul(key) : list.items.size();
  if (index >= list.items.size()) {
    return walk.fail(spot, fmt::format("'{}' is no index of a list of {} values, counted from 0",
                                       shown(key), list.items.size()));
  }
  return &list.items[index];
}

// Returns the value at the path, made where it was missing, or null after reporting.
Value* enter(Value& root, const std::string& path, const Walk& walk) {
  Value* value = &root;
  for (std::size_t begin = 0; begin <= path.size();) {
    // A key may hold dots, such as an expectation's "exposed.data".
    const std::size_t end = value->find(path.substr(begin)) != nullptr
                                ? path.size()
                                : std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    const Spot spot = walk.spot(path, begin, end - begin);
    if (key.empty()) return walk.fail(spot, "an empty key in the path of --set");
    if (value->kind == Value::Kind::nothing) value->kind = Value::Kind::map;
    if (value->kind == Value::Kind::list) {
      value = enter_list(*value, key, spot, walk);
      if (value == nullptr) return nullptr;
    } else if (value->kind == Value::Kind::text) {
      return walk.fail(spot,
                       fmt::format("no '{}' below the text '{}'", shown(key), shown(value->text)));
    } else if (Value* found = value->find(key)) {
      value = found;
    } else {
      Value made;
      made.file = walk.shared_file;
      made.spot = made.named_at = spot;
      value->entries.push_back({key, spot, walk.shared_file, std::move(made)});
      value = &value->entries.back().value;
    }
    begin = end + 1;
  }
  return value;
}

}  // namespace

std::string option_text(const Override& change) {
  return fmt::format("{}{}={}", option, change.path, change.value);
}

void apply(const Override& change, Value& root, Diagnostics& diagnostics) {
  const std::string file = option_text(change);
  diagnostics.add_source(file, file);
  const std::size_t prefix = file.size() - change.value.size();
  auto value = parse_document(file, file, diagnostics, prefix);
  if (!value) return;
  const Walk walk = {file, diagnostics, std::make_shared<const std::string>(file)};
  Value* target = enter(root, change.path, walk);
  if (target == nullptr) return;
  const Spot name = walk.spot(change.path, 0, change.path.size());
  value->named_at = name;
  value->file = walk.shared_file;
  if (value->kind == Value::Kind::nothing) value->spot = name;
  *target = std::move(*value);
}

}  // namespace sim::scenario
