// Closed loop of the network model: real TCP flows over links of limited rate, beside what max-min
// sharing says of them. Nothing is fitted; a link carries its rate times payload over frame.
//
//     network_loop [--short]
//
// Times depend on what else runs, so only this is asserted: all bytes arrive, and no link carries
// more than its rate. Ends with 77 where namespaces or limiters cannot be had.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/base/fixed.h"
#include "tests/sim/network/hand_system.h"
#include "tests/sim/network/real/transfers.h"

namespace {

using namespace sim;
using namespace sim::network;
using namespace sim::network::real;

constexpr int exit_skipped = 77;
// Above this the machine, not the network, may be what limits.
constexpr double busy_share = 0.4;

struct Prediction {
  std::vector<double> start, end;  // [flow][s]
};

std::int64_t bytes_per_second(const Cable& cable) {
  return std::llround(cable.megabits * 1e6 / 8 * efficiency);
}

Prediction predict(const Pattern& pattern) {
  HandSystem system;
  for (const Cable& cable : pattern.cables) {
    for (const char* way : {"there", "back"}) system.resource(way, bytes_per_second(cable));
  }
  const auto routes = paths(pattern);
  for (std::size_t f = 0; f < pattern.flows.size(); ++f) {
    const Flow& flow = pattern.flows[f];
    std::int64_t alone = INT64_MAX;
    for (const int way : routes[f]) {
      alone = std::min(alone, bytes_per_second(pattern.cables[static_cast<std::size_t>(way / 2)]));
    }
    Operation operation{.lag = static_cast<Picoseconds>(std::llround(flow.delay * 1e12)),
                        .weight = byte_fair_weight(alone)};
    operation.work = static_cast<Picoseconds>(Int128{flow.bytes} * 1'000'000'000'000 / alone);
    for (const int way : routes[f]) operation.uses.push_back({way, alone});
    for (const int before : flow.after) operation.waits.push_back({{before}});
    system.stream("flow", {operation});
  }
  const Outcome found = outcome(system.take());
  Prediction result;
  for (std::size_t f = 0; f < pattern.flows.size(); ++f) {
    result.end.push_back(to_seconds(found.last_ends[f]).value());
    double start = 0;
    for (const int before : pattern.flows[f].after) {
      start = std::max(start, result.end[static_cast<std::size_t>(before)]);
    }
    result.start.push_back(start + pattern.flows[f].delay);
  }
  return result;
}

// What the busiest link needs for all that crosses it. [s]
double least_time(const Pattern& pattern) {
  std::vector<double> bytes(2 * pattern.cables.size(), 0);
  const auto routes = paths(pattern);
  for (std::size_t f = 0; f < routes.size(); ++f) {
    for (const int way : routes[f]) {
      bytes[static_cast<std::size_t>(way)] += static_cast<double>(pattern.flows[f].bytes);
    }
  }
  double least = 0;
  for (std::size_t way = 0; way < bytes.size(); ++way) {
    const auto rate = static_cast<double>(bytes_per_second(pattern.cables[way / 2]));
    least = std::max(least, bytes[way] / rate);
  }
  return least;
}

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

struct Errors {
  std::vector<double> whole, flow;  // of the last end, and the mean of the flows' durations
  bool is_wrong = false;
};

void compare(const Pattern& pattern, Errors& errors) {
  const Prediction predicted = predict(pattern);
  const EmulatedNetwork network(pattern);
  const Transfers measured = transfer(pattern, network);
  const double expected = largest(predicted.end), found = largest(measured.end);
  const double error = expected / found - 1;
  double flows = 0;
  for (std::size_t f = 0; f < pattern.flows.size(); ++f) {
    const double duration = measured.end[f] - measured.start[f];
    flows += std::abs((predicted.end[f] - predicted.start[f]) / duration - 1);
  }
  flows /= static_cast<double>(pattern.flows.size());
  const bool is_busy = measured.cpu_share > busy_share;
  // The limiters let two frames through at once after a pause.
  const bool is_too_fast = found < 0.9 * least_time(pattern);
  fmt::print("  {:<24}{:>7}{:>12.3f}{:>12.3f}{:>10.1f}{:>10.1f}  {}\n", pattern.name,
             pattern.flows.size(), expected, found, 100 * error, 100 * flows,
             is_too_fast ? "a link carried more than its rate"
             : is_busy   ? "left out: the machine was the limit"
                         : "");
  std::fflush(stdout);
  errors.is_wrong = errors.is_wrong || is_too_fast;
  if (is_busy) return;
  errors.whole.push_back(std::abs(error));
  errors.flow.push_back(flows);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

int main(int count, char** arguments) {
  // Before other processes, where that is allowed: this one mostly waits.
  sched_param first{};
  first.sched_priority = 10;
  sched_setscheduler(0, SCHED_FIFO, &first);
  const bool is_short = count > 1 && std::strcmp(arguments[1], "--short") == 0;
  std::vector<Pattern> all = patterns(100, is_short ? 1'000'000 : 5'000'000);
  if (is_short) {
    std::erase_if(all, [](const Pattern& p) {
      return p.name != "incast of sizes" && p.name != "parking lot" && p.name != "ring of 4";
    });
  }
  Errors errors;
  fmt::print("  {:<24}{:>7}{:>12}{:>12}{:>10}{:>10}\n", "TCP over 100 Mbit/s", "flows",
             "max-min [s]", "run [s]", "error [%]", "flows [%]");
  try {
    for (const Pattern& pattern : all) compare(pattern, errors);
  } catch (const CannotEmulate& problem) {
    fmt::print("skipped: {}\n", problem.what());
    return exit_skipped;
  }
  if (errors.whole.empty()) {
    fmt::print("skipped: the machine was too busy for all of them\n");
    return exit_skipped;
  }
  fmt::print("  mean of {:<17}{:>41.1f}{:>10.1f}\n  worst{:>59.1f}{:>10.1f}\n", errors.whole.size(),
             100 * mean(errors.whole), 100 * mean(errors.flow), 100 * largest(errors.whole),
             100 * largest(errors.flow));
  return errors.is_wrong ? 1 : 0;
}
