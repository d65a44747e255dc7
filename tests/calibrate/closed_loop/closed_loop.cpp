// Closed loop without a GPU: measures this machine, predicts three small training steps over two
// processes, runs them, and prints both. Nothing is asserted: times depend on what else runs here.
//
// A step is a list of kernels and transfers of each rank. The same list is run by the team, and
// written as the `operations` of a scenario whose durations and curves come from the profile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>

#include "calibrate/measure/host.h"
#include "calibrate/measure/host_cases.h"
#include "calibrate/profile/fit_measured.h"
#include "kernels/host/gemm.h"
#include "kernels/host/pointwise.h"
#include "sim/command/load.h"
#include "sim/command/options.h"
#include "sim/training/simulate.h"

namespace {

using namespace calibrate::measure;
namespace profile = calibrate::profile;
using profile::Layout;

struct Step {
  enum class Kind { gemm, swiglu, adam, all_reduce, send, receive } kind = Kind::gemm;
  Layout layout = Layout::forward;
  int m = 0, n = 0, k = 0;
  std::size_t elements = 0;
};
using Steps = std::vector<Step>;  // of one rank

constexpr int layers = 4, tokens = 512, width = 1024, inner = 2048;

Step product(Layout layout, int m, int n, int k) { return {Step::Kind::gemm, layout, m, n, k, 0}; }
Step pass(Step::Kind kind, int rows, int columns) {
  return {kind, Layout::forward,
          0,    0,
          0,    static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)};
}

// y = swiglu(x W1) W2 with `f` of the inner width.
void forward(Steps& steps, int rows, int f) {
  steps.push_back(product(Layout::forward, rows, 2 * f, width));
  steps.push_back(pass(Step::Kind::swiglu, rows, f));
  steps.push_back(product(Layout::forward, rows, width, f));
}
void backward(Steps& steps, int rows, int f) {
  steps.push_back(product(Layout::input_gradient, rows, f, width));
  steps.push_back(product(Layout::weight_gradient, width, f, rows));
  steps.push_back(pass(Step::Kind::swiglu, rows, f));
  steps.push_back(product(Layout::input_gradient, rows, width, 2 * f));
  steps.push_back(product(Layout::weight_gradient, 2 * f, width, rows));
}

Steps data_parallel(int) {
  Steps steps;
  for (int i = 0; i < layers; ++i) forward(steps, tokens, inner);
  for (int i = 0; i < layers; ++i) {
    backward(steps, tokens, inner);
    steps.push_back(pass(Step::Kind::all_reduce, 3 * inner, width));
  }
  for (int i = 0; i < layers; ++i) steps.push_back(pass(Step::Kind::adam, 3 * inner, width));
  return steps;
}

Steps tensor_parallel(int) {
  Steps steps;
  for (int i = 0; i < layers; ++i) {
    forward(steps, 2 * tokens, inner / 2);
    steps.push_back(pass(Step::Kind::all_reduce, 2 * tokens, width));
  }
  for (int i = 0; i < layers; ++i) {
    backward(steps, 2 * tokens, inner / 2);
    steps.push_back(pass(Step::Kind::all_reduce, 2 * tokens, width));
  }
  return steps;
}

// 1F1B of two stages, half of the layers each; messages of at most a slot.
Steps pipeline(int rank) {
  constexpr int micro_batches = 6, rows = 256;
  static_assert(rows * width <= static_cast<int>(Team::slot_floats));
  Steps steps;
  const auto one_forward = [&] {
    if (rank == 1) steps.push_back(pass(Step::Kind::receive, rows, width));
    for (int i = 0; i < layers / 2; ++i) forward(steps, rows, inner);
    if (rank == 0) steps.push_back(pass(Step::Kind::send, rows, width));
  };
  const auto one_backward = [&] {
    if (rank == 0) steps.push_back(pass(Step::Kind::receive, rows, width));
    for (int i = 0; i < layers / 2; ++i) backward(steps, rows, inner);
    if (rank == 1) steps.push_back(pass(Step::Kind::send, rows, width));
  };
  const int warm_up = 1 - rank;
  for (int i = 0; i < warm_up; ++i) one_forward();
  for (int i = warm_up; i < micro_batches; ++i) {
    one_forward();
    one_backward();
  }
  for (int i = 0; i < warm_up; ++i) one_backward();
  return steps;
}

