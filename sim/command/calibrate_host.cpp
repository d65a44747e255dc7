// maquette calibrate: measures this machine, fits, writes a profile and a host that names it.
#include "sim/command/calibrate_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "calibrate/profile/fit_measured.h"
#include "sim/base/units.h"
#include "sim/command/options.h"
#ifdef MAQUETTE_HAS_OPENBLAS
#include "calibrate/measure/host.h"
#include "calibrate/measure/team.h"
#endif

namespace sim::command {

namespace po = boost::program_options;
namespace fitted = calibrate::profile;

namespace {

struct Request {
  double minutes = 2;
  int processes = 0, threads = 1, samples = 5;
  std::uint64_t seed = 1;
  std::filesystem::path output;
  bool is_quiet = false;
};

#ifdef MAQUETTE_HAS_OPENBLAS

namespace measuring = calibrate::measure;

volatile std::sig_atomic_t is_interrupted = 0;
void interrupt(int) { is_interrupted = 1; }

// On a terminal the line is rewritten; elsewhere there is one every ten seconds.
class Progress {
 public:
  explicit Progress(const Request& request)
      : is_quiet_(request.is_quiet), is_terminal_(isatty(STDERR_FILENO) == 1) {}
  void operator()(double done) {
    const double every = is_terminal_ ? 0.5 : 10, elapsed = since_start();
    if (is_quiet_ || elapsed - shown_at_ < every) return;
    shown_at_ = elapsed;
    const double left = done > 0.02 ? elapsed * (1 - done) / done : 0;
    fmt::print(stderr, "{}measuring {:3.0f} %, {:.0f} s left{}", is_terminal_ ? "\r" : "",
               100 * done, left, is_terminal_ ? "   " : "\n");
  }
  void end() const {
    if (!is_quiet_ && is_terminal_) fmt::print(stderr, "\n");
  }
  double since_start() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool is_quiet_, is_terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double shown_at_ = 0;
};

void warn(const Request& request, const std::string& text) {
  if (!request.is_quiet) fmt::print(stderr, "warning: {}\n", text);
}

// What the samples say about themselves; kept in the file, shown where it is bad.
void judge(const Request& request, const measuring::Outcome& outcome,
           fitted::Measurement& measurement) {
  const auto note = [&](const char* name, std::string value) {
    measurement.environment.push_back({name, std::move(value)});
  };
  note("repeatability",
       fmt::format("{:.1f} % from first to second sample, median", 100 * outcome.repeatability));
  note("drift", fmt::format("{:+.1f} % over the run, {:+.2f} % a minute", 100 * outcome.drift,
                            100 * outcome.drift_per_minute));
  note("noisy shapes",
       fmt::format("{} of {} spread by more than 2 %", outcome.noisy_cases, outcome.cases.size()));
  note("ended", outcome.was_stopped   ? "interrupted"
                : outcome.is_complete ? "every shape has its samples"
                                      : "by its budget");
  if (outcome.repeatability > 0.03) {
    warn(request, fmt::format("samples repeat within {:.1f} % only (3 % is the gate): other work "
                              "runs on this machine, or its clock varies",
                              100 * outcome.repeatability));
  }
  if (std::abs(outcome.drift) > 0.05) {
    warn(request, fmt::format("times drifted by {:+.1f} % while measuring", 100 * outcome.drift));
  }
  if (outcome.was_stopped) warn(request, "interrupted: what was measured is kept");
  if (!outcome.was_stopped && !outcome.is_complete) {
    warn(request, "the budget ended before every shape had its samples: give more minutes");
  }
}

// Time of the largest and of the smallest message between two processes.
struct Link {
  double rate = 0, latency = 0;  // [byte/s], [s]
};
Link link_of(const fitted::Measurement& measurement) {
  Link link;
  double least = INFINITY, most = 0;
  for (const fitted::MeasuredCase& one : measurement.cases) {
    if (one.operation != "send_receive") continue;
    std::vector<double> sorted = one.seconds;
    std::sort(sorted.begin(), sorted.end());
    const double seconds = sorted[sorted.size() / 2], bytes = one.shape.at(1);
    if (bytes < least) {
      least = bytes;
      link.latency = seconds;
    }
    if (bytes > most) {
      most = bytes;
      link.rate = bytes / seconds;
    }
  }
  return link;
}

std::string host_yaml(const Request& request, const fitted::ProfileData& data, int processes) {
  const std::string name = request.output.stem().string();
  const fitted::GemmHardware& hardware = data.gemm.front().hardware;
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGE_SIZE)) / processes;
  std::string text = fmt::format(
      "# A host measured by maquette calibrate: a device is one of {} processes.\n"
      "name: {}\nfull_name: {}\n"
      "device:\n  name: {}\n  full_name: a process of {} threads\n"
      "  peak: {{fp32: {:.4f} GFLOP/s}}\n  memory: {:.0f} B\n  memory_rate: {:.4f} GB/s\n"
      "  multiprocessors: {}\n  profile: {}\ndevices: {}\n",
      processes, name, measuring::cpu_name(), name, request.threads, hardware.peak * 1e-9, memory,
      hardware.memory_rate * 1e-9, request.threads, request.output.filename().string(), processes);
  if (processes > 1) {
    // Two hops: into the switch and out of it.
    const Link link = link_of(data.measurement);
    if (link.rate > 0) {
      text +=
          fmt::format("scale_up: {{kind: crossbar, per_device: {:.4f} GB/s, latency: {:.4f} us}}\n",
                      link.rate * 1e-9, link.latency / 2 * 1e6);
    }
  }
  return text;
}

