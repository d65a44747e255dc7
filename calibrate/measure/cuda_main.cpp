// maquette-cuda: measures the GPUs of this machine, or checks every kernel on one of them.
//
//   maquette-cuda measure --out FILE [--minutes N] [--samples N] [--seed N] [--warm] [--quiet]
//   maquette-cuda check
//
// Ends with 0; 1: no GPU, a library is missing or a kernel is wrong; 2: the command line; 77: check
// found no GPU, which test runners take for "skipped". A program of its own that needs nothing but
// the C library to start, so that it can be carried to a machine with a GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/cuda_collectives.h"
#include "calibrate/measure/cuda_run.h"
#include "kernels/cuda/correctness.h"
#include "kernels/cuda/device.h"

namespace {

using calibrate::measure::CudaSettings;
using kernels::cuda::DeviceError;

constexpr int fine = 0, wrong = 1, wrong_command_line = 2, skipped = 77;

volatile std::sig_atomic_t is_interrupted = 0;
void interrupt(int) { is_interrupted = 1; }

void print(const DeviceError& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  if (!error.why.empty()) fmt::print(stderr, "  why:  {}\n", error.why);
  if (!error.hint.empty()) fmt::print(stderr, "  hint: {}\n", error.hint);
}

int refuse(const std::string& what) {
  fmt::print(stderr,
             "error: {}\n  hint: maquette-cuda measure --out samples.csv --minutes 5, or "
             "maquette-cuda check\n",
             what);
  return wrong_command_line;
}

template <class Number>
std::optional<Number> number_of(const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= least && value <= most)) return std::nullopt;
  return value;
}

struct Request {
  CudaSettings settings;
  bool is_quiet = false;
  std::string complaint;  // not empty: what is wrong
};

template <class Number>
void take(Request& request, const std::string& option, const std::string& text, Number least,
          Number most, Number& value) {
  const auto number = number_of(text, least, most);
  if (number) {
    value = *number;
  } else {
    request.complaint = fmt::format("{} '{}': a number from {} to {}", option, text, least, most);
  }
}

Request request_of(const std::vector<std::string>& arguments) {
  Request request;
  for (std::size_t i = 0; i < arguments.size() && request.complaint.empty(); ++i) {
    const std::string& option = arguments[i];
    if (option == "--quiet") {
      request.is_quiet = true;
    } else if (option == "--warm") {
      request.settings.is_warm = true;
    } else if (option != "--out" && option != "--minutes" && option != "--samples" &&
               option != "--seed") {
      request.complaint = fmt::format("unknown option '{}'", option);
    } else if (i + 1 == arguments.size()) {
      request.complaint = option + " has no value";
    } else if (const std::string& value = arguments[++i]; option == "--out") {
      request.settings.output = value;
    } else if (option == "--minutes") {
      take(request, option, value, 1e-3, 1440.0, request.settings.minutes);
    } else if (option == "--samples") {
      take(request, option, value, 1, 1000, request.settings.samples);
    } else {
      take(request, option, value, std::uint64_t{0}, UINT64_MAX, request.settings.seed);
    }
  }
  if (request.complaint.empty() && request.settings.output.empty()) {
    request.complaint = "--out says where the samples go";
  }
  return request;
}

int measure(const std::vector<std::string>& arguments) {
  const Request request = request_of(arguments);
  if (!request.complaint.empty()) return refuse(request.complaint);
  std::signal(SIGINT, interrupt);
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  std::string shown;
  const calibrate::measure::CudaProgress told{
      [] { return is_interrupted != 0; },
      [&](const std::string& phase, double done) {
        // On a terminal the line is rewritten; elsewhere there is one a phase and tenth.
        const auto text = is_terminal ? fmt::format("{} {:3.0f} %", phase, 100 * done)
                                      : fmt::format("{} {:.0f}0 %", phase, 10 * done);
        if (request.is_quiet || text == shown) return;
        shown = text;
        fmt::print(stderr, "{}measuring {}{}", is_terminal ? "\r" : "", text,
                   is_terminal ? "        " : "\n");
      },
      [&](const std::string& text) {
        if (!request.is_quiet) fmt::print(stderr, "{}warning: {}\n", is_terminal ? "\n" : "", text);
      }};
  const bool is_whole = calibrate::measure::measure_cuda(request.settings, told);
  if (!request.is_quiet) {
    fmt::print(stderr, "{}{}the samples are in {}\n", is_terminal ? "\n" : "",
               is_whole ? "" : "interrupted: ", request.settings.output.string());
  }
  return fine;
}

int check() {
  try {
    kernels::cuda::device_count();
  } catch (const DeviceError& error) {
    print(error);
    fmt::print("skipped: no kernel was checked\n");
    return skipped;
  }
  kernels::cuda::use_device(0);
  int failed = 0;
  const auto told = [&](const kernels::cuda::Verdict& one) {
    failed += one.is_fine() ? 0 : 1;
    fmt::print("{:<6} {:<48} {}\n", one.is_fine() ? "ok" : "WRONG", one.kernel,
               one.complaint.empty() ? fmt::format("{:.3f} of what rounding allows", one.error)
                                     : one.complaint);
  };
  const auto verdicts = kernels::cuda::check_kernels(told);
  if (const int devices = kernels::cuda::device_count(); devices > 1) {
    const int bad = calibrate::measure::NcclCollectives(devices).wrong_ranks();
    failed += bad > 0 ? 1 : 0;
    fmt::print("{:<6} all_reduce over {} devices\n", bad > 0 ? "WRONG" : "ok", devices);
  }
  fmt::print("{} kernels checked, {} wrong\n", verdicts.size(), failed);
  return failed == 0 ? fine : wrong;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  try {
    if (arguments.empty()) return refuse("nothing to do");
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    if (arguments.front() == "measure") return measure(rest);
    if (arguments.front() == "check" && rest.empty()) return check();
    return refuse(fmt::format("unknown command '{}'", arguments.front()));
  } catch (const DeviceError& error) {
    print(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return wrong;
}
