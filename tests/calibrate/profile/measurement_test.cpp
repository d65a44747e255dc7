// Profiles of our own measuring: what the file keeps, what layouts answer, what a comparison finds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "calibrate/profile/compare.h"
#include "calibrate/profile/fit_measured.h"
#include "calibrate/profile/fit_parts.h"
#include "tests/calibrate/profile/sample_data.h"

using namespace calibrate::profile;

namespace {

MeasuredCase stream(double bytes, std::vector<double> seconds) {
  return {"memory", "copy", {bytes}, std::move(seconds)};
}

// Products at 50 GFLOP/s and 2 us, streams at 10 GB/s and 1 us, an all-reduce at 1 GB/s and 10 us:
// exactly, three samples each. Weight gradients take twice as long.
Measurement round_machine() {
  Measurement measurement;
  measurement.environment = {{"cpu", "made up"}};
  for (const auto& [operation, factor] :
       {std::pair{"fp32 forward", 1.0}, std::pair{"fp32 weight gradient", 2.0}}) {
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<double> shape;
      for (std::size_t d = 0; d < 3; ++d) {
        shape.push_back(std::floor(64 * std::pow(32, halton(i, d))));
      }
      const double seconds = factor * (2e-6 + 2 * shape[0] * shape[1] * shape[2] / 50e9);
      measurement.cases.push_back({"gemm", operation, shape, {seconds, seconds, seconds}});
    }
  }
  for (double bytes = 1e4; bytes < 2e8; bytes *= 2) {
    measurement.cases.push_back(stream(bytes, {1e-6 + bytes / 10e9}));
  }
  for (double bytes = 256; bytes < 1e8; bytes *= 4) {
    measurement.cases.push_back({"collective", "all_reduce", {2, bytes}, {1e-5 + bytes / 1e9}});
  }
  return measurement;
}

DeviceType device_named(const std::string& name) {
  DeviceType device;
  device.name = name;
  return device;
}