// What was measured too briefly to be fitted is not lost.
void keep_samples(const std::filesystem::path& file, const fitted::Measurement& measurement) {
  std::ofstream out(file);
  out << "op,shape,time [s]\n";
  for (const fitted::MeasuredCase& one : measurement.cases) {
    const bool is_collective = one.family == "collective";
    const std::string op =
        is_collective ? one.operation : fmt::format("{} {}", one.family, one.operation);
    const std::string shape =
        fmt::format("{}{}", fmt::join(one.shape, " x "), one.family == "gemm" ? "" : " B");
    for (const double seconds : one.seconds) out << fmt::format("{},{},{}\n", op, shape, seconds);
  }
  fmt::print(stderr, "the samples are kept in {}\n", file.string());
}

fitted::ProfileData fit_or_keep(const Request& request, const fitted::MeasuredDevice& device,
                                fitted::Measurement measurement) {
  try {
    return fitted::fit_measured(device, measurement);
  } catch (const fitted::ProfileError&) {
    std::filesystem::path samples = request.output;
    keep_samples(samples.replace_extension(".samples.csv"), measurement);
    throw;
  }
}

void print_errors(const fitted::ProfileData& data) {
  fmt::print("{:<36}{:>8}{:>10}{:>9}{:>10}\n", "fit, on samples held out", "samples", "mean [%]",
             "p90 [%]", "bias [%]");
  for (const fitted::FitReport& report : data.reports) {
    fmt::print("{:<36}{:>8}{:>10.1f}{:>9.1f}{:>+10.1f}\n", report.family, report.held_out,
               100 * report.mape, 100 * report.p90, 100 * report.bias);
  }
}

int calibrate_host(const Request& request) {
  std::signal(SIGINT, interrupt);
  const std::string slow = measuring::slow_kernels();
  if (!slow.empty()) warn(request, slow);
  const long cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  const int processes = request.processes > 0
                            ? request.processes
                            : static_cast<int>(std::clamp(cores / request.threads, 1L,
                                                          long{measuring::Team::ranks_most}));
  Progress progress(request);
  auto measured = measuring::measure_host(
      {request.minutes, processes, request.threads, request.samples, request.seed},
      [] { return is_interrupted != 0; }, [&](double done) { progress(done); });
  progress.end();
  judge(request, measured.outcome, measured.measurement);
  fitted::MeasuredDevice device;
  device.name = request.output.stem().string();
  device.multiprocessors = request.threads;
  device.level_error =
      std::max({0.02, std::abs(measured.outcome.drift) / 2, measured.outcome.repeatability});
  device.measured = fmt::format(
      "{} processes of {} threads on {}, all at once; caches cold; fp32 by OpenBLAS ({})",
      processes, request.threads, measuring::cpu_name(), [&] {
        for (const fitted::Fact& fact : measured.measurement.environment) {
          if (fact.name == "OpenBLAS core") return fact.value;
        }
        return std::string("unknown");
      }());
  const double measured_for = progress.since_start();
  const fitted::ProfileData data = fit_or_keep(request, device, std::move(measured.measurement));
  fitted::write_profile(request.output, data);
  std::filesystem::path host = request.output;
  host.replace_extension(".yaml");
  std::ofstream(host) << host_yaml(request, data, processes);
  print_errors(data);
  fmt::print(
      "\nmeasured {} shapes in {:.0f} s, fitted in {:.0f} s\nwrote {}\nwrote {}: name it as "
      "the type of a host\n",
      data.measurement.cases.size(), measured_for, progress.since_start() - measured_for,
      request.output.string(), host.string());
  return exit_fine;
}

