// Measuring GPUs with the harness: graphs for what is short, clocks of every batch, budget.
#include "calibrate/measure/cuda_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "calibrate/measure/cuda_cases.h"
#include "calibrate/measure/cuda_collectives.h"
#include "calibrate/measure/sample_writer.h"
#include "calibrate/profile/names.h"
#include "kernels/cuda/nvml.h"

namespace calibrate::measure {
namespace {

namespace cuda = kernels::cuda;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string date() {
  const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// Clocks, power and temperature after each batch, for those who doubt a sample.
class ClockLog {
 public:
  ClockLog(const std::filesystem::path& file, const std::string& bus, const CudaProgress& told)
      : out_(file) {
    out_ << "at [s],op,shape,executions,time [us],clock [MHz],power [W],temperature [C],"
            "slowed by\n";
    try {
      nvml_ = std::make_unique<cuda::Nvml>(bus);
    } catch (const cuda::DeviceError& error) {
      told.warn("clocks and power are not logged: " + error.message);
    }
  }
  void add(const profile::MeasuredCase& what, std::size_t executions, double seconds) {
    if (!nvml_) return;
    const cuda::GpuState state = nvml_->state();
    out_ << fmt::format("{:.3f},{},{},{},{:.4f},{:.0f},{:.0f},{:.0f},{}\n", now() - start_,
                        op_text(what), shape_text(what), executions, 1e6 * seconds, state.clock,
                        state.power, state.temperature, state.slowed_by)
         << std::flush;
    if (!state.slowed_by.empty()) ++slowed_[state.slowed_by];
    ++batches_;
  }
  std::string summary() const {
    if (!nvml_) return "not logged";
    std::vector<std::string> parts{fmt::format("{} batches", batches_)};
    for (const auto& [why, count] : slowed_) parts.push_back(fmt::format("{} by {}", count, why));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  std::string power_limit() const {
    return nvml_ ? fmt::format("{:.0f} W", nvml_->power_limit()) : "unknown";
  }

 private:
  std::ofstream out_;
  std::unique_ptr<cuda::Nvml> nvml_;
  double start_ = now();
  std::map<std::string, std::size_t> slowed_;
  std::size_t batches_ = 0;
};

// Runs cases so often, short ones as a graph of several executions.
class Runner {
 public:
  Runner(std::vector<CudaCase> cases, std::size_t l2, ClockLog& log)
      : cases_(std::move(cases)), graphs_(cases_.size()), l2_(l2), log_(log) {}

  const std::vector<CudaCase>& cases() const { return cases_; }

  // Seconds of so many executions.
  double run(std::size_t which, std::size_t executions) {
    const CudaCase& one = cases_[which];
    const std::size_t together = one.can_be_recorded && executions > 1 ? recorded(one) : 1;
    const std::size_t replays = (executions + together - 1) / together;
    if (together > 1 && !graphs_[which]) {
      graphs_[which].emplace(stream_, [&] {
        for (std::size_t i = 0; i < together; ++i) one.launch(stream_.get());
      });
    }
    const double seconds = cuda::timed(stream_, [&] {
      for (std::size_t i = 0; i < replays; ++i) {
        if (together > 1) {
          graphs_[which]->launch(stream_);
        } else {
          one.launch(stream_.get());
        }
      }
    });
    const double each = seconds / static_cast<double>(replays * together);
    log_.add(one.what, replays * together, each);
    return each * static_cast<double>(executions);
  }

 private:
  // Enough for operands to go round twice the cache; one for what takes long by itself.
  std::size_t recorded(const CudaCase& one) const {
    constexpr double most = 512, long_bytes = 1e9;
    if (one.bytes > long_bytes) return 1;
    const double rounds = 2 * static_cast<double>(l2_) / std::max(one.bytes, 1.0);
    return static_cast<std::size_t>(std::clamp(std::ceil(rounds), 16.0, most));
  }

