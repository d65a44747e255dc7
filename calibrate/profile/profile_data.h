// Everything a profile file holds: fitted parameters as plain data.
#pragma once

#include <string>
#include <vector>

#include "calibrate/profile/attention_tile.h"
#include "calibrate/profile/gaussian_process.h"
#include "calibrate/profile/gemm_tile.h"
#include "calibrate/profile/grouped_gemm.h"
#include "calibrate/profile/interval.h"
#include "calibrate/profile/measurement.h"
#include "calibrate/profile/memory_curve.h"
#include "calibrate/profile/profile.h"
#include "calibrate/profile/ring_law.h"
#include "calibrate/profile/size_curve.h"

namespace calibrate::profile {

// A constant that scales an answer, with where it comes from.
struct Factor {
  double value = 1;
  double spread = 0;  // relative half-width of the 80 % interval of the factor itself
  std::string source;
};

struct Range {
  double least = 0, most = 0;
  bool holds(double value) const { return value >= least && value <= most; }
};

struct GemmModel {
  Precision precision = Precision::bf16;
  GemmHardware hardware;
  GemmTile<double> tile;
  GaussianProcess residual;  // of log time, over gemm_features
  Range m, n, k;
  double flops_most = 0;
  Interval interval;  // by FLOPs
  std::string source;
};

// A layout that was measured itself, not derived from the forward one.
struct LayoutModel {
  Layout layout = Layout::weight_gradient;
  GemmModel model;
};

// A type without measurements: roofline at a stated share of peak.
struct RooflineModel {
  Precision precision = Precision::fp32;
  double peak = 0;         // [FLOP/s]
  double memory_rate = 0;  // [byte/s]
  double launch = 0;       // [s]
  Factor efficiency;
};

// Of 16-bit rows.
struct GroupedGemmModel {
  GroupedHardware hardware;
  GroupedTile<double> tile;
  GaussianProcess residual;        // of log time of a block, over grouped_features
  Range rows, groups;              // rows of a group
  Range widths;                    // of either side of a matrix
  Interval interval;               // by FLOPs
  double unseen_half_width = 0.3;  // relative, on transformers of which nothing was fitted
  std::string source;
};

struct AttentionModel {
  AttentionKernel kernel = AttentionKernel::flash2;
  double head_size = 128;
  double peak = 0, memory_rate = 0, multiprocessors = 0;
  AttentionTile<double> tile;
  GaussianProcess
      residual;          // over log(sequences heads), log length, log(heads / kv heads), log heads
  Range length, blocks;  // blocks: sequences x heads
  Interval interval;     // by FLOPs
  std::string source;
};

struct KernelFactor {  // of a kernel that was not measured, against one that was
  AttentionKernel kernel = AttentionKernel::flash2, measured = AttentionKernel::flash2;
  Factor factor;
};

struct MemoryModel {
  MemoryCurve<double> curve;
  double bytes_most = 0;
  Interval interval;  // by bytes
  std::string source;
};

struct CollectiveModel {
  CollectiveKind kind = CollectiveKind::all_reduce;
  RingLaw<double> law;
  std::vector<double> ranks;      // measured, ascending
  std::vector<SizeCurve> curves;  // [index of ranks]
  Interval interval;              // by bytes
  double law_half_width = 0.3;    // relative, where the law stands in for a curve
  std::string source;
};

struct LevelError {
  std::string family;
  double value = 0;  // one standard deviation, relative
  std::string source;
};

struct ProfileData {
  std::string device;  // DeviceType::name
  Origin origin = Origin::public_measurements;
  std::string measured;  // what was measured, and under which conditions
  std::vector<std::string> sources;

  std::vector<GemmModel> gemm;
  std::vector<RooflineModel> roofline;
  std::vector<GroupedGemmModel> grouped;       // empty: as batched products
  Factor sustained_gemm, sustained_attention;  // long training against the short bursts measured
  Factor input_gradient, weight_gradient, weight_gradient_fp32;  // against forward

  std::vector<AttentionModel> attention;
  std::vector<KernelFactor> kernels;
  Factor attention_backward;  // time against forward, at equal shape
  Factor attention_full;      // without mask against causal, at equal shape

  MemoryModel memory;
  std::vector<CollectiveModel> collectives;
  NetworkConstants network;
  std::string network_source;
  std::vector<LevelError> level_errors;
  std::vector<FitReport> reports;

  // Of a device that we measured ourselves; empty otherwise.
  std::vector<LayoutModel> layouts;
  Measurement measurement;
  bool is_measured() const { return !layouts.empty() || !measurement.cases.empty(); }
};

// Throws ProfileError naming the first value that cannot be: not finite, not positive, of the wrong
// count.
void check(const ProfileData& data);

std::unique_ptr<Profile> profile_of(ProfileData data, const DeviceType& device);

// Writes `data` at `file`, whole or not at all; the same data gives the same bytes. Throws
// ProfileError.
void write_profile(const std::filesystem::path& file, const ProfileData& data);
// The contents of a file, checked. Throws ProfileError.
ProfileData read_profile_data(const std::filesystem::path& file);

}  // namespace calibrate::profile
