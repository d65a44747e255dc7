// Profiles fitted from public measurements: devices and the order of the steps.
#include "calibrate/profile/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {
namespace {

// Rates are datasheet values, dense; L2 and port as the vendors state them.
const std::vector<PublicDevice>& devices() {
  static const std::vector<PublicDevice> all{
      {"a100-sxm-80gb", "a100_sxm", 312e12, 0, 156e12, 19.5e12, 2039e9, 40e6, 108, 300e9,
       "gemm_bf16_full_a100_sxm_sglang_0.5.10.csv", "time_us", "", AttentionKernel::flash2,
       "NVIDIA A100", "simumax_efficiency_a100_pcie.csv", ""},
      {"h100-sxm", "h100_sxm", 989e12, 1979e12, 494.5e12, 67e12, 3350e9, 50e6, 132, 450e9,
       "gemm_bf16_full_h100_sxm_trtllm_1.3.0rc20.csv", "time_us", "h100_sxm|vllm_0.24.0",
       AttentionKernel::flash3, "NVIDIA H100", "", "tritonexperts"},
      {"h100-96gb-500w", "h100_sxm", 989e12, 1979e12, 494.5e12, 67e12, 2458e9, 50e6, 132, 450e9,
       "gemm_bf16_full_h100_sxm_trtllm_1.3.0rc20.csv", "time_us", "h100_sxm|vllm_0.24.0",
       AttentionKernel::flash3, "NVIDIA H100", "", "tritonexperts"},
      {"h200-sxm", "h200_sxm", 989e12, 1979e12, 494.5e12, 67e12, 4800e9, 50e6, 132, 450e9,
       "gemm_bf16_full_h200_sxm_vllm_0.24.0.csv", "time_us", "h200_sxm|vllm_0.24.0",
       AttentionKernel::flash3, "NVIDIA H200", "", "tritonexperts"},
      {"b200", "b200_sxm", 2250e12, 4500e12, 1125e12, 80e12, 8000e9, 126e6, 148, 900e9,
       "gemm_bf16_aiconfigurator_wide.csv", "b200_sxm|vllm_0.24.0", "b200_sxm|vllm_0.24.0",
       AttentionKernel::cudnn, "NVIDIA B200", "simumax_efficiency_b200.csv", "trtllmbf16experts"}};
  return all;
}

}  // namespace

const PublicDevice* public_device(const std::string& name) {
  for (const PublicDevice& device : devices()) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

std::vector<std::string> public_device_names() {
  std::vector<std::string> names;
  for (const PublicDevice& device : devices()) names.push_back(device.name);
  return names;
}

ProfileData fit_public_data(const std::string& name, const std::filesystem::path& folder) {
  const PublicDevice* device = public_device(name);
  if (!device) {
    throw ProfileError{fmt::format("no public measurements are known of device '{}'", name), "",
                       fmt::format("known: {}", fmt::join(public_device_names(), ", "))};
  }
  ProfileData data;
  data.device = name;
  data.origin = Origin::public_measurements;
  data.measured =
      "short bursts of repeated kernels in CUDA graphs with a warm cache (products, attention), "
      "nccl-tests in one process (collectives), streaming kernels (memory); answers are scaled to "
      "sustained training by the factors below";
  data.sources = {
      "ai-dynamo/aiconfigurator at 095f58a, Apache-2.0: matrix products, attention, experts, "
      "collectives",
      "MooreThreads/SimuMax at 4dcaae5, Apache-2.0: training layouts, attention backward",
      "te42kyfo/gpu-benches at 1c36d50: memory", "nccl-tests logs in public issues: networks"};
  add_gemm(data, *device, folder);
  add_attention(data, *device, folder);
  add_experts(data, *device, folder);
  add_memory(data, *device, folder);
  add_collectives(data, *device, folder);
  add_network(data, *device, folder);
  add_factors(data, *device, folder);
  check(data);
  return data;
}

std::filesystem::path fit_public_profile(const std::string& name,
                                         const std::filesystem::path& folder,
                                         const std::filesystem::path& output) {
  std::filesystem::path file = output / (name + ".h5");
  write_profile(file, fit_public_data(name, folder));
  return file;
}

}  // namespace calibrate::profile
