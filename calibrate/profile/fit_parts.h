// The steps of fitting a profile, one a family. Every one is deterministic.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

// What is known of a device before any fit, and which rows of the tables are its own.
struct PublicDevice {
  std::string name;                                  // DeviceType::name
  std::string system;                                // in the tables of aiconfigurator
  double peak_bf16, peak_fp8, peak_tf32, peak_fp32;  // [FLOP/s]; 0: no such units
  double memory_rate, l2;                            // [byte/s], [byte]
  double multiprocessors;
  double port;                         // [byte/s], one way, of the scale-up domain
  std::string gemm_file, gemm_column;  // bf16
  std::string fp8_column;              // empty: none
  AttentionKernel attention;
  std::string log_device;     // prefix in the logs of nccl-tests
  std::string simumax;        // file of training shapes; empty: none of this architecture
  std::string expert_kernel;  // how the source of the kernel ends; empty: none was timed
};
const PublicDevice* public_device(const std::string& name);
std::vector<std::string> public_device_names();

// A measured time beside a fitted one.
struct Residual {
  double size;   // FLOPs or bytes
  double error;  // fitted / measured - 1
};
// 80 % half-widths by class, from held-out residuals. A class of fewer than 8 points joins the
// next.
Interval interval_of(const std::vector<double>& bounds, const std::vector<Residual>& residuals);
FitReport report_of(std::string family, std::string source, std::size_t samples,
                    const std::vector<Residual>& residuals);
// Quantile `p` of values by rank ceil(p (n + 1)), the conformal one. REQUIRES: not empty.
double quantile(std::vector<double> values, double p);
// Mean of the two middle values where their number is even. REQUIRES: not empty.
double median(std::vector<double> values);

// Point `index` of the Halton sequence in `dimension` (at most 5), in (0, 1).
double halton(std::size_t index, std::size_t dimension);

struct GemmSample {
  GemmShape shape;
  double seconds;
};
// Fits tile constants, then the correction, on `chosen` of `samples`.
GemmModel fit_gemm(Precision precision, const GemmHardware& hardware,
                   const std::vector<GemmSample>& chosen, bool converts_input);

struct AttentionSample {
  AttentionShape shape;
  double seconds;
};
// Tile and correction of `model`, whose device is set.
void fit_attention(AttentionModel& model, const std::vector<AttentionSample>& chosen);
void set_limits(AttentionModel& model, const std::vector<AttentionSample>& samples);

// Fits without one fold of five after another; what each gets wrong of its own fold. `error` gives
// the Residual of a sample under the model that `fit` made of the others.
template <class Sample, class Fit, class Error>
std::vector<Residual> cross_validated(const std::vector<Sample>& samples, Fit fit, Error error) {
  constexpr std::size_t folds = 5;
  std::vector<Residual> residuals;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<Sample> others;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % folds != fold) others.push_back(samples[i]);
    }
    const auto model = fit(others);
    for (std::size_t i = fold; i < samples.size(); i += folds) {
      residuals.push_back(error(model, samples[i]));
    }
  }
  return residuals;
}
// Fewer shapes than that are not fitted.
inline constexpr std::size_t samples_fewest = 20;

// Models of every kernel and head size in `measurement`, in place of those that `data` has; and
// what backward passes and no mask cost, where both were measured at equal shapes. Kernels that
// nothing was measured of are answered as one that was. Returns what was fitted.
std::vector<std::string> fit_measured_attention(ProfileData& data, const Measurement& measurement,
                                                const GemmHardware& hardware,
                                                const std::string& source);
// Times at full load over times in short batches of the same products; none: nothing.
std::optional<Factor> sustained_factor(const Measurement& measurement);

struct MemorySample {
  double bytes, seconds;
};
// The best of the fits from each start. REQUIRES: not empty.
MemoryCurve<double> fit_memory_curve(const std::vector<MemorySample>& chosen,
                                     const std::vector<MemoryCurve<double>>& starts);

// bytes -> seconds of every repeat.
using CollectiveCurve = std::map<double, std::vector<double>>;
// Of one operation; `curves` by number of ranks, at least three sizes each; `port`: [byte/s], where
// the fit of the law starts. Adds a report for each band of sizes, with every second one left out.
CollectiveModel fit_collective(CollectiveKind kind, const std::map<double, CollectiveCurve>& curves,
                               double port, const std::string& source,
                               std::vector<FitReport>& reports);

struct ExpertSample {
  ExpertBlock block;
  double seconds = 0;
  double transformer_inner = 0;  // of an expert, before it is cut
};

void add_gemm(ProfileData& data, const PublicDevice& device, const std::filesystem::path& folder);
void add_attention(ProfileData& data, const PublicDevice& device,
                   const std::filesystem::path& folder);
// REQUIRES: add_gemm() was called.
void add_experts(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder);
void add_memory(ProfileData& data, const PublicDevice& device, const std::filesystem::path& folder);
void add_collectives(ProfileData& data, const PublicDevice& device,
                     const std::filesystem::path& folder);
void add_network(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder);
// Layouts, sustained levels, attention directions and kernels: constants with their sources.
void add_factors(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder);

}  // namespace calibrate::profile
