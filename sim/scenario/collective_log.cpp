// Reading the output of nccl-tests: rank list, header, rows, verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "sim/collective/closed_form.h"
#include "sim/scenario/document.h"
#include "sim/scenario/measured_collectives.h"

namespace sim::scenario {
namespace {

using collective::Operation;

// The error column of 2019 holds relative errors. Assumed: sums in half precision stay below this.
constexpr double relative_error_max = 0.01;

struct Token {
  std::string text;
  int column = 0;
};

std::vector<Token> tokens_of(const std::string& line, std::size_t from) {
  std::vector<Token> tokens;
  for (std::size_t at = from; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    tokens.push_back({line.substr(begin, at - begin), static_cast<int>(begin) + 1});
  }
  return tokens;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return {};
  return number;
}

bool is_whole(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Which column of the out-of-place half holds what.
struct Header {
  std::size_t size = 0, time = 0, algorithm = 0, bus = 0, check = 0, count = 0;
  bool counts_wrong = true;  // else relative errors
};

std::optional<Header> header_of(const std::vector<Token>& tokens) {
  std::vector<std::string> names;
  for (const Token& token : tokens) {
    if (token.text != "#") names.push_back(token.text);
  }
  const auto find = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  Header header{.size = find("size"),
                .time = find("time"),
                .algorithm = find("algbw"),
                .bus = find("busbw"),
                .check = find("#wrong"),
                .count = names.size()};
  if (header.check == names.size()) {
    header.check = find("error");
    header.counts_wrong = false;
  }
  const bool is_one = header.size < names.size() && header.bus < names.size() &&
                      header.algorithm < names.size() && header.time < names.size();
  return is_one ? std::optional(header) : std::nullopt;
}

class LogReader {
 public:
  LogReader(std::string file, const LogFacts& facts, Diagnostics& diagnostics)
      : file_(std::move(file)), facts_(facts), diagnostics_(diagnostics) {}

  std::vector<CollectiveRun> read(const std::string& text);

 private:
  void line(const std::string& whole);
  void comment(const std::string& whole, std::size_t from, const std::vector<Token>& tokens);
  void rank(const std::vector<Token>& tokens);
  void begin(const Header& header, const Token& at);
  void row(const std::vector<Token>& tokens);
  bool is_result_right(const std::vector<Token>& tokens);
  std::optional<double> value(const std::vector<Token>& tokens, std::size_t column,
                              const char* name, const char* unit);
  struct Row {
    double size, time, algorithm, bus;
    Place place, bus_place;
  };
  // Reports what does not agree; false where it is the operation or the ranks, wrong for all rows.
  bool has_right_factor(const Row& row);
  bool decide();
  void end();
  Place place(const Token& token) const {
    return {file_, number_, token.column, static_cast<int>(token.text.size())};
  }

  std::string file_;
  const LogFacts& facts_;
  Diagnostics& diagnostics_;
  std::vector<CollectiveRun> runs_;
  int number_ = 0;  // of the line
  std::optional<Operation> operation_;
  std::set<std::string> hosts_;
  int ranks_ = 0;
  std::string device_;
  std::optional<Header> header_;
  std::optional<CollectiveRun> run_;
  std::vector<Row> rows_;
};

// A new list of devices, or a header, ends the test before. Only then is enough known to say what
// it was.
void LogReader::end() {
  if (run_ && !rows_.empty() && decide()) {
    for (const Row& row : rows_) {
      if (row.size == 0) {
        ++run_->empty_rows;
        continue;
      }
      if (!has_right_factor(row)) break;
      run_->rows.push_back({Bytes(row.size), microseconds(row.time), row.place});
    }
    runs_.push_back(std::move(*run_));
  }
  run_.reset();
  header_.reset();
  rows_.clear();
}

//  Rank  1 Group  0 Pid 392375 on    node001 device  1 [0x2d] NVIDIA H100 80GB HBM3
void LogReader::rank(const std::vector<Token>& tokens) {
  if (header_) {
    end();
    ranks_ = 0;
    hosts_.clear();
  }
  ++ranks_;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "on") hosts_.insert(tokens[i + 1].text);
    if (tokens[i].text.front() != '[' || tokens[i].text.back() != ']') continue;
    device_.clear();
    for (std::size_t j = i + 1; j < tokens.size(); ++j) {
      device_ += (device_.empty() ? "" : " ") + tokens[j].text;
    }
  }
}

void LogReader::begin(const Header& header, const Token& at) {
  end();
  header_ = header;
  run_.emplace();
  run_->place = place(at);
  run_->device = device_;
  run_->id = fmt::format("{}:{}", std::filesystem::path(file_).filename().string(), number_);
}

void LogReader::comment(const std::string& whole, std::size_t from,
                        const std::vector<Token>& tokens) {
  for (const Operation operation :
       {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
        Operation::all_to_all, Operation::broadcast, Operation::send_receive}) {
    for (const std::string& name : operation_names()) {
      if (operation_named(name) == operation && whole.find(name + "_perf") != std::string::npos) {
        operation_ = operation;
      }
    }
  }
  if (tokens.size() > 6 && tokens[0].text == "#" && tokens[1].text == "Rank") return rank(tokens);
  if (const auto header = header_of(tokens)) return begin(*header, tokens.front());
  const std::size_t verdict = whole.find("Out of bounds values", from);
  if (verdict == std::string::npos || whole.find("FAILED", verdict) == std::string::npos) return;
  diagnostics_.error({file_, number_, static_cast<int>(verdict) + 1, 20},
                     "the test found wrong results", "a time of wrong results means nothing",
                     "take the log of a run that passes");
}

std::optional<double> LogReader::value(const std::vector<Token>& tokens, std::size_t column,
                                       const char* name, const char* unit) {
  const Token& token = tokens[column];
  const auto number = number_of(token.text);
  if (number && *number >= 0) return number;
  diagnostics_.error(place(token), fmt::format("'{}' is no {} in {}", token.text, name, unit), "",
                     "take the row out, or repeat the test");
  return std::nullopt;
}

bool LogReader::is_result_right(const std::vector<Token>& tokens) {
  if (header_->check >= header_->count) return true;
  const Token& token = tokens[header_->check];
  const auto number = number_of(token.text);
  if (!number || *number <= (header_->counts_wrong ? 0 : relative_error_max)) return true;
  diagnostics_.error(place(token),
                     header_->counts_wrong ? fmt::format("{} wrong results", token.text)
                                           : fmt::format("results wrong by {}", token.text),
                     "a time of wrong results means nothing", "take the log of a run that passes");
  return false;
}

bool LogReader::decide() {
  // Of all operations only an all-reduce has a bus bandwidth above its algorithm bandwidth.
  const bool is_all_reduce = std::any_of(rows_.begin(), rows_.end(), [](const Row& row) {
    return row.algorithm > 1 && row.bus > 1.1 * row.algorithm;
  });
  auto operation = facts_.operation ? facts_.operation : operation_;
  if (!operation && is_all_reduce) operation = Operation::all_reduce;
  const bool moves =
      std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.bus > 0; });
  const bool is_list_cut = ranks_ == 1 && moves;
  const int ranks = facts_.ranks.value_or(is_list_cut ? 0 : ranks_);
  const int hosts = facts_.hosts.value_or(facts_.ranks ? 0 : static_cast<int>(hosts_.size()));
  const auto lacking = [&](const char* what, const char* option) {
    diagnostics_.error(run_->place, fmt::format("the log does not say {}", what), "",
                       fmt::format("say it with {}", option));
    return false;
  };
  if (ranks == 1) {
    diagnostics_.error(rows_.front().place, "a test of one rank",
                       "one rank sends nothing to another", "take a test of at least two");
    return false;
  }
  if (!operation) return lacking("which operation this is", "--operation all_reduce");
  if (ranks == 0) return lacking("how many ranks took part", "--ranks N --hosts N");
  if (hosts == 0) return lacking("how many hosts took part", "--hosts N");
  if (ranks % hosts != 0) {
    diagnostics_.error(run_->place, fmt::format("{} ranks on {} hosts", ranks, hosts),
                       "every host must hold as many ranks as the others");
    return false;
  }
  run_->operation = *operation;
  run_->ranks = ranks;
  run_->hosts = hosts;
  return true;
}

