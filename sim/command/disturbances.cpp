// Parts become devices and links, courses become patterns, and each of the parts draws.
#include "sim/command/disturbances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/random.h"

namespace sim::command {
namespace {

using scenario::Straggler;
using scenario::StragglerTrace;
using training::Disturbance;

// What is drawn; of different stragglers, and of devices and links, differently. Jitter has the
// purposes below.
enum Draw : std::uint32_t { draw_hit, draw_share, draw_course, draw_count };
constexpr std::uint32_t first_purpose = 16;
constexpr std::uint32_t owner_together = UINT32_MAX;

// Both directions between the same two parts have one owner: the lower link.
std::map<topology::LinkIndex, std::uint32_t> owners(const topology::Cluster& cluster,
                                                    const std::vector<topology::LinkIndex>& links) {
  std::map<std::pair<topology::VertexIndex, topology::VertexIndex>, std::uint32_t> lowest;
  std::map<topology::LinkIndex, std::uint32_t> result;
  for (const topology::LinkIndex link : links) {
    const topology::LinkEnds ends = cluster.ends(link);
    const auto entry =
        lowest.try_emplace(std::minmax(ends.from, ends.to), static_cast<std::uint32_t>(link));
    result[link] = entry.first->second;
  }
  return result;
}

training::Recorded recorded(const StragglerTrace& trace, const std::vector<double>& column) {
  std::vector<training::Phase> phases;
  for (std::size_t i = 0; i < trace.at.size(); ++i) {
    phases.push_back({to_picoseconds(trace.at[i]), column[i]});
  }
  return std::make_shared<const std::vector<training::Phase>>(std::move(phases));
}

class Maker {
 public:
  Maker(const scenario::Scenario& scenario, const topology::Cluster& cluster,
        Diagnostics& diagnostics)
      : scenario_(scenario), cluster_(cluster), diagnostics_(diagnostics) {}

  void add(const Straggler& straggler);
  std::vector<Disturbance> take() { return std::move(result_); }

 private:
  struct Part {
    std::int32_t index = 0;
    std::uint32_t owner = 0;
    bool is_link = false;
  };
  DrawKey key(const Straggler& s, std::uint64_t seed, const Part& part, Draw draw) const {
    const auto number = static_cast<std::uint32_t>(s.number);
    const std::uint32_t kind = 2 * number + (part.is_link ? 1 : 0);
    return {seed, part.owner, first_purpose + kind * draw_count + draw, 0};
  }
  bool is_hit(const Straggler& s, const Part& part) const {
    return !s.drawn || uniform(key(s, s.drawn->seed, part, draw_hit)) < s.drawn->hit;
  }
  double drawn_share(const Straggler& s, const Part& part, double share) const;
  training::Pattern pattern(const Straggler& s, const Part& part,
                            std::vector<double> StragglerTrace::*column) const;
  void add_share(const Straggler& s, const Part& part, Disturbance::Kind kind,
                 const std::optional<double>& share, std::vector<double> StragglerTrace::*column);
  bool is_sensible(const Straggler& s, bool has_devices, bool has_links);
  void fail(const Straggler& s, const std::string& message, const std::string& why,
            const std::string& hint) {
    diagnostics_.error(s.place, message, why, hint);
  }