std::string complaint(const std::function<void()>& what) {
  try {
    what();
  } catch (const ProfileError& error) {
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("measured: a machine of round numbers is found again") {
  const ProfileData data =
      fit_measured({.name = "round", .measured = "round numbers"}, round_machine());
  CHECK(data.origin == Origin::measured);
  const auto profile = profile_of(data, device_named("round"));
  // 2 * 512^3 / 50 GFLOP/s + 2 us = 5.3707 ms; twice that for the weight gradient.
  GemmQuestion question{.m = 512, .n = 512, .k = 512, .precision = Precision::fp32};
  CHECK(std::abs(profile->gemm(question).duration.value() / 5.3707e-3 - 1) < 0.05);
  CHECK_FALSE(profile->gemm(question).extrapolated);
  question.layout = Layout::weight_gradient;
  CHECK(std::abs(profile->gemm(question).duration.value() / 10.7414e-3 - 1) < 0.05);
  // 1 MB at 10 GB/s.
  CHECK(std::abs(profile->memory({1e6}).duration.value() / 101e-6 - 1) < 0.03);
  CHECK(profile->has_collective({CollectiveKind::all_reduce, 2, 65536}));
  CHECK(std::abs(profile->collective({CollectiveKind::all_reduce, 2, 65536}).duration.value() /
                     75.536e-6 -
                 1) < 1e-6);
  // No attention was timed: products and softmax, outside of what was measured.
  AttentionQuestion attention;
  attention.query_length = attention.key_length = 512;
  attention.precision = Precision::fp32;
  CHECK(profile->attention(attention).extrapolated);
  CHECK(profile->attention(attention).duration.value() > 0);
}

namespace {

// A GPU of round numbers: bf16 at 500 TFLOP/s and 4 us, weight gradients twice, fp8 half of that;
// full load costs a fifth; attention at 250 TFLOP/s, backward three times.
Measurement round_gpu() {
  Measurement measurement = round_machine();
  std::erase_if(measurement.cases,
                [](const MeasuredCase& one) { return one.family != "collective"; });
  for (double bytes = 1e5; bytes < 2e9; bytes *= 2) {
    measurement.cases.push_back(stream(bytes, {1e-6 + bytes / 3e12}));
  }
  for (const auto& [operation, factor] :
       {std::pair{"bf16 forward", 1.0}, std::pair{"bf16 weight gradient", 2.0},
        std::pair{"fp8 forward", 0.5}}) {
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<double> shape;
      for (std::size_t d = 0; d < 3; ++d) {
        shape.push_back(std::floor(512 * std::pow(16, halton(i, d))));
      }
      const double seconds = factor * (4e-6 + 2 * shape[0] * shape[1] * shape[2] / 500e12);
      measurement.cases.push_back({"gemm", operation, shape, {seconds}});
      const bool is_anchor = i % 8 == 0 && std::string(operation) == "bf16 forward";
      if (is_anchor) {
        measurement.cases.push_back({"sustained", operation, shape, {1.2 * seconds}});
      }
    }
  }
  for (std::size_t i = 0; i < 24; ++i) {
    const double length = 512 * std::pow(2.0, static_cast<double>(i % 5)),
                 heads = 4 * std::pow(2.0, static_cast<double>(i % 4));
    const double sequences = 1 + static_cast<double>(i / 20);
    // Causal: half of 4 S^2 d for each head.
    const double seconds = 1e-5 + 2 * sequences * heads * length * length * 128 / 250e12;
    const std::vector<double> shape{sequences, heads, heads, length, 128};
    measurement.cases.push_back({"attention", "cudnn forward", shape, {seconds}});
    measurement.cases.push_back({"attention", "cudnn backward", shape, {3 * seconds}});
  }
  return measurement;
}

}  // namespace

TEST_CASE("measured: a GPU of round numbers, its layouts, full load and attention") {
  const ProfileData data = fit_measured(
      {.name = "gpu", .multiprocessors = 100, .measured = "round numbers", .load = "bursts"},
      round_gpu());
  CHECK(std::abs(data.sustained_gemm.value - 1.2) < 1e-9);
  CHECK(std::abs(data.attention_backward.value - 3) < 1e-9);
  const auto profile = profile_of(data, device_named("gpu"));
  // 2 * 4096^3 / 500 TFLOP/s = 274.9 us, a fifth more at full load, and 4 us.
  GemmQuestion question{.m = 4096, .n = 4096, .k = 4096};
  const auto micro = [&] { return 1e6 * profile->gemm(question).duration.value(); };
  CHECK(std::abs(micro() / 333.9 - 1) < 0.05);
  question.layout = Layout::weight_gradient;
  CHECK(std::abs(micro() / 667.8 - 1) < 0.05);
  // No input gradient was measured: the forward fit, as it is.
  question.layout = Layout::input_gradient;
  CHECK(std::abs(micro() / 333.9 - 1) < 0.05);
  question.layout = Layout::forward;
  question.precision = Precision::fp8;
  CHECK(std::abs(micro() / 166.9 - 1) < 0.05);
  // Never timed: at the rate of bf16, and said to be outside.
  question.precision = Precision::fp32;
  CHECK(profile->gemm(question).extrapolated);
  AttentionQuestion attention;
  attention.kernel = AttentionKernel::cudnn;
  attention.query_heads = attention.kv_heads = 16;
  attention.query_length = attention.key_length = 4096;
  // 10 us + 2 * 16 * 4096^2 * 128 / 250 TFLOP/s = 284.9 us; full load is taken to cost a tenth.
  const double forward = profile->attention(attention).duration.value();
  CHECK(std::abs(forward / (1.1 * 284.9e-6) - 1) < 0.1);
  CHECK_FALSE(profile->attention(attention).extrapolated);
  attention.backward = true;
  CHECK(std::abs(profile->attention(attention).duration.value() / forward - 3) < 1e-9);
  // A kernel that was not timed is answered as the one that was.
  attention.kernel = AttentionKernel::flash2;
  CHECK(profile->attention(attention).duration.value() > 0);
}

TEST_CASE("measured: attention backward alone is refused") {
  Measurement samples = round_gpu();
  std::erase_if(samples.cases,
                [](const MeasuredCase& one) { return one.operation == "cudnn forward"; });
  CHECK(complaint([&] { fit_measured({.name = "gpu", .measured = ""}, samples); }) ==
        "attention was measured backward or without a mask only");
}

TEST_CASE("import: layouts, full load and attention go into a profile that has others") {
  ProfileData data = fit_measured(
      {.name = "gpu", .multiprocessors = 100, .measured = "round numbers"}, round_gpu());
  Measurement samples;
  for (const MeasuredCase& one : round_gpu().cases) {
    if (one.family != "gemm" && one.family != "attention") continue;
    MeasuredCase slower = one;
    for (double& seconds : slower.seconds) seconds *= 2;
    if (one.operation == "bf16 weight gradient") slower.operation = "bf16 input gradient";
    if (one.operation != "fp8 forward") samples.cases.push_back(slower);
  }
  replace_fitted(data, samples, "twice as slow");
  const auto profile = profile_of(data, device_named("gpu"));
  GemmQuestion question{.m = 4096, .n = 4096, .k = 4096};
  const auto micro = [&] { return 1e6 * profile->gemm(question).duration.value(); };
  CHECK(std::abs(micro() / (2 * 333.9) - 1) < 0.05);
  question.layout = Layout::input_gradient;  // from samples of twice 2 x forward
  CHECK(std::abs(micro() / (4 * 333.9) - 1) < 0.05);
  question.layout = Layout::weight_gradient;  // as it was
  CHECK(std::abs(micro() / (2 * 333.9) - 1) < 0.05);
  CHECK(data.attention.size() == 1);
  CHECK(data.layouts.size() == 2);
  // 40 products each of four operations; all samples of before but those of the same shapes.
  CHECK(std::count_if(data.measurement.cases.begin(), data.measurement.cases.end(),
                      [](const MeasuredCase& one) { return one.family == "gemm"; }) == 160);
}

TEST_CASE("measured: samples, layouts and environment come back from the file") {
  const ProfileData data =
      fit_measured({.name = "round", .measured = "round numbers"}, round_machine());
  const auto file = std::filesystem::temp_directory_path() / "maquette_measurement_test.h5";
  write_profile(file, data);
  const ProfileData read = read_profile_data(file);
  std::filesystem::remove(file);
  REQUIRE(read.measurement.cases.size() == data.measurement.cases.size());
  CHECK(read.measurement.cases[5].seconds == data.measurement.cases[5].seconds);
  CHECK(read.measurement.cases[5].operation == "fp32 forward");
  CHECK(read.measurement.environment.at(0).value == "made up");
  REQUIRE(read.layouts.size() == 1);
  CHECK(read.layouts[0].layout == Layout::weight_gradient);
}

TEST_CASE("measured: too few samples are refused by name") {
  Measurement few = round_machine();
  few.cases.resize(10);
  CHECK(complaint([&] { fit_measured({.name = "few", .measured = ""}, few); }) ==
        "10 shapes of gemm fp32 forward");
  CHECK(complaint([] { fit_measured({.name = "none", .measured = ""}, {}); }) ==
        "no product of the forward layout was measured");
}

TEST_CASE("import: an all-reduce replaces the curves of its kind and no other fit") {
  Measurement samples;
  for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
    samples.cases.push_back({"collective", "all_reduce", {8, bytes}, {1e-5 + bytes / 100e9}});
  }
  ProfileData data = plain_data();
  const double memory = data.memory.curve.memory;
  replace_fitted(data, samples, "a log");
  REQUIRE(data.collectives.size() == 1);
  CHECK(data.collectives[0].ranks == std::vector<double>{8});
  CHECK(data.memory.curve.memory == memory);
  CHECK(data.sources.back() == "a log: all_reduce");
  const auto profile = profile_of(data, round_device());
  CHECK(std::abs(profile->collective({CollectiveKind::all_reduce, 8, 1048576}).duration.value() /
                     20.48576e-6 -
                 1) < 1e-6);
  samples.cases.resize(2);
  CHECK(complaint([&] { replace_fitted(data, samples, "a log"); }) ==
        "2 sizes of all_reduce over 8 ranks");
  samples.cases = {{"gemm", "fp16 forward", {1024, 1024, 1024}, {1e-3}}};
  CHECK(complaint([&] { replace_fitted(data, samples, "a log"); }) ==
        "nothing takes samples of 'gemm fp16 forward'");
}