bool LogReader::has_right_factor(const Row& row) {
  const auto differ = [](double printed, double computed) {
    return std::abs(printed - computed) > 0.011 + 0.01 * computed;
  };
  const double rate = row.size / row.time * 1e-3;  // bytes/us -> GB/s
  if (differ(row.algorithm, rate)) {
    diagnostics_.error(row.place,
                       fmt::format("{:.0f} B in {} us are {:.2f} GB/s, not {}", row.size, row.time,
                                   rate, row.algorithm),
                       "size, time and bandwidth of a row must agree");
    return true;
  }
  const double factor = collective::bus_factor(run_->operation, run_->ranks);
  if (!differ(row.bus, factor * row.algorithm)) return true;
  diagnostics_.error(
      row.bus_place,
      fmt::format("bus bandwidth {} GB/s is not {} GB/s x {:.4g}", row.bus, row.algorithm, factor),
      fmt::format("the factor of {} over {} ranks", name(run_->operation), run_->ranks),
      "say the operation and the ranks with --operation and --ranks");
  return false;
}

void LogReader::row(const std::vector<Token>& tokens) {
  const std::size_t needed = std::min(std::max(header_->bus, header_->check) + 1, header_->count);
  if (tokens.size() < needed) {
    diagnostics_.error(
        place(tokens.back()),
        fmt::format("the row ends after {} of {} values", tokens.size(), header_->count),
        "the log is cut", "take the row out");
    return;
  }
  const auto size = value(tokens, header_->size, "size", "bytes");
  const auto time = value(tokens, header_->time, "time", "us");
  const auto algorithm = value(tokens, header_->algorithm, "bandwidth", "GB/s");
  const auto bus = value(tokens, header_->bus, "bandwidth", "GB/s");
  if (!size || !time || !algorithm || !bus || !is_result_right(tokens)) return;
  if (*time == 0) {
    diagnostics_.error(place(tokens[header_->time]), "a time of 0 us", "", "take the row out");
    return;
  }
  rows_.push_back(
      {*size, *time, *algorithm, *bus, place(tokens[header_->size]), place(tokens[header_->bus])});
}

