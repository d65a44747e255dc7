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
#include "sim/command/calibrate_gpu.h"
#include "sim/command/fit_table.h"
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
                                const fitted::Measurement& measurement) {
  try {
    return fitted::fit_measured(device, measurement);
  } catch (const fitted::ProfileError&) {
    std::filesystem::path samples = request.output;
    keep_samples(samples.replace_extension(".samples.csv"), measurement);
    throw;
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
  const fitted::ProfileData data = fit_or_keep(request, device, measured.measurement);
  fitted::write_profile(request.output, data);
  std::filesystem::path host = request.output;
  host.replace_extension(".yaml");
  std::ofstream(host) << host_yaml(request, data, processes);
  print_fit_errors(data);
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

po::options_description options_of_calibrate() {
  po::options_description options("options");
  options.add_options()("host", po::bool_switch(),
                        "measure this machine's CPU instead of its GPUs");
  options.add_options()("minutes", po::value<double>(),
                        "budget of measuring, 5 (CPU: 2) if not given; fits come on top, and "
                        "collectives where there are several GPUs");
  options.add_options()("out,o", po::value<std::string>(),
                        "profile to write, my-gpu.h5 or my-host.h5 if not given; a host of that "
                        "name is written beside it");
  options.add_options()("from", po::value<std::string>(),
                        "fit this table of samples, which maquette-cuda measured elsewhere");
  options.add_options()("warm", po::bool_switch(), "GPUs: operands stay in the second-level cache");
  options.add_options()("processes", po::value<int>()->default_value(0),
                        "CPU: processes that measure at once; 0: cores over threads");
  options.add_options()("threads", po::value<int>()->default_value(1), "CPU: threads of a process");
  options.add_options()("samples", po::value<int>()->default_value(5),
                        "batches of each shape; noisy ones get up to 3 more");
  options.add_options()("seed", po::value<std::uint64_t>()->default_value(1), "order of measuring");
  options.add_options()("quiet", po::bool_switch(), "print no progress and no warnings");
  return options;
}

void check(const Request& request) {
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
}

// What the other backend alone takes is no use: nothing is ignored.
void check_backend(const po::variables_map& values) {
  const bool is_host = values["host"].as<bool>();
  for (const char* option : {"from", "warm"}) {
    const bool is_given = values.count(option) > 0 && !values[option].defaulted();
    if (is_host && is_given) {
      throw UsageError{fmt::format("--{} has no meaning with --host", option), "leave one out"};
    }
  }
  for (const char* option : {"processes", "threads"}) {
    if (!is_host && !values[option].defaulted()) {
      throw UsageError{fmt::format("--{} is for the CPU", option), "add --host"};
    }
  }
}

GpuRequest gpu_request(const Request& request, const po::variables_map& values) {
  GpuRequest gpu;
  gpu.minutes = request.minutes;
  gpu.samples = request.samples;
  gpu.seed = request.seed;
  gpu.is_warm = values["warm"].as<bool>();
  gpu.is_quiet = request.is_quiet;
  gpu.output = request.output;
  if (values.count("from")) gpu.from = values["from"].as<std::string>();
  return gpu;
}

}  // namespace

int calibrate_here(const std::vector<std::string>& arguments) {
  const auto values = parse(
      {"maquette calibrate [--host] [--minutes N] [-o FILE]",
       "Measures matrix products, operators bound by memory and collectives on the GPUs of this "
       "machine, or on its CPU; fits timing models and writes a profile with the raw samples. An "
       "interrupt keeps what was measured.",
       "maquette calibrate --host --minutes 2 -o my-host.h5", "nothing", 0, 0},
      options_of_calibrate(), arguments);
  if (!values) return exit_fine;
  check_backend(*values);
  const bool is_host = (*values)["host"].as<bool>();
  Request request;
  request.minutes = values->count("minutes") ? (*values)["minutes"].as<double>() : is_host ? 2 : 5;
  request.processes = (*values)["processes"].as<int>();
  request.threads = (*values)["threads"].as<int>();
  request.samples = (*values)["samples"].as<int>();
  request.seed = (*values)["seed"].as<std::uint64_t>();
  request.output = values->count("out") ? (*values)["out"].as<std::string>()
                   : is_host            ? "my-host.h5"
                                        : "my-gpu.h5";
  request.is_quiet = (*values)["quiet"].as<bool>();
  check(request);
  try {
    return is_host ? calibrate_host(request) : calibrate_gpu(gpu_request(request, *values));
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
