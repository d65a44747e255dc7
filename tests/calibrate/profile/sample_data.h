// A small profile with round numbers, for tests.
#pragma once

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

inline Interval flat_interval(double half_width) { return {{}, {half_width}}; }

// 100 TFLOP/s, 1 TB/s, 100 multiprocessors. Tiles at full peak, no overheads, no correction.
inline GemmModel plain_gemm() {
  GemmModel model;
  model.hardware = {100e12, 1e12, 100, 2};
  model.tile.compute = 1;
  model.tile.load = 1e30;
  model.tile.memory = 1;
  model.tile.quantisation = 1;
  model.tile.softness = 0.001;
  model.tile.factor.fill(1);
  model.residual.centre.assign(7, 0);
  model.residual.scale.assign(7, 1);
  model.m = model.n = model.k = {64, 65536};
  model.flops_most = 1e15;
  model.interval = flat_interval(0.1);
  return model;
}

inline AttentionModel plain_attention() {
  AttentionModel model;
  model.peak = 100e12;
  model.memory_rate = 1e12;
  model.multiprocessors = 100;
  model.tile.compute = 1;
  model.tile.memory = 1;
  model.residual.centre.assign(4, 0);
  model.residual.scale.assign(4, 1);
  model.length = {128, 16384};
  model.blocks = {1, 2048};
  model.interval = flat_interval(0.1);
  return model;
}

inline ProfileData plain_data() {
  using enum AttentionKernel;
  ProfileData data;
  data.device = "round";
  data.measured = "nothing: round numbers";
  data.sources = {"tests", "more tests"};
  data.gemm = {plain_gemm()};
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp8}) {
    data.roofline.push_back({precision, 50e12, 1e12, 0, Factor{0.5, 0.3, "assumed"}});
  }
  data.attention = {plain_attention()};
  for (const AttentionKernel kernel : {flash3, cudnn, triton}) {
    data.kernels.push_back({kernel, flash2, Factor{2, 0.2, "assumed"}});
  }
  data.memory.curve = {1e-6, 4e12, 1e12, 1e7, 2};
  data.memory.bytes_most = 1e9;
  data.memory.interval = flat_interval(0.05);
  CollectiveModel collective;
  collective.law = {1e-6, 1e-6, 1e11, 0, 1e5, 1};
  collective.ranks = {2, 8};
  collective.curves = {size_curve({1e3, 1e6, 1e9}, {5e-6, 1e-5, 5e-3}),
                       size_curve({1e3, 1e6, 1e9}, {9e-6, 2e-5, 9e-3})};
  collective.interval = flat_interval(0.08);
  data.collectives = {collective};
  data.level_errors = {{"gemm", 0.03, "assumed"}};
  data.reports = {{"gemm bf16 forward", "tests", 10, 20, 0.01, 0.02, -0.001}};
  return data;
}

inline DeviceType round_device() {
  DeviceType device;
  device.name = "round";
  device.peak = {{Precision::bf16, sim::teraflops_per_second(100)}};
  device.memory = sim::gibibytes(80);
  device.memory_rate = sim::gigabytes_per_second(1000);
  device.multiprocessors = 100;
  return device;
}

}  // namespace calibrate::profile