  std::vector<CudaCase> cases_;
  std::vector<std::optional<cuda::Graph>> graphs_;
  std::size_t l2_;
  ClockLog& log_;
  cuda::Stream stream_;
};

// The last case of each operation of a family: what drift is seen by.
std::vector<std::size_t> references(const std::vector<CudaCase>& cases) {
  constexpr std::size_t most = 5;
  std::vector<std::size_t> chosen;
  std::set<std::string> seen;
  for (std::size_t i = cases.size(); i-- > 0 && chosen.size() < most;) {
    if (seen.insert(cases[i].what.operation).second) chosen.push_back(i);
  }
  return chosen;
}

class Session {
 public:
  Session(const CudaSettings& settings, const CudaProgress& told)
      : settings_(settings),
        told_(told),
        facts_(cuda::device_facts(0)),
        log_(std::filesystem::path(settings.output).replace_extension(".clocks.csv"), facts_.bus,
             told),
        writer_(settings.output) {}
  bool run();

 private:
  void write_facts(const cuda::Blas& blas);
  void judge(const std::string& phase, const Outcome& outcome);
  void phase(const CudaPhase& phase);
  void sustained(DeviceArena& arena, const cuda::Blas& blas, double budget);
  void collectives(double budget);
  Settings harness(double budget) const;

