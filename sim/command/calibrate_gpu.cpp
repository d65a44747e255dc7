// Profiles of GPUs: samples of maquette-cuda, fitted here.
#include "sim/command/calibrate_gpu.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "calibrate/profile/fit_measured.h"
#include "calibrate/profile/names.h"
#include "sim/command/fit_table.h"
#include "sim/command/options.h"
#include "sim/scenario/sample_table.h"

namespace sim::command {

namespace fitted = calibrate::profile;

namespace {

// A program of its own, since it is built where nvcc is and carried to where GPUs are.
int run_helper(const std::vector<std::string>& arguments) {
#ifdef MAQUETTE_CUDA
  std::vector<std::string> all{MAQUETTE_CUDA};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& one : all) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  // An interrupt ends the measuring; what was measured is fitted.
  std::signal(SIGINT, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    execv(pointers.front(), pointers.data());
    fmt::print(stderr, "error: cannot run {}: {}\n  hint: build it with 'ninja -C build'\n",
               all.front(), std::strerror(errno));
    _exit(exit_wrong_input);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || WIFSIGNALED(status)) {
    fmt::print(stderr, "error: {}\n",
               child < 0 ? "cannot start a process"
                         : fmt::format("{} was ended by signal {}", all.front(), WTERMSIG(status)));
    return exit_wrong_input;
  }
  return WEXITSTATUS(status);
#else
  static_cast<void>(arguments);
  fmt::print(stderr,
             "error: no GPU can be measured here: this program was built without nvcc\n"
             "  why:  kernels of NVIDIA GPUs are compiled by CUDA 13 or later\n"
             "  hint: install it, then 'meson setup --reconfigure build' and build; or maquette "
             "calibrate --host --minutes 2 -o my-host.h5\n");
  return exit_wrong_input;
#endif
}

std::string fact(const fitted::Measurement& measurement, const std::string& name) {
  for (const fitted::Fact& one : measurement.environment) {
    if (one.name == name) return one.value;
  }
  return "";
}

double number_fact(const fitted::Measurement& measurement, const std::string& name) {
  const std::string text = fact(measurement, name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || !(value > 0)) {
    throw fitted::ProfileError{fmt::format("the samples do not say '{}'", name),
                               "a profile needs to know its device",
                               "give a table of maquette-cuda, or put samples of other programs "
                               "into a known device: maquette profile import --into DEVICE"};
  }
  return value;
}

// [byte/s] of the largest message between two devices; 0: not measured.
double port_of(const fitted::Measurement& measurement) {
  double rate = 0;
  for (const fitted::MeasuredCase& one : measurement.cases) {
    if (one.operation != "send_receive" || one.shape.at(0) != 2) continue;
    const double least = *std::min_element(one.seconds.begin(), one.seconds.end());
    rate = std::max(rate, one.shape.at(1) / least);
  }
  return rate;
}

std::string host_yaml(const GpuRequest& request, const fitted::ProfileData& data) {
  const fitted::Measurement& measured = data.measurement;
  const std::string name = request.output.stem().string();
  std::string peaks;
  for (const fitted::GemmModel& model : data.gemm) {
    peaks += fmt::format("{}{}: {:.4f} GFLOP/s", peaks.empty() ? "" : ", ",
                         fitted::name(model.precision), model.hardware.peak * 1e-9);
  }
  std::string text = fmt::format(
      "# A host measured by maquette calibrate: peaks are the best rates that were seen.\n"
      "name: {}\nfull_name: host of {}\ndevice:\n  name: {}\n  full_name: {}\n"
      "  peak: {{{}}}\n  memory: {:.0f} B\n  memory_rate: {:.4f} GB/s\n  multiprocessors: {:.0f}\n"
      "  profile: {}\ndevices: {:.0f}\n",
      name, fact(measured, "device"), name, fact(measured, "device"), peaks,
      number_fact(measured, "memory"), data.gemm.front().hardware.memory_rate * 1e-9,
      number_fact(measured, "multiprocessors"), request.output.filename().string(),
      number_fact(measured, "devices"));
  if (const double port = port_of(measured); port > 0) {
    text += fmt::format(
        "# The latency of a hop is assumed; collectives inside the host are measured curves.\n"
        "scale_up: {{kind: crossbar, per_device: {:.4f} GB/s, latency: 0.5 us}}\n",
        port * 1e-9);
  }
  return text;
}

fitted::MeasuredDevice device_of(const GpuRequest& request,
                                 const fitted::Measurement& measurement) {
  fitted::MeasuredDevice device;
  device.name = request.output.stem().string();
  device.multiprocessors = number_fact(measurement, "multiprocessors");
  device.measured = fmt::format("{}, {}; caches {}; {}; cuBLASLt {}", fact(measurement, "device"),
                                fact(measurement, "power limit"), fact(measurement, "caches"),
                                fact(measurement, "driver"), fact(measurement, "cuBLASLt"));
  device.load = "short batches, one device at a time";
  device.port = port_of(measurement);
  return device;
}

std::optional<fitted::Measurement> samples_of(const std::filesystem::path& file) {
  Diagnostics diagnostics;
  auto measurement = scenario::read_sample_table(file, diagnostics);
  if (report(diagnostics, {})) return std::nullopt;
  return measurement;
}

}  // namespace

int calibrate_gpu(const GpuRequest& request) {
  std::filesystem::path samples = request.from;
  if (request.from.empty()) {
    samples = request.output;
    samples.replace_extension(".samples.csv");
    std::vector<std::string> arguments{"measure",
                                       "--out",
                                       samples.string(),
                                       "--minutes",
                                       fmt::format("{}", request.minutes),
                                       "--samples",
                                       fmt::format("{}", request.samples),
                                       "--seed",
                                       fmt::format("{}", request.seed)};
    if (request.is_warm) arguments.emplace_back("--warm");
    if (request.is_quiet) arguments.emplace_back("--quiet");
    if (const int status = run_helper(arguments); status != 0) return status;
  }
  auto measurement = samples_of(samples);
  if (!measurement) return exit_wrong_input;
  const fitted::MeasuredDevice device = device_of(request, *measurement);
  const fitted::ProfileData data = fitted::fit_measured(device, std::move(*measurement));
  const std::string yaml = host_yaml(request, data);
  fitted::write_profile(request.output, data);
  std::filesystem::path host = request.output;
  host.replace_extension(".yaml");
  std::ofstream(host) << yaml;
  print_fit_errors(data);
  fmt::print("\nfitted {} shapes\nwrote {}\nwrote {}: name it as the type of a host\n",
             data.measurement.cases.size(), request.output.string(), host.string());
  return exit_fine;
}

}  // namespace sim::command