void run(const Step& step, Team& team, Arena& arena) {
  const auto size = [](int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  const std::size_t n = step.elements;
  const int peer = 1 - team.rank();
  switch (step.kind) {
    case Step::Kind::gemm:
      return kernels::host::gemm(
          {step.layout, step.m, step.n, step.k, step.layout == Layout::weight_gradient,
           arena.take(size(step.m, step.k)), arena.take(size(step.n, step.k)),
           arena.take(size(step.m, step.n))});
    case Step::Kind::swiglu:
      return kernels::host::swiglu({arena.take(n), n}, {arena.take(n), n}, {arena.take(n), n});
    case Step::Kind::adam:
      return kernels::host::adam({}, {arena.take(n), n}, {arena.take(n), n}, {arena.take(n), n},
                                 {arena.take(n), n});
    case Step::Kind::all_reduce:
      return team.all_reduce({arena.take(n), n});
    case Step::Kind::send:
      return team.send(peer, {arena.take(n), n});
    case Step::Kind::receive:
      return team.receive(peer, {arena.take(n), n});
  }
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Median seconds of an iteration.
double run_for_real(Steps (*steps_of)(int)) {
  constexpr int warm_up = 2, iterations = 9;
  std::vector<double> times;
  run_team(2, [&](Team& team) {
    kernels::host::use_threads(1);
    Arena arena;
    const Steps steps = steps_of(team.rank());
    for (int i = 0; i < warm_up + iterations; ++i) {
      team.barrier();
      const double start = now();
      for (const Step& step : steps) run(step, team, arena);
      team.barrier();
      if (i >= warm_up) times.push_back(now() - start);
    }
  });
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double seconds_of(const Step& step, const profile::Profile& host) {
  const auto n = static_cast<double>(step.elements);
  if (step.kind == Step::Kind::gemm) {
    return host.gemm({step.m, step.n, step.k, 1, profile::Precision::fp32, step.layout, false})
        .duration.value();
  }
  const bool is_adam = step.kind == Step::Kind::adam;
  return host.memory({n * (is_adam ? kernels::host::adam_bytes : kernels::host::swiglu_bytes)})
      .duration.value();
}

// Steps in order on each rank; a send holds its rank until the message is there.
std::string operations_of(Steps (*steps_of)(int), const profile::Profile& host) {
  std::string text;
  std::array<Steps, 2> all{steps_of(0), steps_of(1)};
  std::array<std::string, 2> last;
  std::array<std::vector<std::string>, 2> sends;  // of a rank, in order
  std::array<std::size_t, 2> next{}, received{};
  const auto after = [&](std::vector<std::string> names) {
    std::erase(names, "");
    return names.empty() ? std::string() : fmt::format(", after: [{}]", fmt::join(names, ", "));
  };
  const auto is_done = [&](std::size_t rank) { return next[rank] == all[rank].size(); };
  while (!is_done(0) || !is_done(1)) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      while (!is_done(rank)) {
        const Step& step = all[rank][next[rank]];
        const std::size_t peer = 1 - rank;
        const std::string name = fmt::format("r{}s{}", rank, next[rank]);
        const std::string bytes = fmt::format("{} B", 4 * step.elements);
        if (step.kind == Step::Kind::all_reduce) {
          const bool both = !is_done(peer) && all[peer][next[peer]].kind == step.kind;
          if (!both || rank == 1) break;
          text += fmt::format(
              "  - {{name: {}, collective: all-reduce, bytes: {}, devices: "
              "[h0.gpu0, h0.gpu1]{}}}\n",
              name, bytes, after({last[0], last[1]}));
          last = {name, name};
          ++next[1];
        } else if (step.kind == Step::Kind::receive) {
          if (received[rank] == sends[peer].size()) break;
          const std::string message = sends[peer][received[rank]++];
          text += fmt::format("  - {{name: {}, compute: 0 s, on: h0.gpu{}{}}}\n", name, rank,
                              after({last[rank], message}));
          last[rank] = name;
        } else if (step.kind == Step::Kind::send) {
          text += fmt::format("  - {{name: {}, transfer: {}, from: h0.gpu{}, to: h0.gpu{}{}}}\n",
                              name, bytes, rank, peer, after({last[rank]}));
          sends[rank].push_back(name);
          last[rank] = name;
        } else {
          text += fmt::format("  - {{name: {}, compute: {:.4f} us, on: h0.gpu{}{}}}\n", name,
                              1e6 * seconds_of(step, host), rank, after({last[rank]}));
          last[rank] = name;
        }
        ++next[rank];
      }
    }
  }
  return text;
}

std::optional<double> predict(Steps (*steps_of)(int), const profile::Profile& host,
                              const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "step.yaml";
  std::ofstream(file) << "maquette: 1\nname: closed loop\ncluster:\n  hosts: [{name: h, count: 1, "
                         "type: ./host.yaml}]\noperations:\n"
                      << operations_of(steps_of, host);
  sim::Diagnostics diagnostics;
  const auto read = sim::scenario::read_scenario(file, {}, sim::command::catalog(), diagnostics);
  if (read) {
    if (auto loaded = sim::command::load(*read, diagnostics)) {
      const auto outcome = sim::training::simulate(loaded->job);
      if (const auto* result = std::get_if<sim::training::Result>(&outcome)) {
        return static_cast<double>(result->iteration_ps()) * 1e-12;
      }
    }
  }
  fmt::print(stderr, "{}", diagnostics.text());
  return std::nullopt;
}

}  // namespace

// closed_loop PROFILE: of 'maquette calibrate --host --processes 2', with its host beside it.
int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path file = arguments[1];
  profile::ProfileData data = profile::read_profile_data(file);
  profile::DeviceType device;
  device.name = data.device;
  const auto host = profile::profile_of(std::move(data), device);
  fmt::print("{:<28}{:>14}{:>14}{:>12}\n", "two processes", "predicted [ms]", "measured [ms]",
             "error [%]");
  std::vector<double> errors;
  for (const auto& [name, steps_of] :
       {std::pair{"data parallel", &data_parallel}, std::pair{"tensor parallel", &tensor_parallel},
        std::pair{"pipeline, 1F1B", &pipeline}}) {
    const auto predicted = predict(steps_of, *host, file.parent_path());
    if (!predicted) return 1;
    const double measured = run_for_real(steps_of);
    errors.push_back(std::abs(*predicted / measured - 1));
    fmt::print("{:<28}{:>14.2f}{:>14.2f}{:>+12.1f}\n", name, 1e3 * *predicted, 1e3 * measured,
               100 * (*predicted / measured - 1));
  }
  std::sort(errors.begin(), errors.end());
  fmt::print("median error {:.1f} %, target 10 %\n", 100 * errors[1]);
}
