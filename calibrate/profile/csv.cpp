// Comma-separated tables.
#include "calibrate/profile/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {
namespace {

std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> result(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      result.emplace_back();
    } else if (c != '\r') {
      result.back() += c;
    }
  }
  return result;
}

}  // namespace

Table::Table(const std::filesystem::path& file) : file_(file.string()) {
  std::ifstream in(file);
  std::string line;
  if (!in || !std::getline(in, line)) {
    throw ProfileError{fmt::format("cannot read measurements '{}'", file_), "",
                       "give the folder that holds gemm, attention, memory and nccl"};
  }
  header_ = fields(line);
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    rows_.push_back(fields(line));
    if (rows_.back().size() < header_.size()) {
      throw ProfileError{fmt::format("{}:{}: {} fields, expected {}", file_, rows_.size() + 1,
                                     rows_.back().size(), header_.size()),
                         "", ""};
    }
  }
}

std::size_t Table::column(const std::string& name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) {
    throw ProfileError{fmt::format("'{}' has no column '{}'", file_, name), "", ""};
  }
  return static_cast<std::size_t>(found - header_.begin());
}

std::optional<double> Table::number(std::size_t row, std::size_t column) const {
  const std::string& text = rows_[row][column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace calibrate::profile