  const scenario::Scenario& scenario_;
  const topology::Cluster& cluster_;
  Diagnostics& diagnostics_;
  std::vector<Disturbance> result_;
  double changes_per_second_ = 0;
};

double Maker::drawn_share(const Straggler& s, const Part& part, double share) const {
  if (!s.drawn) return share;
  const DrawKey draw = key(s, s.drawn->seed, part, draw_share);
  if (s.drawn->up_to) return share + (*s.drawn->up_to - share) * uniform(draw);
  if (s.drawn->sigma)
    return std::min(1.0, share * std::exp(*s.drawn->sigma * standard_normal(draw)));
  return share;
}

training::Pattern Maker::pattern(const Straggler& s, const Part& part,
                                 std::vector<double> StragglerTrace::*column) const {
  if (const auto* p = std::get_if<Straggler::Periodic>(&s.course)) {
    return training::Periodic{p->every, p->lasts};
  }
  if (const auto* ramp = std::get_if<Straggler::Ramp>(&s.course)) {
    return training::Ramp{ramp->over, ramp->steps, ramp->start};
  }
  if (const auto* random = std::get_if<Straggler::Random>(&s.course)) {
    Part owner = part;
    if (random->is_together) owner = {part.index, owner_together, false};
    return training::OnOff{random->on, random->off, key(s, random->seed, owner, draw_course)};
  }
  if (const auto* trace = std::get_if<StragglerTrace>(&s.course)) {
    return recorded(*trace, trace->*column);
  }
  return training::Steady{};
}

void Maker::add_share(const Straggler& s, const Part& part, Disturbance::Kind kind,
                      const std::optional<double>& share,
                      std::vector<double> StragglerTrace::*column) {
  if (!share) return;
  Disturbance d{kind,   part.index, drawn_share(s, part, *share),
                s.from, s.to,       pattern(s, part, column)};
  changes_per_second_ += phases_per_second(d.pattern);
  result_.push_back(std::move(d));
}

bool Maker::is_sensible(const Straggler& s, bool has_devices, bool has_links) {
  if (!has_devices && !has_links) {
    fail(s,
         s.rank ? fmt::format("no rank {}", *s.rank)
                : fmt::format("no part '{}' in the cluster", s.part),
         fmt::format("the cluster has {} devices", cluster_.device_count()),
         "parts are named like h0.gpu1, h[0..3].nic2, leaf3");
    return false;
  }
  const std::size_t before = diagnostics_.sorted().size();
  if (!has_devices && (s.compute || s.memory || s.host)) {
    const char* what = s.compute ? "compute" : s.memory ? "memory" : "host";
    fail(s, fmt::format("{} of '{}', which has no device", what, s.part), "",
         "write link, or a device or host");
  }
  if (!has_links && s.link) {
    fail(s, fmt::format("link of '{}', which has no link", s.part), "", "");
  }
  const dnn::SoftwareStack& stack = scenario_.stack;
  const bool launches = scenario_.operations.empty() &&
                        (stack.host_per_operator.value() > 0 || stack.host_per_layer.value() > 0);
  if (s.host && !launches) {
    fail(s, "a slow host where launches take no time",
         scenario_.operations.empty() ? fmt::format("the stack {} has no time of hosts", stack.name)
                                      : "operations written by hand are not launched",
         "give the stack host_per_operator");
  }
  return diagnostics_.sorted().size() == before;
}

void Maker::add(const Straggler& s) {
  if (is_storage(scenario_, s)) return;
  std::vector<topology::DeviceIndex> devices;
  std::vector<topology::LinkIndex> links;
  if (s.rank) {
    if (*s.rank >= 0 && *s.rank < cluster_.device_count()) devices.push_back(*s.rank);
  } else {
    devices = cluster_.devices_of_part(s.part);
    links = cluster_.links_of_part(s.part);
  }
  if (!is_sensible(s, !devices.empty(), !links.empty())) return;
  std::optional<double> slower;
  if (s.slowdown) slower = 1 / *s.slowdown;
  for (const topology::DeviceIndex device : devices) {
    const Part part{device, static_cast<std::uint32_t>(device), false};
    if (!is_hit(s, part)) continue;
    using Kind = Disturbance::Kind;
    add_share(s, part, Kind::compute, s.compute, &StragglerTrace::compute);
    add_share(s, part, Kind::memory, s.memory, &StragglerTrace::memory);
    add_share(s, part, Kind::compute, slower, &StragglerTrace::compute);
    add_share(s, part, Kind::memory, slower, &StragglerTrace::memory);
    add_share(s, part, Kind::host, s.host, &StragglerTrace::host);
  }
  if (s.link) {
    const auto owner = owners(cluster_, links);
    for (const topology::LinkIndex link : links) {
      const Part part{link, owner.at(link), true};
      if (is_hit(s, part)) {
        add_share(s, part, Disturbance::Kind::link, s.link, &StragglerTrace::link);
      }
    }
  }
  constexpr double changes_per_second_max = 100'000;
  if (changes_per_second_ <= changes_per_second_max) return;
  fail(s, fmt::format("stragglers that change {:.3g} times a second", changes_per_second_),
       fmt::format("more than {:g} changes a second are not simulated", changes_per_second_max),
       "write longer times, or fewer parts");
}

}  // namespace

std::vector<Disturbance> disturbances(const scenario::Scenario& scenario,
                                      const topology::Cluster& cluster, Diagnostics& diagnostics) {
  Maker maker(scenario, cluster, diagnostics);
  for (const Straggler& straggler : scenario.stragglers) maker.add(straggler);
  return maker.take();
}

}  // namespace sim::command
