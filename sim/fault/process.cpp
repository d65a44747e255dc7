// Order statistics of many alike parts, one at a time, so that a failure costs the same for any
// number of parts.
#include "sim/fault/process.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace sim::fault {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// Parts without memory: together they fail at random, whatever was replaced.
bool has_no_memory(const Life& life) {
  return life.distribution.kind == Distribution::Kind::exponential && life.infant_extra == 0;
}

}  // namespace

double rate(const std::vector<FailureProcess>& processes, Planned planned) {
  double sum = 0;
  for (const FailureProcess& process : processes) {
    if (process.is_planned && planned == Planned::left_out) continue;
    sum += process.calendar
               ? 1 / process.calendar->every.value()
               : static_cast<double>(process.parts) / mean(process.life.distribution).value();
  }
  return sum;
}

double Draws::uniform(What what, std::size_t process, std::uint64_t number) const {
  const auto purpose = static_cast<std::uint32_t>(process) * 8 + static_cast<std::uint32_t>(what);
  return sim::uniform({seed, history, purpose, number});
}

Arrivals::Arrivals(const std::vector<FailureProcess>& processes, const Draws& draws)
    : processes_(processes), draws_(draws), streams_(processes.size()) {
  for (std::size_t p = 0; p < processes_.size(); ++p) begin(p);
}

double Arrivals::exponential(Draws::What what, std::size_t process, std::uint64_t number) const {
  return -std::log(draws_.uniform(what, process, number));
}

// The cumulative hazards at which n alike parts fail are ordered exponentials: each gap is one with
// mean 1 / (parts left). Source: Renyi, Acta Math. Hung. 4, 1953, 191-231.
void Arrivals::draw_original(std::size_t process) {
  Stream& stream = streams_[process];
  const FailureProcess& what = processes_[process];
  if (stream.originals == 0) {
    stream.next_first_at = never;
    return;
  }
  const auto drawn = static_cast<std::uint64_t>(what.parts - stream.originals);
  stream.hazard +=
      exponential(Draws::What::gap, process, drawn) / static_cast<double>(stream.originals);
  --stream.originals;
  stream.next_first_at = (age_at(what.life, stream.hazard) - what.age).value();
}

void Arrivals::begin(std::size_t process) {
  Stream& stream = streams_[process];
  const FailureProcess& what = processes_[process];
  if (what.calendar) {
    stream.next_at = what.calendar->first.value();
  } else if (has_no_memory(what.life)) {
    stream.next_at = exponential(Draws::What::gap, process, 0) *
                     what.life.distribution.scale.value() / static_cast<double>(what.parts);
  } else {
    stream.hazard = cumulative_hazard(what.life, what.age);
    stream.originals = what.parts;
    draw_original(process);
    stream.next_at = stream.next_first_at;
  }
}

// From the failure at next_at to the one after it.
void Arrivals::advance(std::size_t process) {
  Stream& stream = streams_[process];
  const FailureProcess& what = processes_[process];
  const std::uint64_t number = ++stream.count;
  if (what.calendar) {
    stream.next_at += what.calendar->every.value();
    return;
  }
  if (has_no_memory(what.life)) {
    stream.next_at += exponential(Draws::What::gap, process, number) *
                      what.life.distribution.scale.value() / static_cast<double>(what.parts);
    return;
  }
  auto& renewed = stream.renewed_at;
  if (!renewed.empty() && renewed.front() <= stream.next_first_at) {
    std::pop_heap(renewed.begin(), renewed.end(), std::greater<>());
    renewed.pop_back();
  } else {
    draw_original(process);
  }
  const double life = age_at(what.life, exponential(Draws::What::life, process, number)).value();
  renewed.push_back(stream.next_at + life);
  std::push_heap(renewed.begin(), renewed.end(), std::greater<>());
  stream.next_at = std::min(stream.next_first_at, renewed.front());
}

Failure Arrivals::next() {
  Failure failure{0, 0, never};
  for (std::size_t p = 0; p < streams_.size(); ++p) {
    if (streams_[p].next_at < failure.at) failure = {p, streams_[p].count, streams_[p].next_at};
  }
  if (failure.at < never) advance(failure.process);
  return failure;
}

}  // namespace sim::fault
