// Reading a table of op, shape and time.
#include "sim/scenario/sample_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "calibrate/profile/names.h"
#include "sim/base/units.h"
#include "sim/scenario/csv_line.h"
#include "sim/scenario/document.h"

namespace sim::scenario {
namespace {

namespace profile = calibrate::profile;

std::vector<std::string> factors_of(const std::string& text) {
  std::vector<std::string> factors(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_times =
        text[i] == 'x' && (i == 0 || !std::isalpha(static_cast<unsigned char>(text[i - 1])));
    if (is_times) {
      factors.emplace_back();
    } else {
      factors.back() += text[i];
    }
  }
  for (std::string& factor : factors) {
    factor.erase(0, factor.find_first_not_of(' '));
    factor.erase(factor.find_last_not_of(' ') + 1);
  }
  return factors;
}

// How the rows of a family are written; without sizes the shape is a number of bytes.
struct Family {
  const char* name;
  std::size_t sizes;
  bool names_product;
  const char *what, *meaning, *example;
};

const Family* family_named(const std::string& name) {
  static const std::array families{
      Family{"gemm", 3, true, "a product", "m, n and k", "4096 x 8192 x 1024"},
      Family{"sustained", 3, true, "a product", "m, n and k", "4096 x 8192 x 1024"},
      Family{"grouped", 4, true, "a grouped product", "groups, rows of all, n and k",
             "8 x 8192 x 14336 x 4096"},
      Family{"attention", 5, false, "attention",
             "sequences, heads, key heads, length and size of a head", "2 x 32 x 8 x 4096 x 128"},
      Family{"overlap", 3, false, "a product", "m, n and k", "8192 x 8192 x 8192"},
      Family{"launch", 1, false, "a launch", "how many", "1"},
      Family{"memory", 0, false, "", "", ""},
      Family{"kernel", 0, false, "", "", ""},
      Family{"transfer", 0, false, "", "", ""}};
  const auto* found = std::find_if(families.begin(), families.end(),
                                   [&](const Family& one) { return name == one.name; });
  return found == families.end() ? nullptr : found;
}

// "bf16 input gradient".
bool is_product(const std::string& operation) {
  const std::size_t blank = operation.find(' ');
  return blank != std::string::npos && profile::precision_of(operation.substr(0, blank)) &&
         profile::layout_of(operation.substr(blank + 1));
}

// "flash3 backward", "cudnn forward full".
bool is_attention(const std::string& operation) {
  const std::size_t blank = operation.find(' ');
  if (blank == std::string::npos) return false;
  const std::string rest = operation.substr(blank + 1);
  return profile::attention_kernel_of(operation.substr(0, blank)) &&
         (rest == "forward" || rest == "backward" || rest == "forward full" ||
          rest == "backward full");
}

class TableReader {
 public:
  TableReader(std::string file, Diagnostics& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {}
  profile::Measurement read(const std::string& text);

 private:
  Place place(const CsvField& field) const {
    return {file_, number_, field.column, std::max(1, static_cast<int>(field.text.size()))};
  }
  bool header(const std::vector<CsvField>& fields);
  void row(const std::vector<CsvField>& fields);
  void add_fact(const std::string& text);
  std::optional<profile::MeasuredCase> case_of(const CsvField& op, const CsvField& shape);
  std::optional<profile::MeasuredCase> collective(const CsvField& op, const CsvField& shape);
  std::optional<std::vector<double>> sizes(const CsvField& shape, const Family& family);
  std::optional<double> bytes(const CsvField& shape, const std::string& text);

  std::string file_;
  Diagnostics& diagnostics_;
  int number_ = 0;
  std::size_t op_ = 0, shape_ = 0, time_ = 0, needed_ = 0;
  double unit_ = 0;  // [s]
  profile::Measurement measurement_;
  std::map<std::string, std::size_t> index_;  // of a case
};

bool TableReader::header(const std::vector<CsvField>& fields) {
  const std::map<std::string, double> units{
      {"time [s]", 1}, {"time [ms]", 1e-3}, {"time [us]", 1e-6}, {"time [ns]", 1e-9}};
  bool has_op = false, has_shape = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].text;
    if (name == "op") has_op = true, op_ = i;
    if (name == "shape") has_shape = true, shape_ = i;
    const auto unit = units.find(name);
    if (unit != units.end()) {
      unit_ = unit->second;
      time_ = i;
    } else if (name.starts_with("time")) {
      diagnostics_.error(place(fields[i]), fmt::format("unknown unit in the column '{}'", name),
                         "a time without its unit may be off by a factor of a thousand",
                         "write 'time [us]', or [s], [ms], [ns]");
      return false;
    }
  }
  needed_ = std::max({op_, shape_, time_}) + 1;
  if (has_op && has_shape && unit_ > 0) return true;
  diagnostics_.error({file_, number_, 1}, "the first line does not name the columns",
                     "op, shape and time are needed", "begin with: op,shape,time [us]");
  return false;
}

std::optional<double> TableReader::bytes(const CsvField& shape, const std::string& text) {
  const auto parsed = parse_value(text, Dimension::bytes);
  if (const auto* value = std::get_if<double>(&parsed); value != nullptr && *value > 0)
    return *value;
  const auto* error = std::get_if<UnitError>(&parsed);
  diagnostics_.error(place(shape),
                     fmt::format("'{}' is no size: {}", text, error ? error->message : "zero"),
                     error ? error->why : "", error ? error->hint : "");
  return std::nullopt;
}

std::optional<std::vector<double>> TableReader::sizes(const CsvField& shape, const Family& family) {
  std::vector<double> all;
  for (const std::string& factor : factors_of(shape.text)) {
    const auto value = csv_number(factor);
    if (value && *value >= 1 && *value == std::floor(*value)) all.push_back(*value);
  }
  if (all.size() == family.sizes && factors_of(shape.text).size() == family.sizes) return all;
  diagnostics_.error(place(shape), fmt::format("'{}' is no shape of {}", shape.text, family.what),
                     fmt::format("whole numbers are needed: {}", family.meaning),
                     fmt::format("write {}", family.example));
  return std::nullopt;
}

std::optional<profile::MeasuredCase> TableReader::case_of(const CsvField& op,
                                                          const CsvField& shape) {
  if (profile::collective_kind_of(op.text)) return collective(op, shape);
  const std::size_t blank = std::min(op.text.find(' '), op.text.size());
  const std::string family = op.text.substr(0, blank);
  const std::string operation = op.text.substr(std::min(blank + 1, op.text.size()));
  const Family* known = family_named(family);
  if (known == nullptr || operation.empty()) {
    diagnostics_.error(
        place(op), fmt::format("unknown op '{}'", op.text), "",
        "gemm PRECISION LAYOUT, memory NAME, attention KERNEL forward, all_reduce, all_gather, "
        "reduce_scatter, all_to_all, broadcast, send_receive");
    return std::nullopt;
  }
  if (known->names_product && !is_product(operation)) {
    diagnostics_.error(place(op), fmt::format("unknown product '{}'", op.text),
                       "a precision and a layout stand behind " + family,
                       "write gemm bf16 forward, input gradient or weight gradient");
    return std::nullopt;
  }
  if (family == "attention" && !is_attention(operation)) {
    diagnostics_.error(place(op), fmt::format("unknown attention '{}'", op.text),
                       "kernel and direction stand behind attention, and perhaps 'full'",
                       "write attention flash3 forward, or attention cudnn backward full");
    return std::nullopt;
  }
  if (known->sizes == 0) {
    const auto size = bytes(shape, shape.text);
    if (!size) return std::nullopt;
    return profile::MeasuredCase{family, operation, {*size}, {}};
  }
  auto all = sizes(shape, *known);
  if (!all) return std::nullopt;
  return profile::MeasuredCase{family, operation, std::move(*all), {}};
}

std::optional<profile::MeasuredCase> TableReader::collective(const CsvField& op,
                                                             const CsvField& shape) {
  const std::vector<std::string> parts = factors_of(shape.text);
  const auto ranks = csv_number(parts.front());
  if (parts.size() != 2 || !ranks || *ranks < 2 || *ranks != std::floor(*ranks)) {
    diagnostics_.error(place(shape), fmt::format("'{}' is no ranks x bytes", shape.text),
                       "at least two ranks", "write 8 x 64 MiB");
    return std::nullopt;
  }
  const auto size = bytes(shape, parts[1]);
  if (!size) return std::nullopt;
  return profile::MeasuredCase{"collective", op.text, {*ranks, *size}, {}};
}

void TableReader::row(const std::vector<CsvField>& fields) {
  if (fields.size() < needed_) {
    diagnostics_.error({file_, number_, 1},
                       fmt::format("{} values, {} are needed", fields.size(), needed_),
                       "the row is cut", "take it out");
    return;
  }
  auto one = case_of(fields[op_], fields[shape_]);
  const auto time = csv_number(fields[time_].text);
  if (!time || *time <= 0) {
    diagnostics_.error(place(fields[time_]), fmt::format("'{}' is no time", fields[time_].text),
                       "a number above 0 is needed", "take the row out, or repeat the test");
    return;
  }
  if (!one) return;
  const auto [found, is_new] = index_.emplace(describe(*one), measurement_.cases.size());
  if (is_new) measurement_.cases.push_back(std::move(*one));
  measurement_.cases[found->second].seconds.push_back(*time * unit_);
}

void TableReader::add_fact(const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return;  // a remark that begins with that word
  measurement_.environment.push_back({text.substr(0, colon), text.substr(colon + 2)});
}

profile::Measurement TableReader::read(const std::string& text) {
  std::istringstream lines(text);
  bool has_header = false;
  for (std::string line; std::getline(lines, line);) {
    ++number_;
    if (line.starts_with("# fact ")) add_fact(line.substr(7));
    if (line.empty() || line.front() == '#') continue;
    const std::vector<CsvField> fields = csv_fields(line);
    if (has_header) {
      row(fields);
    } else if (!header(fields)) {
      return {};
    } else {
      has_header = true;
    }
  }
  if (measurement_.cases.empty() && !diagnostics_.has_errors()) {
    diagnostics_.error({file_}, "no row of a sample", "", "rows stand below op,shape,time [us]");
  }
  return std::move(measurement_);
}

}  // namespace

bool is_sample_table(const std::filesystem::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<CsvField> fields = csv_fields(line);
    return std::any_of(fields.begin(), fields.end(),
                       [](const CsvField& field) { return field.text == "shape"; });
  }
  return false;
}

std::optional<profile::Measurement> read_sample_table(const std::filesystem::path& file,
                                                      Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  const auto text = read_text(file, {name}, diagnostics);
  if (!text) return std::nullopt;
  diagnostics.add_source(name, *text);
  auto measurement = TableReader(name, diagnostics).read(*text);
  if (diagnostics.has_errors()) return std::nullopt;
  return measurement;
}

}  // namespace sim::scenario
