// Times are compared in whole picoseconds, memory in whole bytes.
#include "analysis/expect.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "analysis/measures.h"
#include "sim/base/fixed.h"

namespace analysis {

using sim::scenario::Expectation;
using sim::training::Result;

namespace {

std::optional<double> found_picoseconds(const std::string& quantity, const Result& result) {
  if (quantity == "iteration") return static_cast<double>(result.iteration_ps());
  for (int c = 0; c < sim::training::category_count; ++c) {
    if (quantity == sim::training::name(static_cast<sim::training::Category>(c))) {
      return static_cast<double>(result.time[static_cast<std::size_t>(c)]);
    }
  }
  if (quantity.rfind("end.", 0) != 0) return std::nullopt;
  for (const auto& track : result.tracks) {
    if (track.stream == quantity.substr(4) && !track.spans.empty()) {
      return static_cast<double>(track.spans.back().end_ps);
    }
  }
  return std::nullopt;
}

std::optional<double> found_bytes(const std::string& quantity, const Result& result) {
  const auto* fullest = fullest_stage(result);
  if (!fullest) return std::nullopt;
  const sim::plan::MemoryBreakdown& worst = fullest->memory;
  if (quantity == "peak_memory") return worst.peak().value();
  if (quantity == "memory.weights") return worst.weights.value();
  if (quantity == "memory.gradients") return worst.gradients.value();
  if (quantity == "memory.optimizer") return worst.optimizer.value();
  if (quantity == "memory.activations") return worst.activations.value();
  if (quantity == "memory.other") return worst.other.value();
  if (!result.host_memory) return std::nullopt;
  const sim::plan::HostBytes& host = result.host_memory->used;
  if (quantity == "host_memory") return host.total().value();
  if (quantity == "host_memory.optimizer") return host.optimizer.value();
  if (quantity == "host_memory.gradients") return host.gradients.value();
  if (quantity == "host_memory.parameters") return host.parameters.value();
  if (quantity == "host_memory.activations") return host.activations.value();
  return std::nullopt;
}

std::optional<double> found_count(const std::string& quantity,
                                  const sim::scenario::Scenario& scenario, const Result& result) {
  if (quantity == "rank") return result.time_rank;
  const auto* dnn = std::get_if<sim::dnn::Transformer>(&scenario.dnn);
  if (quantity == "parameters" && dnn) {
    return static_cast<double>(sim::dnn::total_parameters(*dnn));
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> unmet(const std::vector<Expectation>& expectations,
                               const sim::scenario::Scenario& scenario, const Result& result) {
  std::vector<std::string> messages;
  for (const Expectation& e : expectations) {
    std::optional<double> found;
    double expected = 0;
    const char* unit = "";
    if (const auto* time = std::get_if<sim::Seconds>(&e.value)) {
      found = found_picoseconds(e.quantity, result);
      expected = static_cast<double>(sim::to_picoseconds(*time));
      unit = " ps";
    } else if (const auto* bytes = std::get_if<sim::Bytes>(&e.value)) {
      found = found_bytes(e.quantity, result);
      expected = std::round(bytes->value());
      unit = " B";
    } else {
      found = found_count(e.quantity, scenario, result);
      expected = std::get<double>(e.value);
    }
    const std::string place = fmt::format("{}:{}:{}", e.place.file, e.place.line, e.place.column);
    if (!found) {
      messages.push_back(fmt::format("{}: expectation failed: this run has no '{}' of that kind",
                                     place, e.quantity));
    } else if (std::abs(*found - expected) > e.tolerance * std::abs(expected)) {
      messages.push_back(fmt::format("{}: expectation failed: {} is {:.0f}{}, expected {:.0f}{}",
                                     place, e.quantity, *found, unit, expected, unit));
    }
  }
  return messages;
}

}  // namespace analysis
