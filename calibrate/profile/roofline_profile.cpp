// Profiles without a measurement: datasheet (stated efficiencies) and ideal (exact roofline).
#include <fmt/format.h>

#include <algorithm>

#include "calibrate/profile/assumed_network.h"
#include "calibrate/profile/profile.h"
#include "calibrate/profile/roofline.h"
#include "sim/base/invariant.h"

namespace calibrate::profile {
namespace {

// What a roofline is multiplied with. Every number is stated by `maquette profile show`.
struct Efficiencies {
  double gemm = 1, attention_forward = 1, attention_backward = 1, memory = 1;
  Seconds latency;
  double interval = 0;     // relative
  double level_error = 0;  // relative
};

class RooflineProfile final : public Profile {
 public:
  RooflineProfile(DeviceType device, Origin origin, Efficiencies efficiencies,
                  NetworkConstants network)
      : device_(std::move(device)),
        origin_(origin),
        efficiencies_(efficiencies),
        network_(network) {}

  const DeviceType& device() const override { return device_; }
  Origin origin() const override { return origin_; }
  Answer gemm(const GemmQuestion& question) const override {
    return answer(gemm_flops(question), gemm_bytes(question), question.precision,
                  efficiencies_.gemm);
  }
  Answer grouped_gemm(const GroupedGemmQuestion& question) const override {
    return answer(grouped_flops(question), grouped_bytes(question), question.precision,
                  efficiencies_.gemm);
  }
  Answer attention(const AttentionQuestion& question) const override {
    const double efficiency =
        question.backward ? efficiencies_.attention_backward : efficiencies_.attention_forward;
    return answer(attention_flops(question), attention_bytes(question), question.precision,
                  efficiency);
  }
  Answer memory(const MemoryQuestion& question) const override {
    return answer(0, question.bytes, Precision::bf16, 1);
  }
  bool has_collective(const CollectiveQuestion&) const override { return false; }
  Answer collective(const CollectiveQuestion&) const override {
    sim::invariant(false, "a profile without collectives was asked for one");
    return {};
  }
  NetworkConstants network() const override { return network_; }
  double level_error(const std::string&) const override { return efficiencies_.level_error; }
  std::vector<FitReport> reports() const override { return {}; }
  std::vector<std::string> notes() const override {
    if (origin_ == Origin::ideal) return {"exact roofline: max(FLOPs / peak, bytes / memory rate)"};
    return {
        fmt::format("nothing was measured; assumed shares of the datasheet: matrix products {}, "
                    "attention {} forward and {} backward, memory {}; launch {} us",
                    efficiencies_.gemm, efficiencies_.attention_forward,
                    efficiencies_.attention_backward, efficiencies_.memory,
                    1e6 * efficiencies_.latency.value()),
        "network: tuning constants of NCCL, ring and Simple protocol (src/graph/tuning.cc)"};
  }

 private:
  Answer answer(double flops, double bytes, Precision precision, double efficiency) const {
    const FlopsPerSecond rate = peak(device_, precision);
    sim::invariant(flops == 0 || rate.value() > 0, "a device type has a peak rate");
    const double compute = flops == 0 ? 0 : flops / (rate.value() * efficiency);
    const double traffic =
        bytes == 0 ? 0 : bytes / (device_.memory_rate.value() * efficiencies_.memory);
    const double busy = std::max(compute, traffic);
    return {Seconds(busy == 0 ? 0 : busy + efficiencies_.latency.value()), efficiencies_.interval,
            origin_ != Origin::ideal};
  }

  DeviceType device_;
  Origin origin_;
  Efficiencies efficiencies_;
  NetworkConstants network_;
};

}  // namespace

NetworkConstants default_network_constants() {
  // Ring and Simple protocol. Source: NVIDIA/nccl src/graph/tuning.cc at 5067397: base latency
  // 8.4 us, NVLink hop 3.4 us, network hop 14 us, 0.92 of the line rate; Assumed: 0.8 of a port,
  // 16 and 2 channels (NCCL's usual choices).
  NetworkConstants constants;
  constants.base = sim::microseconds(8.4);
  constants.step_intra = sim::microseconds(3.4);
  constants.step_inter = sim::microseconds(14);
  constants.efficiency = 0.92;
  constants.intra_efficiency = 0.8;
  return constants;
}

std::unique_ptr<Profile> datasheet_profile(const DeviceType& device) {
  // Assumed: what well-tuned kernels reach on large shapes of today's devices (public GEMM
  // benchmarks 0.70-0.87, flash attention 0.45-0.75 forward, copies 0.80-0.92 of the datasheet).
  const Efficiencies assumed{.gemm = 0.7,
                             .attention_forward = 0.5,
                             .attention_backward = 0.42,
                             .memory = 0.85,
                             .latency = sim::microseconds(2),
                             .interval = 0.35,
                             .level_error = 0.2};
  NetworkConstants network = default_network_constants();
  add_assumed(network, device.name);
  return std::make_unique<RooflineProfile>(device, Origin::datasheet, assumed, network);
}

std::unique_ptr<Profile> ideal_profile(const DeviceType& device) {
  NetworkConstants nothing;  // no latency, full rate, and no multiprocessor taken from computation
  nothing.channels = 0;
  nothing.channels_point_to_point = 0;
  return std::make_unique<RooflineProfile>(device, Origin::ideal, Efficiencies{}, nothing);
}

}  // namespace calibrate::profile
