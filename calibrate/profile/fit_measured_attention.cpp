// Attention and sustained products from samples that we, or a user, measured.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

// "flash3 backward full" taken apart.
struct AttentionOperation {
  std::string kernel, direction;
  bool is_full = false;
};

AttentionOperation taken_apart(const std::string& operation) {
  const std::size_t first = operation.find(' '), second = operation.find(' ', first + 1);
  AttentionOperation parts;
  parts.kernel = operation.substr(0, first);
  parts.direction = operation.substr(first + 1, second - first - 1);
  parts.is_full = second != std::string::npos;
  return parts;
}

AttentionShape shape_of(const MeasuredCase& one, bool causal) {
  AttentionQuestion question;
  question.sequences = static_cast<std::int64_t>(one.shape.at(0));
  question.query_heads = static_cast<std::int64_t>(one.shape.at(1));
  question.kv_heads = static_cast<std::int64_t>(one.shape.at(2));
  question.query_length = question.key_length = static_cast<std::int64_t>(one.shape.at(3));
  question.head_size = static_cast<std::int64_t>(one.shape.at(4));
  question.causal = causal;
  return attention_shape(question);
}

// Median and spread of times over times of another operation at equal shapes.
std::optional<Factor> ratio(const Measurement& measurement, const std::string& upper,
                            const std::string& lower_family, const std::string& lower,
                            const std::string& upper_family, const std::string& source) {
  std::vector<double> ratios;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family != upper_family || one.operation != upper) continue;
    for (const MeasuredCase& other : measurement.cases) {
      if (other.family != lower_family || other.operation != lower || other.shape != one.shape) {
        continue;
      }
      ratios.push_back(median(one.seconds) / median(other.seconds));
    }
  }
  if (ratios.empty()) return std::nullopt;
  const double middle = median(ratios);
  constexpr double least = 0.02;
  const double spread =
      std::max({least, quantile(ratios, 0.9) / middle - 1, 1 - quantile(ratios, 0.1) / middle});
  return Factor{middle, spread, fmt::format("{}, {} shapes", source, ratios.size())};
}

AttentionModel model_of(AttentionKernel kernel, double head_size,
                        const std::vector<AttentionSample>& samples, const GemmHardware& hardware,
                        const std::string& source, std::vector<FitReport>& reports) {
  const std::string family = fmt::format("attention {} head {} forward", name(kernel), head_size);
  if (samples.size() < samples_fewest) {
    throw ProfileError{fmt::format("{} shapes of {}", samples.size(), family),
                       fmt::format("a fit needs at least {}", samples_fewest), "measure more"};
  }
  AttentionModel empty;
  empty.kernel = kernel;
  empty.head_size = head_size;
  empty.peak = hardware.peak;
  empty.memory_rate = hardware.memory_rate;
  empty.multiprocessors = hardware.multiprocessors;
  empty.source = source;
  const auto fit = [&](const std::vector<AttentionSample>& chosen) {
    AttentionModel model = empty;
    fit_attention(model, chosen);
    return model;
  };
  const auto residuals =
      cross_validated(samples, fit, [](const AttentionModel& model, const AttentionSample& sample) {
        return Residual{sample.shape.flops(),
                        burst_seconds(model, sample.shape) / sample.seconds - 1};
      });
  AttentionModel model = fit(samples);
  set_limits(model, samples);
  model.interval = interval_of({1e10, 1e11, 1e12}, residuals);
  reports.push_back(report_of(family, source + ", five folds", samples.size(), residuals));
  return model;
}

// Every kernel has an answer: those without samples, the one that has.
void add_missing_kernels(ProfileData& data) {
  const auto is_measured = [&](AttentionKernel kernel) {
    return std::any_of(data.attention.begin(), data.attention.end(),
                       [&](const AttentionModel& model) { return model.kernel == kernel; });
  };
  std::erase_if(data.kernels,
                [&](const KernelFactor& factor) { return is_measured(factor.kernel); });
  for (const AttentionKernel kernel : {AttentionKernel::flash2, AttentionKernel::flash3,
                                       AttentionKernel::cudnn, AttentionKernel::triton}) {
    const bool is_known =
        is_measured(kernel) ||
        std::any_of(data.kernels.begin(), data.kernels.end(),
                    [&](const KernelFactor& factor) { return factor.kernel == kernel; });
    if (is_known) continue;
    const AttentionKernel measured = data.attention.front().kernel;
    data.kernels.push_back(
        {kernel, measured, Factor{1, 0.3, fmt::format("assumed: as {}", name(measured))}});
  }
}

}  // namespace

std::vector<std::string> fit_measured_attention(ProfileData& data, const Measurement& measurement,
                                                const GemmHardware& hardware,
                                                const std::string& source) {
  std::map<std::pair<AttentionKernel, double>, std::vector<AttentionSample>> kinds;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family != "attention") continue;
    const AttentionOperation operation = taken_apart(one.operation);
    const auto kernel = attention_kernel_of(operation.kernel);
    if (!kernel) {
      throw ProfileError{fmt::format("unknown attention kernel '{}'", operation.kernel), "", ""};
    }
    if (operation.direction != "forward" || operation.is_full) continue;
    kinds[{*kernel, one.shape.at(4)}].push_back({shape_of(one, true), median(one.seconds)});
  }
  const bool has_any =
      std::any_of(measurement.cases.begin(), measurement.cases.end(),
                  [](const MeasuredCase& one) { return one.family == "attention"; });
  if (has_any && kinds.empty()) {
    throw ProfileError{"attention was measured backward or without a mask only",
                       "these are fitted as factors of the causal forward pass",
                       "add forward samples of the same shapes"};
  }
  std::vector<std::string> fitted;
  for (const auto& [kind, samples] : kinds) {
    const auto& [kernel, head_size] = kind;
    const std::string family = fmt::format("attention {} head {}", name(kernel), head_size);
    std::erase_if(data.reports,
                  [&](const FitReport& report) { return report.family.starts_with(family + " "); });
    std::erase_if(data.attention, [&, kernel = kernel, size = head_size](const auto& model) {
      return model.kernel == kernel && model.head_size == size;
    });
    data.attention.push_back(model_of(kernel, head_size, samples, hardware, source, data.reports));
    fitted.push_back(family);
  }
  if (kinds.empty()) return fitted;
  add_missing_kernels(data);
  const std::string kernel = name(kinds.begin()->first.first);
  const auto against = [&](const std::string& upper) {
    return ratio(measurement, kernel + " " + upper, "attention", kernel + " forward", "attention",
                 source);
  };
  if (const auto factor = against("backward")) data.attention_backward = *factor;
  if (const auto factor = against("forward full")) data.attention_full = *factor;
  return fitted;
}

std::optional<Factor> sustained_factor(const Measurement& measurement) {
  return ratio(measurement, "bf16 forward", "gemm", "bf16 forward", "sustained",
               "measured: at full load for seconds, against short batches");
}

}  // namespace calibrate::profile