void LogReader::line(const std::string& whole) {
  constexpr std::string_view prefix = "<stdout>:";
  const std::size_t at = whole.find(prefix);
  const std::size_t from = at == std::string::npos ? 0 : at + prefix.size();
  const std::vector<Token> tokens = tokens_of(whole, from);
  if (tokens.empty()) return;
  if (header_ && is_whole(tokens.front().text)) return row(tokens);
  comment(whole, from, tokens);
}

std::vector<CollectiveRun> LogReader::read(const std::string& text) {
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    ++number_;
    line(one);
  }
  end();
  if (runs_.empty() && !diagnostics_.has_errors()) {
    diagnostics_.error({file_}, "no row of a test",
                       "rows stand below a line '# size count type redop ... time algbw busbw'",
                       "the log ends before the first row, or its header is cut off");
  }
  return std::move(runs_);
}

}  // namespace

std::optional<Operation> operation_named(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-') plain += c;
  }
  if (plain == "allreduce") return Operation::all_reduce;
  if (plain == "allgather") return Operation::all_gather;
  if (plain == "reducescatter") return Operation::reduce_scatter;
  if (plain == "alltoall") return Operation::all_to_all;
  if (plain == "broadcast") return Operation::broadcast;
  if (plain == "sendrecv" || plain == "sendreceive") return Operation::send_receive;
  return std::nullopt;
}

std::vector<std::string> operation_names() {
  return {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv"};
}

std::optional<std::vector<CollectiveRun>> read_collective_log(const std::filesystem::path& file,
                                                              const LogFacts& facts,
                                                              Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  const auto text = read_text(file, {name}, diagnostics);
  if (!text) return std::nullopt;
  diagnostics.add_source(name, *text);
  auto runs = LogReader(name, facts, diagnostics).read(*text);
  if (diagnostics.has_errors()) return std::nullopt;
  return runs;
}

}  // namespace sim::scenario
