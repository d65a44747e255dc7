// The constants of NCCL's tuner.
// Source: NVIDIA/nccl (Apache-2.0) src/graph/tuning.cc, ncclTunerConstantsDefaults and
// treeCorrectionFactor, as of 2026-06 (commit 5067397).
#pragma once

#include <array>

namespace sim::collective::tuner {

// Latencies in us, rates in GB/s. By protocol: LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;
// By number of hosts: 1, 2, more.
using ByHosts = std::array<double, 3>;

struct ByAlgorithm {
  ByProtocol tree, ring;
};
inline constexpr ByAlgorithm base_latency = {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}};
inline constexpr ByAlgorithm nvlink_latency = {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
inline constexpr ByAlgorithm pci_latency = {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}};
inline constexpr ByAlgorithm network_latency = {{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}};

// What a step of a ring over several hosts costs at least: by maker of the CPU, Simple three times.
inline constexpr double network_overhead = 1.0, network_overhead_amd = 2.0;
inline constexpr double network_overhead_simple = 3;

// By generation: Volta, Ampere, Hopper, Blackwell.
template <class T>
using ByGeneration = std::array<T, 4>;
// On one host by generation; on several the first row is for Intel's CPUs, the second for AMD's.
inline constexpr ByGeneration<ByHosts> ll_rate_max = {
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
// Of one channel.
inline constexpr ByGeneration<ByHosts> ring_ll128_rate_max = {
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
inline constexpr ByGeneration<ByHosts> tree_ll128_rate_max = {
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
inline constexpr ByGeneration<ByHosts> tree_rate_max = {
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};

inline constexpr ByGeneration<ByHosts> nvls_tree_rate_max = {
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
// What reduction in the switch reaches of the rate that NCCL counts on; 0: there is none.
inline constexpr ByGeneration<double> nvls_efficiency = {0, 0, 0.85, 0.74};

// With Simple: inside a host, and a step between hosts.
inline constexpr double nvls_latency = 25, nvls_tree_latency = 20.9;
inline constexpr double collnet_latency = 3.7, collnet_network_latency = 31;
inline constexpr double collnet_member_latency = 0.4;  // each further member of a host
inline constexpr double collnet_efficiency = 0.85;     // from Hopper on
inline constexpr double pat_base_latency = 8, pat_rank_latency = 2.8;
inline constexpr double pat_step_share = 1 / 3.5;  // of a tree's step between hosts
inline constexpr double pat_efficiency = 0.75;

// Share of an NVLink's rate that NCCL counts on: 20 of 25 GB/s, 20.6 of 25, 40.1 of 50.
inline constexpr ByGeneration<double> nvlink_share = {0.8, 0.8, 20.6 / 25, 40.1 / 50};

// The rate of a tree relative to the law, by log2(size / 64 B) below 23.
inline constexpr std::array<std::array<double, 24>, 3> tree_correction = {
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

// A ring with Simple over several hosts, from 64 bytes a channel and rank on.
inline constexpr double ring_plateau = 1.4, ring_plateau_volta = 1.9, ring_plateau_bytes = 64;

// Point-to-point messages up to this size go by LL.
// Source: NVIDIA/nccl src/enqueue.cc, NCCL_P2P_LL_THRESHOLD, for one channel.
inline constexpr double point_to_point_ll_bytes = 16384;

}  // namespace sim::collective::tuner
