// Reading rows of measured runs.
#include "sim/scenario/measured.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace sim::scenario {

namespace {

void flatten(const YAML::Node& node, const std::string& prefix, MeasuredRow& row) {
  for (const auto& entry : node) {
    const std::string key = prefix + entry.first.Scalar();
    if (entry.second.IsMap()) flatten(entry.second, key + ".", row);
    if (!entry.second.IsScalar()) continue;
    const std::string& value = entry.second.Scalar();
    if (!value.empty() && value != "null" && value != "~") row.values.emplace(key, value);
  }
}

std::string scalar(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

}  // namespace

std::optional<std::string> MeasuredRow::text(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> MeasuredRow::number(const std::string& key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size()) return std::nullopt;
  return number;
}

std::optional<MeasuredFile> read_measured(const std::filesystem::path& file,
                                          Diagnostics& diagnostics) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    diagnostics.error({file.string()}, "cannot read the file");
    return std::nullopt;
  }
  YAML::Node root;
  try {
    root = YAML::Load(text.str());
  } catch (const YAML::Exception& error) {
    diagnostics.error({file.string(), error.mark.line + 1, error.mark.column + 1}, error.msg,
                      "the file is not YAML");
    return std::nullopt;
  }
  const YAML::Node rows = root.IsMap() ? root["rows"] : YAML::Node();
  if (!rows || !rows.IsSequence()) {
    diagnostics.error({file.string()}, "no list 'rows'", "measured runs are one mapping a row");
    return std::nullopt;
  }
  MeasuredFile result;
  if (const YAML::Node source = root["source"]; source && source.IsMap()) {
    result.title = scalar(source, "title");
    result.framework = scalar(source, "framework");
    const YAML::Node ffn = source["ffn"];
    for (const auto& entry : ffn&& ffn.IsMap() ? ffn : YAML::Node(YAML::NodeType::Map)) {
      double billions = 0, width = 0;
      if (!YAML::convert<double>::decode(entry.first, billions)) continue;  // where it is from
      if (YAML::convert<double>::decode(entry.second, width)) result.ffn[billions] = width;
    }
  }
  for (const YAML::Node& node : rows) {
    MeasuredRow row;
    row.place = {file.string(), node.Mark().line + 1, node.Mark().column + 1};
    if (node.IsMap()) flatten(node, "", row);
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace sim::scenario
