// Reading comma-separated tables of measured collectives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "sim/scenario/document.h"
#include "sim/scenario/measured_collectives.h"

namespace sim::scenario {
namespace {

struct Field {
  std::string text;
  int column = 1;
};

// Quoted fields may hold commas; "" inside stands for a quote. No field spans lines.
std::vector<Field> fields_of(const std::string& line) {
  std::vector<Field> fields = {{"", 1}};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back().text += '"';
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.push_back({"", static_cast<int>(i) + 2});
    } else if (c != '\r') {
      fields.back().text += c;
    }
  }
  return fields;
}

class TableReader {
 public:
  TableReader(std::string file, Diagnostics& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {}

  std::vector<CollectiveRun> read(const std::string& text);

 private:
  bool header(const std::string& line);
  void row(const std::vector<Field>& fields);
  std::optional<double> number(const std::vector<Field>& fields, std::size_t column,
                               const char* what, double least);
  // Empty where there is no such column.
  std::string text(const std::vector<Field>& fields, const char* name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() ? "" : fields[found->second].text;
  }
  std::optional<std::size_t> column(const std::vector<const char*>& names) const;
  std::string id_of(const std::vector<Field>& fields, const std::string& operation) const;
  Place place(const Field& field) const {
    return {file_, number_, field.column, std::max(1, static_cast<int>(field.text.size()))};
  }

  std::string file_;
  Diagnostics& diagnostics_;
  int number_ = 0;  // of the line
  std::map<std::string, std::size_t> columns_;
  std::size_t operation_ = 0, ranks_ = 0, size_ = 0, time_ = 0;
  std::vector<CollectiveRun> runs_;
  std::map<std::string, std::size_t> index_;  // of a run, by id
};

std::optional<std::size_t> TableReader::column(const std::vector<const char*>& names) const {
  for (const char* name : names) {
    if (const auto found = columns_.find(name); found != columns_.end()) return found->second;
  }
  std::vector<std::string> known;
  for (const auto& [name, index] : columns_) known.push_back(name);
  diagnostics_.error({file_, 1, 1}, fmt::format("no column {}", fmt::join(names, " or ")),
                     "a row says the operation, the ranks, the size and the time",
                     fmt::format("the header has {}", fmt::join(known, ", ")));
  return std::nullopt;
}

bool TableReader::header(const std::string& line) {
  const std::vector<Field> fields = fields_of(line);
  for (std::size_t i = 0; i < fields.size(); ++i) columns_.emplace(fields[i].text, i);
  const auto operation = column({"op"}), ranks = column({"n_gpus", "num_gpus"}),
             size = column({"size_bytes"}), time = column({"time_us", "time_us_median"});
  if (!operation || !ranks || !size || !time) return false;
  operation_ = *operation;
  ranks_ = *ranks;
  size_ = *size;
  time_ = *time;
  return true;
}

std::optional<double> TableReader::number(const std::vector<Field>& fields, std::size_t column,
                                          const char* what, double least) {
  const Field& field = fields[column];
  double value = 0;
  const char* const last = field.text.data() + field.text.size();
  const auto [end, error] = std::from_chars(field.text.data(), last, value);
  if (error == std::errc() && end == last && std::isfinite(value) && value >= least) return value;
  diagnostics_.error(place(field), fmt::format("'{}' is no {}", field.text, what),
                     fmt::format("it is a number, at least {:g}", least), "take the row out");
  return std::nullopt;
}

std::string TableReader::id_of(const std::vector<Field>& fields,
                               const std::string& operation) const {
  std::string id = text(fields, "run_id");
  if (!id.empty()) return id;
  std::string made;
  for (const char* name : {"system", "ccl_version_dir", "dtype"}) {
    const std::string part = text(fields, name);
    if (!part.empty()) made += part + " ";
  }
  return made + operation + " " + fields[ranks_].text;
}

void TableReader::row(const std::vector<Field>& fields) {
  if (fields.size() != columns_.size()) {
    diagnostics_.error(
        {file_, number_, 1},
        fmt::format("{} fields in a row, but {} in the header", fields.size(), columns_.size()), "",
        "put texts with commas in quotes");
    return;
  }
  const auto operation = operation_named(fields[operation_].text);
  if (!operation) {
    diagnostics_.error(place(fields[operation_]),
                       fmt::format("unknown operation '{}'", fields[operation_].text), "",
                       fmt::format("known: {}", fmt::join(operation_names(), ", ")));
    return;
  }
  const auto ranks = number(fields, ranks_, "number of ranks of a collective", 2);
  const auto size = number(fields, size_, "size in bytes", 1);
  const bool has_time = !fields[time_].text.empty();
  const auto time = has_time ? number(fields, time_, "time in us", 1e-6) : std::optional(0.0);
  const auto nodes = columns_.find("n_nodes");
  const auto hosts =
      nodes == columns_.end() ? 1.0 : number(fields, nodes->second, "number of hosts", 1);
  if (!ranks || !size || !time || !hosts) return;
  if (std::fmod(*ranks, *hosts) != 0) {
    diagnostics_.error(place(fields[ranks_]), fmt::format("{} ranks on {} hosts", *ranks, *hosts),
                       "every host must hold as many ranks as the others", "take the row out");
    return;
  }
  const std::string id = id_of(fields, fields[operation_].text);
  const auto [at, is_new] = index_.emplace(id, runs_.size());
  if (is_new) {
    CollectiveRun& run = runs_.emplace_back();
    run.id = id;
    run.operation = *operation;
    run.device = text(fields, "device");
    run.fabric = text(fields, "fabric");
    run.settings = text(fields, "params");
    run.ranks = static_cast<int>(*ranks);
    run.hosts = static_cast<int>(*hosts);
    run.place = {file_, number_, 1};
  }
  CollectiveRun& run = runs_[at->second];
  if (run.ranks != *ranks || run.hosts != *hosts || run.operation != *operation) {
    diagnostics_.error(place(fields[ranks_]),
                       fmt::format("run '{}' has {} over {} ranks on {} hosts here", id,
                                   fields[operation_].text, *ranks, *hosts),
                       fmt::format("line {} says {} over {} ranks on {} hosts", run.place.line,
                                   collective::name(run.operation), run.ranks, run.hosts),
                       "a run is one operation on one group of ranks");
    return;
  }
  if (!has_time) {
    ++run.empty_rows;
    return;
  }
  run.rows.push_back({Bytes(*size), microseconds(*time), place(fields[size_])});
}

std::vector<CollectiveRun> TableReader::read(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number_;
    if (line.empty() || line == "\r") continue;
    if (columns_.empty()) {
      if (!header(line)) return {};
      continue;
    }
    row(fields_of(line));
  }
  if (runs_.empty() && !diagnostics_.has_errors()) {
    diagnostics_.error({file_}, "no rows", "a table has a header and rows below it");
  }
  return std::move(runs_);
}

}  // namespace

std::optional<std::vector<CollectiveRun>> read_collective_table(const std::filesystem::path& file,
                                                                Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  const auto text = read_text(file, {name}, diagnostics);
  if (!text) return std::nullopt;
  diagnostics.add_source(name, *text);
  auto runs = TableReader(name, diagnostics).read(*text);
  if (diagnostics.has_errors()) return std::nullopt;
  return runs;
}

}  // namespace sim::scenario
