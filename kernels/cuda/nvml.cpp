// NVML: few functions, whose signatures stand here, since its header does not come with nvcc.
#include "kernels/cuda/nvml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace kernels::cuda {

namespace {
using Handle = void*;
constexpr int multiprocessor_clock = 1, gpu_temperature = 0;
}  // namespace

// Source: NVIDIA, NVML API reference, "Device Queries" and "NvmlClocksEventReasons".
struct Nvml::Functions {
  Library library{"NVML", {"libnvidia-ml.so.1"}};
  int (*initialise)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*by_bus)(const char*, Handle*) = nullptr;
  int (*clock)(Handle, int, unsigned*) = nullptr;
  int (*power)(Handle, unsigned*) = nullptr;
  int (*limit)(Handle, unsigned*) = nullptr;
  int (*temperature)(Handle, int, unsigned*) = nullptr;
  int (*reasons)(Handle, unsigned long long*) = nullptr;
  Handle device = nullptr;
};

Nvml::Nvml(const std::string& bus) : functions_(std::make_unique<Functions>()) {
  Functions& f = *functions_;
  f.library.find(f.initialise, "nvmlInit_v2");
  f.library.find(f.shut_down, "nvmlShutdown");
  f.library.find(f.by_bus, "nvmlDeviceGetHandleByPciBusId_v2");
  f.library.find(f.clock, "nvmlDeviceGetClockInfo");
  f.library.find(f.power, "nvmlDeviceGetPowerUsage");
  f.library.find(f.limit, "nvmlDeviceGetEnforcedPowerLimit");
  f.library.find(f.temperature, "nvmlDeviceGetTemperature");
  f.library.find(f.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (const int status = f.initialise(); status != 0) {
    throw DeviceError{fmt::format("NVML answered {}", status), "", ""};
  }
  if (const int status = f.by_bus(bus.c_str(), &f.device); status != 0) {
    throw DeviceError{fmt::format("NVML does not know the device at {}: {}", bus, status), "", ""};
  }
}

Nvml::~Nvml() { functions_->shut_down(); }

// A query that a device does not support leaves nothing: 0.
GpuState Nvml::state() const {
  const Functions& f = *functions_;
  GpuState state;
  unsigned value = 0;
  if (f.clock(f.device, multiprocessor_clock, &value) == 0) state.clock = value;
  if (f.power(f.device, &value) == 0) state.power = 1e-3 * value;
  if (f.temperature(f.device, gpu_temperature, &value) == 0) state.temperature = value;
  unsigned long long reasons = 0;
  if (f.reasons(f.device, &reasons) == 0) state.slowed_by = slowed_by(reasons);
  return state;
}

double Nvml::power_limit() const {
  unsigned value = 0;
  return functions_->limit(functions_->device, &value) == 0 ? 1e-3 * value : 0;
}

std::string slowed_by(unsigned long long reasons) {
  static const std::vector<std::pair<unsigned long long, const char*>> words{
      {0x2, "clock setting"},   {0x4, "power limit"},     {0x8, "hardware"},
      {0x10, "sync boost"},     {0x20, "thermal"},        {0x40, "hardware thermal"},
      {0x80, "hardware power"}, {0x100, "display clocks"}};
  std::vector<std::string> found;
  for (const auto& [bit, word] : words) {
    if ((reasons & bit) != 0) found.emplace_back(word);
  }
  return fmt::format("{}", fmt::join(found, " + "));
}

}  // namespace kernels::cuda
