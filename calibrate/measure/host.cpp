// The team that measures: rank 0 runs the harness and tells the others what to run, how often.
#include "calibrate/measure/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>

#include "calibrate/measure/host_cases.h"
#include "kernels/host/gemm.h"

namespace calibrate::measure {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of /proc/cpuinfo, first processor.
std::string cpu_field(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(field) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string date() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::vector<profile::Fact> environment(const HostSettings& settings) {
  utsname system{};
  uname(&system);
  double load[1] = {};
  const bool has_load = getloadavg(load, 1) == 1;
  return {
      {"date", date()},
      {"cpu", cpu_name()},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
      {"OpenBLAS core", kernels::host::core_name()},
      {"compiler", __VERSION__},
      {"processes", fmt::format("{} of {} threads, all at once", settings.ranks, settings.threads)},
      {"collectives", "processes over shared memory, algorithms of this program"},
      {"caches", "cold: operands go round 192 MiB"},
      {"load before", has_load ? fmt::format("{:.2f}", load[0]) : "unknown"},
      {"budget", fmt::format("{} min, seed {}", settings.minutes, settings.seed)}};
}

// Runs what rank 0 says until it says -1.
void follow(Team& team, const std::vector<HostCase>& cases) {
  for (;;) {
    const double which = team.share(0);
    if (which < 0) return;
    const auto executions = static_cast<std::size_t>(team.share(0));
    team.barrier();
    for (std::size_t i = 0; i < executions; ++i) cases[static_cast<std::size_t>(which)].run();
  }
}

double run(Team& team, const HostCase& one, std::size_t which, std::size_t executions) {
  team.share(static_cast<double>(which));
  team.share(static_cast<double>(executions));
  team.barrier();
  const double start = now();
  for (std::size_t i = 0; i < executions; ++i) one.run();
  return now() - start;
}

// A product, a stream, a collective.
std::vector<std::size_t> references(const std::vector<HostCase>& cases) {
  std::vector<std::size_t> chosen;
  std::set<std::string> seen;
  for (std::size_t i = cases.size(); i-- > 0;) {
    const profile::MeasuredCase& what = cases[i].what;
    if (seen.insert(what.family == "gemm" ? what.operation : what.family).second) {
      chosen.push_back(i);
    }
  }
  return chosen;
}

}  // namespace

std::string cpu_name() { return cpu_field("model name"); }

std::string slow_kernels() {
  static const std::set<std::string> without_avx{
      "Prescott", "Core2",   "Penryn",    "Dunnington", "Nehalem",      "Atom",
      "Athlon",   "Opteron", "Barcelona", "Bobcat",     "Opteron_SSE3", "generic"};
  const std::string core = kernels::host::core_name();
  if (!without_avx.contains(core) || cpu_field("flags").find(" avx2") == std::string::npos)
    return "";
  return fmt::format(
      "OpenBLAS does not know this CPU ({}) and runs kernels for '{}': slow, and not "
      "what the CPU can do; set OPENBLAS_CORETYPE=Haswell, or Zen",
      cpu_name(), core);
}

HostOutcome measure_host(const HostSettings& settings, const std::function<bool()>& is_stopped,
                         const std::function<void(double done)>& progress) {
  HostOutcome result;
  result.measurement.environment = environment(settings);
  run_team(settings.ranks, [&](Team& team) {
    kernels::host::use_threads(settings.threads);
    Arena arena;
    const std::vector<HostCase> cases = host_cases(team, arena);
    if (team.rank() != 0) return follow(team, cases);
    Settings harness{.budget = 60 * settings.minutes, .seed = settings.seed};
    harness.rounds = settings.samples;
    harness.extra_rounds = std::min(harness.extra_rounds, settings.samples - 1);
    harness.references = references(cases);
    const Machine machine{[&](std::size_t which, std::size_t executions) {
                            return run(team, cases[which], which, executions);
                          },
                          now, is_stopped, progress};
    result.outcome = measure(cases.size(), harness, machine);
    team.share(-1);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (result.outcome.cases[i].seconds.empty()) continue;
      result.measurement.cases.push_back(cases[i].what);
      result.measurement.cases.back().seconds = result.outcome.cases[i].seconds;
    }
  });
  return result;
}

}  // namespace calibrate::measure
