// A result made by hand, with round numbers: what the tests of this module print and write.
#pragma once

#include "sim/training/result.h"

namespace analysis {

inline sim::training::Result example_result() {
  using sim::training::Category;
  sim::training::Result result;
  result.scenario = "example";
  result.devices = 32;
  result.iterations_ps = {1'260'000'000'000, 1'250'000'000'000};
  result.interval = {1.2, 1.3, 0.03, 0, 0.01};
  result.samples_per_iteration = 128;
  result.tokens_per_iteration = 128 * 8192;
  result.model_flops_per_iteration = 16e15;
  result.model_flops_causal_per_iteration = 14e15;
  result.hardware_flops_per_iteration = 18e15;
  result.peak_flops_per_second = 32e15;
  result.memory = {{0, 0, 16, "h100-sxm", 80e9, {}}, {1, 16, 16, "h100-sxm", 80e9, {}}};
  const double gib = 1024.0 * 1024 * 1024;
  result.memory[0].memory = {sim::Bytes(8 * gib),  sim::Bytes(16 * gib), sim::Bytes(4 * gib),
                             sim::Bytes(10 * gib), sim::Bytes(2 * gib),  {}};
  result.memory[1].memory = {sim::Bytes(8 * gib), sim::Bytes(16 * gib), sim::Bytes(4 * gib),
                             sim::Bytes(5 * gib), sim::Bytes(2 * gib),  {}};
  result.time_rank = 16;
  const auto set = [&](Category category, std::int64_t picoseconds) {
    result.time[static_cast<std::size_t>(category)] = picoseconds;
  };
  set(Category::compute, 999'999'999'999);
  set(Category::optimizer, 50'000'000'000);
  set(Category::bubble, 125'000'000'000);
  set(Category::wait, 1);
  set(Category::exposed_tensor, 50'000'000'000);
  set(Category::exposed_data, 25'000'000'000);
  result.links = {{"h0.nic2", 256, 50e9, 12.5e9, 0.2, 1, {{0, 0.5}, {250'000'000'000, 1}}},
                  {"h0.gpu0.up", 32, 450e9, 45e9, 0.08, 0.75, {}}};
  result.tracks = {
      {0,
       0,
       16,
       "compute",
       {{"forward 0.0", Category::compute, 0, 1'000'000},
        {"backward 0.0", Category::compute, 1'000'001, 3'000'000}}},
      {0, 0, 16, "tensor", {{"all-gather", Category::exposed_tensor, 500'000, 1'000'000}}},
      {16, 1, 16, "compute", {{"forward 0.0", Category::compute, 1'000'000, 2'000'000}}}};
  result.fold = {32, 2, 4096, 256, true};
  result.profile_origin = {{"h100-sxm", calibrate::profile::Origin::public_measurements}};
  result.extrapolated = {"attention forward, 32768 keys"};
  result.warnings = {"link h3.nic7 is never used"};
  result.advice = {"plan.tensor: 1 -> 1.1 s per iteration (-12.0 %)"};
  result.fingerprint = 0x0123456789abcdef;
  result.cpu_time_s = 0.25;
  result.peak_rss_bytes = 1 << 20;
  return result;
}

}  // namespace analysis