TEST_CASE("compare: 10 % slower streams are found, equal ones are not, by noise of 1 %") {
  Measurement before, after;
  for (int i = 0; i < 10; ++i) {
    const double bytes = 1e6 * (i + 1), t = bytes / 1e10;
    const std::vector<double> samples{t, 1.01 * t, 0.99 * t, 1.01 * t, 0.99 * t};
    std::vector<double> slower = samples;
    for (double& one : slower) one *= 1.1;
    before.cases.push_back(stream(bytes, samples));
    after.cases.push_back(stream(bytes, slower));
  }
  const Comparison same = compare(before, before);
  CHECK_FALSE(same.is_slower());
  CHECK(same.shapes.empty());
  const Comparison worse = compare(before, after);
  CHECK(worse.is_slower());
  REQUIRE(worse.operations.size() == 1);
  CHECK(std::abs(worse.operations[0].ratio - 1.1) < 1e-9);
  CHECK(worse.operations[0].slower == 10);
  CHECK_FALSE(compare(after, before).is_slower());
  CHECK(compare(after, before).operations[0].is_faster);
}

TEST_CASE("compare: 10 % is nothing where samples spread by 20 %") {
  const Measurement before{{}, {stream(1e6, {80e-6, 100e-6, 120e-6, 85e-6, 118e-6})}};
  const Measurement after{{}, {stream(1e6, {88e-6, 110e-6, 132e-6, 94e-6, 130e-6})}};
  CHECK_FALSE(compare(before, after).is_slower());
  CHECK(compare(before, after).shapes.empty());
  const Measurement other{{}, {stream(2e6, {1e-4})}};
  CHECK(compare(before, other).unmatched == 2);
  CHECK(compare(before, other).operations.empty());
}