#else

int calibrate_host(const Request&) {
  fmt::print(stderr,
             "error: this program was built without OpenBLAS, which the products of a CPU need\n"
             "  hint: install libopenblas-dev, then 'meson setup --reconfigure build' and build\n");
  return exit_wrong_input;
}

#endif

int no_gpu() {
  const bool has_driver = std::filesystem::exists("/proc/driver/nvidia/version");
  fmt::print(stderr,
             "error: no GPU can be measured here: {}\n"
             "  why:  this version times the CPU and processes on it; kernels of GPUs come in by "
             "'maquette profile import'\n"
             "  hint: maquette calibrate --host --minutes 2 -o my-host.h5\n",
             has_driver ? "there is an NVIDIA driver, but this program has no kernels for it"
                        : "no NVIDIA driver is loaded (/proc/driver/nvidia/version)");
  return exit_wrong_input;
}

}  // namespace

int calibrate_here(const std::vector<std::string>& arguments) {
  po::options_description options("options");
  options.add_options()("host", po::bool_switch(), "measure this machine's CPU");
  options.add_options()("minutes", po::value<double>()->default_value(2),
                        "budget of measuring; fits come on top");
  options.add_options()("out,o", po::value<std::string>()->default_value("my-host.h5"),
                        "profile to write; a host of that name is written beside it");
  options.add_options()("processes", po::value<int>()->default_value(0),
                        "processes that measure at once; 0: cores over threads");
  options.add_options()("threads", po::value<int>()->default_value(1), "threads of a process");
  options.add_options()("samples", po::value<int>()->default_value(5),
                        "batches of each shape; noisy ones get up to 3 more");
  options.add_options()("seed", po::value<std::uint64_t>()->default_value(1), "order of measuring");
  options.add_options()("quiet", po::bool_switch(), "print no progress and no warnings");
  const auto values =
      parse({"maquette calibrate --host [--minutes N] [-o FILE]",
             "Measures matrix products, operators bound by memory and collectives of processes on "
             "this machine, fits timing models and writes a profile with the raw samples. An "
             "interrupt keeps what was measured.",
             "maquette calibrate --host --minutes 2 -o my-host.h5", "nothing", 0, 0},
            options, arguments);
  if (!values) return exit_fine;
  Request request;
  request.minutes = (*values)["minutes"].as<double>();
  request.processes = (*values)["processes"].as<int>();
  request.threads = (*values)["threads"].as<int>();
  request.samples = (*values)["samples"].as<int>();
  request.seed = (*values)["seed"].as<std::uint64_t>();
  request.output = (*values)["out"].as<std::string>();
  request.is_quiet = (*values)["quiet"].as<bool>();
  if (!(request.minutes > 0 && request.minutes <= 24 * 60.0)) {
    throw UsageError{fmt::format("--minutes {}", request.minutes), "between 0 and 1440"};
  }
  if (request.processes < 0 || request.processes > 64 || request.threads < 1 ||
      request.threads > 1024 || request.samples < 1 || request.samples > 1000) {
    throw UsageError{"--processes, --threads or --samples out of range",
                     "at most 64, 1024 and 1000"};
  }
  if (request.output.extension() != ".h5") {
    throw UsageError{fmt::format("--out '{}' is no name of a profile", request.output.string()),
                     "it ends in .h5"};
  }
  if (!(*values)["host"].as<bool>()) return no_gpu();
  try {
    return calibrate_host(request);
  } catch (const fitted::ProfileError& error) {
    fmt::print(stderr, "error: {}\n  why:  {}\n  hint: {}\n", error.message, error.why, error.hint);
#ifdef MAQUETTE_HAS_OPENBLAS
  } catch (const measuring::TeamError& error) {
    fmt::print(stderr, "error: {}\n", error.message);
#endif
  }
  return exit_wrong_input;
}

}  // namespace sim::command
