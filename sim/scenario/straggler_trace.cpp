// Rows of an instant and shares.
#include "sim/scenario/straggler_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "sim/scenario/csv_line.h"
#include "sim/scenario/document.h"

namespace sim::scenario {
namespace {

using Column = std::vector<double> StragglerTrace::*;

constexpr std::pair<const char*, Column> share_columns[] = {
    {"compute [%]", &StragglerTrace::compute},
    {"memory [%]", &StragglerTrace::memory},
    {"link [%]", &StragglerTrace::link},
    {"host [%]", &StragglerTrace::host}};
constexpr std::pair<const char*, double> time_columns[] = {
    {"at [s]", 1}, {"at [ms]", 1e-3}, {"at [us]", 1e-6}};
constexpr double seconds_max = 100 * 86400.0;  // what the engine can count

class TraceReader {
 public:
  TraceReader(std::string file, Diagnostics& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {}
  // Nothing if anything in it is wrong.
  std::optional<StragglerTrace> read(const std::string& text);

 private:
  void fail(const CsvField& field, const std::string& message, const std::string& hint) {
    const int width = std::max(1, static_cast<int>(field.text.size()));
    diagnostics_.error({file_, number_, field.column, width}, message, "", hint);
    is_right_ = false;
  }
  bool header(const std::vector<CsvField>& fields);
  void row(const std::vector<CsvField>& fields);

  std::string file_;
  Diagnostics& diagnostics_;
  int number_ = 0;
  std::size_t time_ = 0;
  double unit_ = 0;  // [s]
  std::vector<std::pair<std::size_t, Column>> shares_;
  std::size_t columns_ = 0;
  bool is_right_ = true;
  StragglerTrace trace_;
};

bool TraceReader::header(const std::vector<CsvField>& fields) {
  const std::string known = "at [s], compute [%], memory [%], link [%], host [%]";
  columns_ = fields.size();
  const auto wrong = [&](const CsvField& field, const std::string& message) {
    fail(field, message, "columns are " + known);
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto names = [&](const auto& column) { return fields[i].text == column.first; };
    const auto* time = std::find_if(std::begin(time_columns), std::end(time_columns), names);
    const auto* share = std::find_if(std::begin(share_columns), std::end(share_columns), names);
    const bool is_twice = std::any_of(fields.begin(), fields.begin() + static_cast<int>(i),
                                      [&](const CsvField& f) { return f.text == fields[i].text; });
    if (is_twice) {
      wrong(fields[i], fmt::format("a second column '{}'", fields[i].text));
    } else if (time != std::end(time_columns) && unit_ == 0) {
      time_ = i, unit_ = time->second;
    } else if (share != std::end(share_columns)) {
      shares_.emplace_back(i, share->second);
    } else {
      wrong(fields[i], fmt::format("unknown column '{}'", fields[i].text));
    }
  }
  if (is_right_ && (unit_ == 0 || shares_.empty())) {
    wrong(fields.front(), unit_ == 0 ? "no column of instants" : "no column of shares");
  }
  return is_right_;
}

void TraceReader::row(const std::vector<CsvField>& fields) {
  if (fields.size() != columns_) {
    fail(fields.back(), fmt::format("{} values under {} columns", fields.size(), columns_),
         "each row has a value for every column");
    return;
  }
  const CsvField& instant = fields[time_];
  const auto at = csv_number(instant.text);
  if (!at || *at < 0 || *at * unit_ > seconds_max) {
    fail(instant, fmt::format("'{}' is no instant", instant.text),
         "write a number from 0 to 100 days, without its unit");
  } else if (!trace_.at.empty() && *at * unit_ <= trace_.at.back().value()) {
    fail(instant, fmt::format("instant {} does not come after the one before", instant.text),
         "rows are in order of time");
  }
  trace_.at.emplace_back(at.value_or(0) * unit_);
  for (const auto& [index, column] : shares_) {
    const CsvField& field = fields[index];
    const auto share = csv_number(field.text);
    // A host may stand still.
    const bool may_be_zero = column == &StragglerTrace::host;
    if (!share || *share < 0 || *share > 100 || (*share == 0 && !may_be_zero)) {
      fail(field, fmt::format("'{}' is no share of normal in percent", field.text),
           may_be_zero ? "write a number from 0 to 100" : "write a number above 0, up to 100");
    }
    (trace_.*column).push_back(share.value_or(100) / 100);
  }
}

std::optional<StragglerTrace> TraceReader::read(const std::string& text) {
  std::istringstream lines(text);
  bool has_header = false;
  for (std::string line; std::getline(lines, line);) {
    ++number_;
    if (line.empty() || line == "\r" || line.front() == '#') continue;
    const std::vector<CsvField> fields = csv_fields(line);
    if (has_header) {
      row(fields);
    } else if (!header(fields)) {
      return std::nullopt;
    }
    has_header = true;
  }
  if (!is_right_) return std::nullopt;
  if (trace_.at.empty()) {
    diagnostics_.error({file_}, "no row of a trace", "", "rows stand below at [s],compute [%]");
    return std::nullopt;
  }
  if (!trace_.host.empty() && trace_.host.back() == 0) {
    diagnostics_.error({file_, number_, 1}, "the host stands still for ever",
                       "the last share stays until the end", "end with a share above 0");
    return std::nullopt;
  }
  return std::move(trace_);
}

}  // namespace

std::optional<StragglerTrace> read_straggler_trace(const std::filesystem::path& file,
                                                   const Place& place, Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  const auto text = read_text(file, place, diagnostics);
  if (!text) return std::nullopt;
  diagnostics.add_source(name, *text);
  return TraceReader(name, diagnostics).read(*text);
}

}  // namespace sim::scenario
