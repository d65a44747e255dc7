// Network constants that no profile file holds: reduction in the scale-up switch, a tree between
// hosts that it feeds, PCIe, the memory of a host.
#pragma once

#include <fmt/format.h>

#include <string>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

// Of the port's rate, with (1 + 1/n) of the buffer through each port.
// Source: stas00/ml-engineering, network/README.md: all-reduce of 8 GiB with NVLS over 5 to 8 H200
// 414 to 473 GB/s, over 6 to 8 B200 778 to 838 GB/s, which is 0.67 to 0.69 and 0.60 to 0.61.
inline constexpr double nvls_share_hopper = 0.68, nvls_share_blackwell = 0.60;

// A level of the tree, once up or down.
// Source: NVIDIA/nccl src/graph/tuning.cc at 5067397, hwLatencies of NVLSTree over the network.
inline constexpr double nvls_tree_step_us = 20.9;
// And until its pipeline is full: fill S / (S + chunks), since chunks grow with a message up to
// what channels can hold. Fitted: median over the runs of nccl_tests_logs.csv that fit_nvls_tree()
// takes; tests/calibrate/profile/network_test.cpp fits it again. Assumed: chunks of 64 MiB in all.
inline constexpr double nvls_tree_fill_us = 87;
inline constexpr double nvls_tree_chunks = 64.0 * 1024 * 1024;
inline constexpr const char* nvls_tree_runs =
    "h100_16_nccltests309, h100_32_nccltests309, h100_64_nccltests309_ctas24_qps2, "
    "h100_64_nccltests309_default";

// The middle of what is published, as a share of 31.5 and 63 GB/s.
// Source: NVIDIA/nvbandwidth, README: 26 GB/s to an A100; Azure/azurehpc-health-checks, expected:
// 23 to A100, 52 to H100, 55 to H200; voipmonitor/rtx6kpro: 52.7 to 56.6 between cards under a
// switch.
inline constexpr double pcie_share = 0.83;

// What long streams get of the rate of a host's memory.
// Source: AnandTech, "Intel Skylake-EP vs AMD EPYC 7000", memory subsystem: STREAM Triad as its
// makers tune it, 250 of 307 GB/s (2 EPYC 7601) and 199 of 256 GB/s (2 Xeon 8176).
inline constexpr double host_memory_share = 0.8;

// Source: NVIDIA/nccl src/graph/tuning.cc at 5067397: what PAT reaches of a ring's rate, and what
// each rank adds beside its log2 n steps. No public measurement was found.
inline constexpr double pat_share = 0.75, pat_rank_us = 2.8;

inline void add_assumed(NetworkConstants& network, const std::string& device) {
  const bool is_blackwell = device.starts_with("b") || device.starts_with("gb");
  network.step_nvls_tree = sim::microseconds(nvls_tree_step_us);
  network.fill_nvls_tree = sim::microseconds(nvls_tree_fill_us);
  network.pcie_efficiency = pcie_share;
  network.host_memory_efficiency = host_memory_share;
  network.pat_efficiency = pat_share;
  network.pat_rank = sim::microseconds(pat_rank_us);
  network.nvls_efficiency = is_blackwell ? nvls_share_blackwell : nvls_share_hopper;
}

inline std::string nvls_note(const NetworkConstants& network) {
  return fmt::format(
      "reduction in the scale-up switch: {:.2f} of a port (ml-engineering); a tree between hosts "
      "{:.1f} us a level and up to {:.0f} us to fill it, fitted to {}",
      network.nvls_efficiency, 1e6 * network.step_nvls_tree.value(),
      1e6 * network.fill_nvls_tree.value(), nvls_tree_runs);
}

}  // namespace calibrate::profile
