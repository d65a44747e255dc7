// The page for people, word by word.
#include "analysis/summary.h"

#include <doctest/doctest.h>

#include <sstream>

#include "analysis/lines.h"
#include "tests/analysis/example_result.h"

namespace analysis {

TEST_CASE("summary: a host whose memory is too small") {
  sim::training::Result result = example_result();
  result.host_memory = {.host = "h1",
                        .capacity = sim::Bytes(1024),
                        .ranks = 8,
                        .used = {.optimizer = sim::Bytes(1536),
                                 .gradients = sim::Bytes(512),
                                 .parameters = {},
                                 .activations = {}}};
  result.fits = false;
  const std::string text = summary(result);
  CHECK(text.find("host memory, fullest   2 KiB of 1 KiB (200.0 %) on h1, 8 ranks\n"
                  "  optimizer 1.5 KiB, gradients 512 B, parameters 0 B, activations 0 B\n"
                  "  DOES NOT FIT: the host's memory is too small for what is offloaded\n") !=
        std::string::npos);
}

TEST_CASE("summary: a plan that fits") {
  // Rates and shares: see json_test.cpp. Bubble 125 / 1250 = 10 %; 40 GiB is 42.95 GB, of 80 GB
  // (74.51 GiB) 53.7 %.
  CHECK(summary(example_result()) == R"(example

iteration time         1.25 s, 80 % between 1.2 s and 1.3 s
                       one sigma: timing models 3.0 %, software 0.0 %, repeats 1.0 %
all iterations         1.26 s, 1.25 s; the last one counts
throughput             26214 tokens/s/device, 102.4 samples/s, 32 devices
model FLOPs            40.0 % of the dense peak, 32 PFLOP/s; causal 35.0 %; executed 45.0 %

where the time goes            [ms]     share   of rank 16, the last to finish
  compute                  1000.000    80.0 %
  optimizer                  50.000     4.0 %
  bubble                    125.000    10.0 %
  wait                        0.000     0.0 %
  exposed.tensor             50.000     4.0 %
  exposed.data               25.000     2.0 %
  together                 1250.000   100.0 %

memory, fullest rank   40 GiB of 74.51 GiB (53.7 %) on rank 0, stage 0, h100-sxm
  weights 8 GiB, gradients 16 GiB, optimizer 4 GiB, activations 10 GiB, other 2 GiB
  fits

busiest links              capacity  mean use  peak use     alike
  h0.nic2                   50 GB/s    20.0 %   100.0 %       256
  h0.gpu0.up               450 GB/s     8.0 %    75.0 %        32

simulated              32 ranks in 2 kinds, 4096 tasks as 256, exact; fingerprint 0123456789abcdef
durations from         h100-sxm: public measurements
extrapolated           attention forward, 32768 keys
warning                link h3.nic7 is never used

what to change next
  plan.tensor: 1 -> 1.1 s per iteration (-12.0 %)
)");
}

TEST_CASE("summary: a plan that does not fit says by how much and what would help") {
  auto result = example_result();
  result.fits = false;
  result.memory[0].capacity_bytes = 30.0 * 1024 * 1024 * 1024;
  result.remedies = {{"plan.recompute: full", sim::Bytes(28.0 * 1024 * 1024 * 1024)}};
  const std::string text = summary(result);
  CHECK(text.find("THIS PLAN DOES NOT FIT") != std::string::npos);
  CHECK(text.find("DOES NOT FIT: 10 GiB too much on rank 0; over capacity: stage 0\n") !=
        std::string::npos);
  CHECK(text.find("    plan.recompute: full                 peak 28 GiB\n") != std::string::npos);
}

TEST_CASE("summary: operations written by hand are listed with their times") {
  sim::training::Result result;
  result.scenario = "ring";
  result.devices = 4;
  result.iterations_ps = {30'030'000'000};
  result.time[static_cast<std::size_t>(sim::training::Category::other)] = 30'030'000'000;
  result.tracks = {{0, 0, 1, "late", {{"late", {}, 10'000'000'000, 30'030'000'000}}},
                   {0, 0, 1, "early", {{"early", {}, 0, 10'000'000'000}}}};
  result.fold.tasks = result.fold.task_classes = 2;
  CHECK(summary(result) == R"(ring

iteration time         30.03 ms, exact: every duration is given, none is measured

operation                start [ms]      end [ms]
  early                       0.000        10.000
  late                       10.000        30.030

simulated              2 tasks, exact; fingerprint 0000000000000000
)");
}

TEST_CASE("summary: long lists are cut and say so, lines stay short and plain") {
  auto result = example_result();
  for (int i = 0; i < 9; ++i) result.warnings.push_back("warning number " + std::to_string(i));
  const std::string text = summary(result);
  CHECK(text.find("and 5 more with --json\n") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
    CHECK((line.empty() || line.back() != ' '));
    for (const char c : line) CHECK((c >= ' ' && c <= '~'));
  }
}

TEST_CASE("lines: four significant digits") {
  CHECK(four_digits(0) == "0");
  CHECK(four_digits(26214.4) == "26214");
  CHECK(four_digits(102.4) == "102.4");
  CHECK(four_digits(1.25) == "1.250");
  CHECK(four_digits(0.012345678) == "0.01235");
}

TEST_CASE("lines: a column of times has the unit of its largest") {
  CHECK(in_unit(1'250'000'000'000, time_unit(1'250'000'000'000)) == "1250.000");
  CHECK(std::string(time_unit(9'999'999'999'999).name) == "ms");
  CHECK(std::string(time_unit(10'000'000'000'000).name) == "s");
  CHECK(std::string(time_unit(9'999'999'999).name) == "us");
  CHECK(in_unit(5'000'000, time_unit(5'000'000)) == "5.000");
}

}  // namespace analysis