  const CudaSettings& settings_;
  const CudaProgress& told_;
  cuda::DeviceFacts facts_;
  ClockLog log_;
  SampleWriter writer_;
  std::vector<std::string> left_out_;
};

void Session::write_facts(const cuda::Blas& blas) {
  writer_.fact("date", date());
  writer_.fact("device", facts_.name);
  writer_.fact("devices", fmt::format("{}", cuda::device_count()));
  writer_.fact("compute capability", fmt::format("{}.{}", facts_.major, facts_.minor));
  writer_.fact("multiprocessors", fmt::format("{}", facts_.multiprocessors));
  writer_.fact("memory", fmt::format("{} B", facts_.memory));
  writer_.fact("second-level cache", fmt::format("{} B", facts_.l2));
  writer_.fact("driver", "CUDA " + version(facts_.driver));
  writer_.fact("runtime", "CUDA " + version(facts_.runtime));
  writer_.fact("cuBLASLt", blas.version());
  writer_.fact("power limit", log_.power_limit());
  writer_.fact("caches", settings_.is_warm ? "warm" : "cold: operands go round a large ring");
  writer_.fact("launches", "graphs, where an execution touches less than 1 GB");
  writer_.fact("budget", fmt::format("{} min, seed {}", settings_.minutes, settings_.seed));
}

Settings Session::harness(double budget) const {
  Settings harness{.budget = budget, .seed = settings_.seed};
  harness.rounds = settings_.samples;
  harness.extra_rounds = std::min(harness.extra_rounds, settings_.samples - 1);
  return harness;
}

void Session::judge(const std::string& phase, const Outcome& outcome) {
  writer_.fact(phase, fmt::format("repeat within {:.1f} %, drift {:+.1f} %, {} of {} noisy, {}",
                                  100 * outcome.repeatability, 100 * outcome.drift,
                                  outcome.noisy_cases, outcome.cases.size(),
                                  outcome.was_stopped   ? "interrupted"
                                  : outcome.is_complete ? "complete"
                                                        : "ended by the budget"));
  if (outcome.repeatability > 0.03) {
    told_.warn(fmt::format("{}: samples repeat within {:.1f} % only (3 % is the gate)", phase,
                           100 * outcome.repeatability));
  }
  if (std::abs(outcome.drift) > 0.05) {
    told_.warn(fmt::format("{}: times drifted by {:+.1f} %", phase, 100 * outcome.drift));
  }
}

void Session::phase(const CudaPhase& phase) {
  Runner runner(phase.cases, facts_.l2, log_);
  Settings settings = harness(60 * settings_.minutes * phase.share);
  settings.references = references(phase.cases);
  const Machine machine{
      [&](std::size_t which, std::size_t executions) { return runner.run(which, executions); }, now,
      told_.is_stopped, [&](double done) { told_.progress(phase.name, done); }};
  const Outcome outcome = measure(phase.cases.size(), settings, machine);
  for (std::size_t i = 0; i < phase.cases.size(); ++i) {
    profile::MeasuredCase one = phase.cases[i].what;
    one.seconds = outcome.cases[i].seconds;
    writer_.write(one);
  }
  judge(phase.name, outcome);
}

// At full load until clocks have settled; training runs at those.
void Session::sustained(DeviceArena& arena, const cuda::Blas& blas, double budget) {
  constexpr double settling = 1.0, batch = 0.25;  // [s]
  constexpr int batches = 2;
  const double end = now() + budget;
  const cuda::Stream stream;
  const std::vector<cuda::Product> products = sustained_products(facts_);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const cuda::Product& product = products[i];
    const std::size_t a = product.a_bytes(), b = product.b_bytes(), c = product.c_bytes();
    if (told_.is_stopped() || now() > end) break;
    if (std::max({a, b, c}) > arena.bytes_most()) continue;
    told_.progress("sustained products",
                   static_cast<double>(i) / static_cast<double>(products.size()));
    const auto plan = blas.plan(product);
    const auto seconds_of = [&](std::size_t executions) {
      return cuda::timed(stream, [&] {
        for (std::size_t k = 0; k < executions; ++k) {
          blas.run(*plan, arena.input(a), arena.input(b), arena.output(c), stream.get());
        }
      });
    };
    seconds_of(1);
    const double once = seconds_of(4) / 4;
    const auto count = static_cast<std::size_t>(std::max(1.0, std::ceil(batch / once)));
    profile::MeasuredCase one{"sustained",
                              fmt::format("{} forward", profile::name(product.precision)),
                              {static_cast<double>(product.m), static_cast<double>(product.n),
                               static_cast<double>(product.k)},
                              {}};
    for (double spent = 0; spent < settling;) spent += seconds_of(count);
    for (int k = 0; k < batches; ++k) {
      one.seconds.push_back(seconds_of(count) / static_cast<double>(count));
      log_.add(one, count, one.seconds.back());
    }
    writer_.write(one);
  }
}

void Session::collectives(double budget) {
  const int devices = cuda::device_count();
  if (devices < 2) {
    left_out_.emplace_back("collectives: there is one device");
    return;
  }
  try {
    NcclCollectives nccl(devices);
    writer_.fact("NCCL", nccl.version());
    Settings settings = harness(budget);
    const std::vector<profile::MeasuredCase>& cases = nccl.cases();
    const Machine machine{
        [&](std::size_t which, std::size_t executions) { return nccl.run(which, executions); }, now,
        told_.is_stopped, [&](double done) { told_.progress("collectives", done); }};
    settings.references = {cases.size() - 1};
    const Outcome outcome = measure(cases.size(), settings, machine);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      profile::MeasuredCase one = cases[i];
      one.seconds = outcome.cases[i].seconds;
      writer_.write(one);
    }
    judge("collectives", outcome);
  } catch (const cuda::DeviceError& error) {
    left_out_.push_back("collectives: " + error.message);
  }
}

bool Session::run() {
  constexpr double sustained_share = 0.2, collective_share = 0.4;  // the latter on top
  const std::size_t wanted = std::size_t{8} << 30;
  {
    const cuda::Blas blas;
    write_facts(blas);
    DeviceArena arena(std::min(wanted, facts_.memory / 4), settings_.is_warm);
    for (const CudaPhase& one : cuda_phases(facts_, arena, blas, left_out_)) {
      if (!told_.is_stopped()) phase(one);
    }
    sustained(arena, blas, 60 * settings_.minutes * sustained_share);
  }
  if (!told_.is_stopped()) collectives(60 * settings_.minutes * collective_share);
  writer_.fact("clocks", log_.summary());
  for (const std::string& what : left_out_) {
    writer_.fact("left out", what);
    told_.warn("left out: " + what);
  }
  return !told_.is_stopped();
}

}  // namespace

bool measure_cuda(const CudaSettings& settings, const CudaProgress& told) {
  cuda::device_count();
  cuda::use_device(0);
  return Session(settings, told).run();
}

}  // namespace calibrate::measure
