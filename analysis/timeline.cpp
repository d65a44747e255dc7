// Trace events become operations of workers; those that go on together are found by their order.
#include "analysis/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/gzip.h"
#include "sim/scenario/document.h"

namespace analysis {
namespace {

using sim::scenario::Value;

struct Type {
  const char* name;
  Meeting meeting;
  int side = 0;              // of a transfer: 0 the stage in front, 1 the one behind
  const char* partner = "";  // of a transfer: the same on the other side
};
// Source of the names: Megatron's timers as recorded by Lin et al., OSDI 2025.
constexpr Type types[] = {{"forward-compute", Meeting::none},
                          {"backward-compute", Meeting::none},
                          {"optimizer", Meeting::none},
                          {"gc", Meeting::none},
                          {"forward-send", Meeting::next_stage, 0, "forward"},
                          {"forward-recv", Meeting::next_stage, 1, "forward"},
                          {"backward-recv", Meeting::next_stage, 0, "backward"},
                          {"backward-send", Meeting::next_stage, 1, "backward"},
                          {"params-all-gather", Meeting::data},
                          {"grads-reduce-scatter", Meeting::data},
                          {"grads-all-reduce", Meeting::data},
                          {"layernorm-grads-all-reduce", Meeting::tensor},
                          {"embedding-grads-all-reduce", Meeting::ends},
                          {"optimizer-clip-main-grad", Meeting::all}};

// Both sides of a transfer are one type.
std::string label(const Type& type) {
  if (type.meeting != Meeting::next_stage) return type.name;
  return fmt::format("{} transfer", type.partner);
}

std::optional<double> number_in(const Value& event, const char* key) {
  const Value* value = event.find(key);
  if (value == nullptr || value->kind != Value::Kind::text) return std::nullopt;
  double number = 0;
  const char* end = value->text.data() + value->text.size();
  const auto [stop, error] = std::from_chars(value->text.data(), end, number);
  if (error != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string text_in(const Value& event, const char* key) {
  const Value* value = event.find(key);
  return value != nullptr && value->kind == Value::Kind::text ? value->text : "";
}

// "PP rank 2, TP rank 0, compute" -> 2, 0.
std::optional<std::pair<int, int>> ranks_of(const std::string& thread) {
  int stage = 0, tensor = 0;
  const std::string front = "PP rank ", middle = ", TP rank ";
  const std::size_t comma = thread.find(middle);
  if (!thread.starts_with(front) || comma == std::string::npos) return std::nullopt;
  const auto read = [&](std::size_t from, std::size_t to, int& number) {
    const char* end = thread.data() + to;
    const auto [stop, error] = std::from_chars(thread.data() + from, end, number);
    return error == std::errc() && stop == end;
  };
  const std::size_t second = comma + middle.size();
  const std::size_t last = std::min(thread.find(',', second), thread.size());
  if (!read(front.size(), comma, stage) || !read(second, last, tensor)) return std::nullopt;
  return std::pair(stage, tensor);
}

class TimelineReader {
 public:
  explicit TimelineReader(sim::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  std::optional<Timeline> read(const Value& root);

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;  // pid, tid
  using Ranks = std::tuple<int, int, int>;               // stage, data, tensor
  struct Event {
    const Value* value;
    int known = 0;  // in `types`
    Ranks ranks;
    std::int64_t step = 0;
    Picoseconds start = 0, lasted = 0;
  };

  void fail(const Value& at, const std::string& message, const std::string& hint = "") {
    diagnostics_.error(at.place(), message, "", hint);
    is_right_ = false;
  }
  void name_thread(const Value& event);
  void add(const Value& event);
  void lay_out();
  void meet();
  void check_meetings(const std::vector<int>& sides);

  sim::Diagnostics& diagnostics_;
  bool is_right_ = true;
  std::map<Thread, std::pair<int, int>> threads_;  // stage and tensor rank
  std::vector<Event> events_;
  std::vector<const Value*> values_;  // [operation]
  std::vector<int> known_;            // [operation] in `types`
  Timeline timeline_;
};

void TimelineReader::name_thread(const Value& event) {
  const Value* arguments = event.find("args");
  const auto pid = number_in(event, "pid"), tid = number_in(event, "tid");
  if (text_in(event, "name") != "thread_name" || arguments == nullptr || !pid || !tid) return;
  const auto ranks = ranks_of(text_in(*arguments, "name"));
  if (!ranks) {
    fail(event, fmt::format("a thread named '{}'", text_in(*arguments, "name")),
         "threads are named like 'PP rank 0, TP rank 0, compute'");
    return;
  }
  threads_[{std::llround(*pid), std::llround(*tid)}] = *ranks;
}

void TimelineReader::add(const Value& event) {
  const std::string name = text_in(event, "name");
  const auto* known = std::find_if(std::begin(types), std::end(types),
                                   [&](const Type& type) { return name == type.name; });
  if (known == std::end(types)) {
    return fail(event, fmt::format("unknown operation '{}'", name),
                "operations have Megatron's names, such as forward-compute");
  }
  const Value* arguments = event.find("args");
  const auto pid = number_in(event, "pid"), tid = number_in(event, "tid");
  const auto start = number_in(event, "ts"), lasted = number_in(event, "dur");
  const auto step = arguments ? number_in(*arguments, "step") : std::nullopt;
  if (!pid || !tid || !start || !lasted || !step) {
    return fail(event,
                fmt::format("'{}' without a number for pid, tid, ts, dur or args.step", name));
  }
  constexpr double microseconds_max = 100 * 86400e6;
  if (*start < 0 || *lasted < 0 || *start + *lasted > microseconds_max) {
    return fail(event, fmt::format("'{}' is not between 0 and 100 days", name));
  }
  if (arguments && number_in(*arguments, "model_chunk").value_or(0) > 0) {
    return fail(event, "an operation of a second virtual stage is not supported",
                "record a schedule without interleaving");
  }
  const auto thread = threads_.find({std::llround(*pid), std::llround(*tid)});
  if (thread == threads_.end()) {
    return fail(event, fmt::format("'{}' on a thread without a name", name),
                "name it by an event thread_name, such as 'PP rank 0, TP rank 0, compute'");
  }
  const auto [stage, tensor] = thread->second;
  constexpr double picoseconds = 1e6;  // in a microsecond
  events_.push_back({&event,
                     static_cast<int>(known - std::begin(types)),
                     {stage, static_cast<int>(*pid), tensor},
                     std::llround(*step),
                     std::llround(*start * picoseconds),
                     std::llround(*lasted * picoseconds)});
}

void TimelineReader::lay_out() {
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return std::tie(a.step, a.ranks, a.start) < std::tie(b.step, b.ranks, b.start);
  });
  std::map<Ranks, int> workers;
  std::map<std::int64_t, int> steps;
  std::map<std::string, int> type_of;
  for (const Event& e : events_) {
    workers.emplace(e.ranks, 0);
    steps.emplace(e.step, 0);
    const auto [entry, is_new] =
        type_of.try_emplace(label(types[e.known]), static_cast<int>(type_of.size()));
    if (!is_new) continue;
    timeline_.types.push_back(entry->first);
    timeline_.is_compute.push_back(types[e.known].meeting == Meeting::none ? 1 : 0);
  }
  for (auto& [ranks, index] : workers) {
    index = static_cast<int>(timeline_.workers.size());
    const auto& [stage, data, tensor] = ranks;
    timeline_.workers.push_back({data, stage, tensor});
  }
  for (auto& [step, index] : steps) {
    index = static_cast<int>(timeline_.steps.size());
    timeline_.steps.push_back(step);
  }
  for (const Event& e : events_) {
    timeline_.operations.push_back(
        {type_of[label(types[e.known])], workers[e.ranks], steps[e.step], e.start, e.lasted, -1});
    values_.push_back(e.value);
    known_.push_back(e.known);
  }
}

// The n-th of a type that a worker does in a step goes on with the n-th of the others.
void TimelineReader::meet() {
  std::map<std::tuple<int, int, int>, int> times;  // by step, worker, name
  std::map<std::tuple<int, std::string, std::array<int, 3>, int>, int> meeting_of;
  std::vector<int> sides;  // [meeting] of transfers, a bit for each; -1: no transfer
  for (std::size_t i = 0; i < timeline_.operations.size(); ++i) {
    TimelineOperation& o = timeline_.operations[i];
    const Type& type = types[known_[i]];
    if (type.meeting == Meeting::none) continue;
    const TimelineWorker& w = timeline_.workers[static_cast<std::size_t>(o.worker)];
    const int time = times[{o.step, o.worker, known_[i]}]++;
    const bool is_transfer = type.meeting == Meeting::next_stage;
    std::array<int, 3> who{w.stage, w.data, w.tensor};
    if (is_transfer) who[0] -= type.side;
    if (type.meeting == Meeting::data) who[1] = -1;
    if (type.meeting == Meeting::tensor) who[2] = -1;
    if (type.meeting == Meeting::ends) who[0] = -1;
    if (type.meeting == Meeting::all) who = {-1, -1, -1};
    const auto [entry, is_new] = meeting_of.try_emplace(
        {o.step, label(type), who, time}, static_cast<int>(timeline_.meetings.size()));
    if (is_new) {
      timeline_.meetings.emplace_back();
      sides.push_back(is_transfer ? 0 : -1);
    }
    o.meeting = entry->second;
    const auto meeting = static_cast<std::size_t>(o.meeting);
    timeline_.meetings[meeting].push_back(static_cast<int>(i));
    if (is_transfer) sides[meeting] |= 1 << type.side;
  }
  check_meetings(sides);
}

void TimelineReader::check_meetings(const std::vector<int>& sides) {
  for (std::size_t m = 0; m < sides.size(); ++m) {
    if (sides[m] == -1 || sides[m] == 3) continue;
    const auto operation = static_cast<std::size_t>(timeline_.meetings[m].front());
    fail(*values_[operation],
         fmt::format("a '{}' whose other side is missing", types[known_[operation]].name),
         "record all stages");
  }
}

std::optional<Timeline> TimelineReader::read(const Value& root) {
  const Value* list = root.kind == Value::Kind::map ? root.find("traceEvents") : &root;
  if (list == nullptr || list->kind != Value::Kind::list) {
    fail(root, "no list of trace events", "Chrome's trace event format is needed");
    return std::nullopt;
  }
  for (const Value& event : list->items) {
    if (text_in(event, "ph") == "M") name_thread(event);
  }
  for (const Value& event : list->items) {
    const std::string phase = text_in(event, "ph");
    if (phase == "X") add(event);
    if (phase != "X" && phase != "M") {
      fail(event, fmt::format("an event of phase '{}'", phase), "phases are X and M");
    }
  }
  if (events_.empty() && is_right_) fail(root, "no operation in the timeline");
  if (!is_right_) return std::nullopt;
  lay_out();
  meet();
  if (!is_right_) return std::nullopt;
  return std::move(timeline_);
}

}  // namespace

std::optional<Timeline> read_timeline(const std::filesystem::path& file,
                                      sim::Diagnostics& diagnostics) {
  const std::string name = file.generic_string();
  auto text = sim::scenario::read_text(file, {name}, diagnostics);
  if (!text) return std::nullopt;
  if (is_gzip(*text)) {
    text = gunzip(*text, sim::scenario::file_bytes_max);
    if (!text) {
      diagnostics.error({name}, "the file is not compressed as gzip would, or not whole", "",
                        "or its text has more than 16 MiB: record fewer steps");
      return std::nullopt;
    }
  }
  diagnostics.add_source(name, *text);
  const auto root = sim::scenario::parse_document(name, *text, diagnostics);
  if (!root) return std::nullopt;
  return TimelineReader(diagnostics).read(*root);
}

}  // namespace analysis
