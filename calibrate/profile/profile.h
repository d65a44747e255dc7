// Timing models of one device type: how long an operator takes, how sure that is, where it comes
// from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/profile/device_type.h"

namespace calibrate::profile {

enum class Origin { measured, public_measurements, datasheet, ideal, reference };

struct Answer {
  Seconds duration;           // most likely
  double relative_p90 = 0;    // half-width of the 80 % interval, relative
  bool extrapolated = false;  // the question lies outside what was measured
};

enum class Layout { forward, input_gradient, weight_gradient };  // TN, NN, NT
struct GemmQuestion {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Precision precision = Precision::bf16;
  Layout layout = Layout::forward;
  bool accumulates_fp32 = false;
};
// Rows of several groups, each with a matrix of its own: forward C[rows, n] of k inputs, input
// gradient the same, weight gradient C[n, k] of each group as a sum over its rows.
struct GroupedGemmQuestion {
  std::int64_t groups = 1, rows = 0, n = 0, k = 0;  // rows: of all groups together
  double imbalance = 1;                             // rows of the largest group against the mean
  Precision precision = Precision::bf16;
  Layout layout = Layout::forward;
  bool accumulates_fp32 = false;
};
enum class AttentionKernel { flash2, flash3, cudnn, triton };
struct AttentionQuestion {
  AttentionKernel kernel = AttentionKernel::flash2;
  std::int64_t sequences = 1, query_heads = 1, kv_heads = 1, query_length = 0, key_length = 0,
               head_size = 128;
  bool causal = true;
  bool backward = false;
  Precision precision = Precision::bf16;
  std::int64_t value_head_size = 0;  // 0: head_size
};
struct MemoryQuestion {
  double bytes = 0;
};
enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive
};
struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 2;  // all in one scale-up domain
  double bytes =
      0;  // as nccl-tests counts: all-reduce, broadcast, send: the buffer; others: the whole buffer
};

// Between hosts: fitted constants of the structured law (sim/collective); per hop software latency
// beyond the links' own, and the share of a NIC's rate that a long transfer reaches.
struct NetworkConstants {
  Seconds base;                    // once per collective
  Seconds step_intra, step_inter;  // per ring step inside a host, between hosts
  // Per level of a tree between hosts that nvls feeds; and for its pipeline to fill, of messages
  // much longer than nvls_tree_chunks (assumed_network.h).
  Seconds step_nvls_tree, fill_nvls_tree;
  double efficiency = 1;        // of the NIC
  double intra_efficiency = 1;  // of the scale-up port
  double nvls_efficiency = 1;   // of the scale-up port, where its switch reduces
  double pcie_efficiency = 1;   // of PCIe
  double host_memory_efficiency = 1;
  double pat_efficiency = 1;  // of a ring's rate
  Seconds pat_rank;           // for each rank, beside the steps
  int channels = 16;          // multiprocessors a collective kernel takes
  int channels_point_to_point = 2;
};

struct FitReport {     // one line of `maquette profile show`
  std::string family;  // "gemm bf16 forward"
  std::string source;
  int samples = 0, held_out = 0;
  double mape = 0, p90 = 0, bias = 0;  // relative, held out
};

class Profile {
 public:
  virtual ~Profile() = default;
  virtual const DeviceType& device() const = 0;
  virtual Origin origin() const = 0;
  virtual Answer gemm(const GemmQuestion&) const = 0;
  virtual Answer grouped_gemm(const GroupedGemmQuestion&) const = 0;
  virtual Answer attention(const AttentionQuestion&) const = 0;
  virtual Answer memory(const MemoryQuestion&) const = 0;
  // Inside one scale-up domain. Present: a measured curve. Absent: use the structured law.
  virtual bool has_collective(const CollectiveQuestion&) const = 0;
  virtual Answer collective(const CollectiveQuestion&) const = 0;
  virtual NetworkConstants network() const = 0;
  // One standard deviation of the level error of each family, relative: gemm, attention, memory,
  // collective.
  virtual double level_error(const std::string& family) const = 0;
  virtual std::vector<FitReport> reports() const = 0;
  // For people, one line each: sources, constants and whether they were assumed, limits.
  virtual std::vector<std::string> notes() const { return {}; }
};

// Reads an HDF5 profile. Throws ProfileError with what is wrong and where.
struct ProfileError {
  std::string message, why, hint;
};
// A file that is not one of ours, cut short or changed by a single bit is refused.
std::unique_ptr<Profile> read_profile(const std::filesystem::path& file, const DeviceType& device);
// Roofline with stated efficiencies; origin datasheet.
std::unique_ptr<Profile> datasheet_profile(const DeviceType& device);
// Exactly max(flops / peak, bytes / rate), no latency; origin ideal. For hand-derived scenarios.
std::unique_ptr<Profile> ideal_profile(const DeviceType& device);
// What a device gets between hosts when nothing was fitted: NCCL's own tuning constants.
NetworkConstants default_network_constants();
// For people: origin, sources, fits with held-out errors, levels, network constants, limits.
std::string describe(const Profile& profile);

}  // namespace calibrate::profile
