// Fits of measured samples, with the errors that cross-validation finds.
#include "calibrate/profile/fit_measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"
#include "calibrate/profile/roofline.h"

namespace calibrate::profile {
namespace {

std::vector<GemmSample> gemm_samples(const Measurement& measurement, const std::string& operation) {
  std::vector<GemmSample> samples;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family != "gemm" || one.operation != operation) continue;
    samples.push_back(
        {{one.shape.at(0), one.shape.at(1), one.shape.at(2), 1}, median(one.seconds)});
  }
  return samples;
}

std::vector<MemorySample> memory_samples(const Measurement& measurement) {
  std::vector<MemorySample> samples;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family == "memory") samples.push_back({one.shape.at(0), median(one.seconds)});
  }
  return samples;
}

// [FLOP/s]. A little above the best that was seen: nothing may be predicted faster.
double peak_of(const std::vector<GemmSample>& samples) {
  double best = 0;
  for (const GemmSample& sample : samples) {
    best = std::max(best, sample.shape.flops() / sample.seconds);
  }
  return 1.05 * best;
}

void widen(Range& range, double value) {
  range.least = range.most == 0 ? value : std::min(range.least, value);
  range.most = std::max(range.most, value);
}

GemmModel gemm_of(const std::vector<GemmSample>& samples, Precision precision,
                  const GemmHardware& hardware, const std::string& family,
                  const std::string& source, std::vector<FitReport>& reports) {
  if (samples.size() < samples_fewest) {
    throw ProfileError{fmt::format("{} shapes of {}", samples.size(), family),
                       fmt::format("a fit needs at least {}", samples_fewest), "measure longer"};
  }
  const auto fit = [&](const std::vector<GemmSample>& chosen) {
    return fit_gemm(precision, hardware, chosen, false);
  };
  const auto residuals =
      cross_validated(samples, fit, [](const GemmModel& model, const GemmSample& sample) {
        return Residual{sample.shape.flops(),
                        burst_seconds(model, sample.shape) / sample.seconds - 1};
      });
  GemmModel model = fit(samples);
  for (const GemmSample& sample : samples) {
    widen(model.m, sample.shape.m);
    widen(model.n, sample.shape.n);
    widen(model.k, sample.shape.k);
    model.flops_most = std::max(model.flops_most, sample.shape.flops());
  }
  model.interval = interval_of({1e7, 1e8, 1e9, 1e10, 1e11, 1e12}, residuals);
  model.source = source;
  reports.push_back(report_of(family, source + ", five folds", samples.size(), residuals));
  return model;
}

MemoryModel memory_of(const std::vector<MemorySample>& samples, const std::string& source,
                      std::vector<FitReport>& reports) {
  if (samples.size() < 8) {
    throw ProfileError{fmt::format("{} sizes of memory operators", samples.size()),
                       "a fit needs at least 8", "measure longer"};
  }
  double least = INFINITY, best = 0, most = 0, at_most = 0;
  for (const MemorySample& sample : samples) {
    least = std::min(least, sample.seconds);
    best = std::max(best, sample.bytes / sample.seconds);
    if (sample.bytes < most) continue;
    most = sample.bytes;
    at_most = sample.bytes / sample.seconds;
  }
  std::vector<MemoryCurve<double>> starts;
  for (const double knee : {0.001, 0.01, 0.1}) {
    starts.push_back({least / 2, best, at_most, knee * most, 2});
  }
  const auto fit = [&](const std::vector<MemorySample>& chosen) {
    return fit_memory_curve(chosen, starts);
  };
  const auto residuals = cross_validated(
      samples, fit, [](const MemoryCurve<double>& curve, const MemorySample& sample) {
        return Residual{sample.bytes, memory_time(curve, sample.bytes) / sample.seconds - 1};
      });
  MemoryModel model;
  model.curve = fit(samples);
  model.bytes_most = most;
  model.interval = interval_of({1e5, 1e6, 1e7, 1e8}, residuals);
  model.source = source;
  reports.push_back(report_of("memory", source + ", five folds", samples.size(), residuals));
  return model;
}

// How far each operator lies from the curve that stands for all: beyond the fit, a level.
double add_operators(const MemoryModel& model, const Measurement& measurement,
                     std::vector<FitReport>& reports) {
  std::map<std::string, std::vector<Residual>> operators;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family != "memory") continue;
    const double bytes = one.shape.at(0);
    operators[one.operation].push_back(
        {bytes, memory_time(model.curve, bytes) / median(one.seconds) - 1});
  }
  double square = 0;
  for (const auto& [name, residuals] : operators) {
    reports.push_back(
        report_of("memory, " + name, "one curve for all operators", residuals.size(), residuals));
    square += std::pow(reports.back().bias, 2);
  }
  return std::sqrt(square / static_cast<double>(operators.size()));
}

std::vector<std::string> collectives_of(const Measurement& measurement, const std::string& source,
                                        double port, std::vector<CollectiveModel>& models,
                                        std::vector<FitReport>& reports) {
  std::map<std::string, std::map<double, CollectiveCurve>> kinds;
  for (const MeasuredCase& one : measurement.cases) {
    if (one.family != "collective") continue;
    kinds[one.operation][one.shape.at(0)][one.shape.at(1)].push_back(median(one.seconds));
  }
  std::vector<std::string> replaced;
  for (const auto& [kind, curves] : kinds) {
    for (const auto& [ranks, curve] : curves) {
      if (curve.size() >= 3) continue;
      throw ProfileError{fmt::format("{} sizes of {} over {} ranks", curve.size(), kind, ranks),
                         "a curve needs at least 3", "measure more sizes"};
    }
    const auto known = collective_kind_of(kind);
    if (!known) throw ProfileError{fmt::format("unknown collective '{}'", kind), "", ""};
    std::erase_if(models, [&](const CollectiveModel& model) { return model.kind == *known; });
    std::erase_if(reports,
                  [&](const FitReport& report) { return report.family.starts_with(kind + " "); });
    models.push_back(fit_collective(*known, curves, port, source, reports));
    replaced.push_back(kind);
  }
  return replaced;
}

// The precision of training that was measured: what stands for those that were not.
const GemmModel& main_of(const ProfileData& data) {
  for (const GemmModel& model : data.gemm) {
    if (model.precision == Precision::bf16) return model;
  }
  return data.gemm.front();
}

void add_assumptions(ProfileData& data, const MeasuredDevice& device) {
  const GemmModel& main = main_of(data);
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
    const bool is_known =
        std::any_of(data.gemm.begin(), data.gemm.end(),
                    [&](const GemmModel& model) { return model.precision == precision; });
    if (is_known) continue;
    data.roofline.push_back(
        {precision, main.hardware.peak, main.hardware.memory_rate, main.tile.launch,
         Factor{0.8, 0.3,
                data.gemm.size() == 1
                    ? fmt::format("assumed: runs as {}, the only type that was timed",
                                  name(main.precision))
                    : fmt::format("assumed: runs as {}, was not timed", name(main.precision))}});
  }
  const std::string own = "measured as it is";
  data.sustained_gemm = data.sustained_attention = {1, 0, own + ": " + device.load};
  if (const auto factor = sustained_factor(data.measurement)) {
    data.sustained_gemm = *factor;
    data.sustained_attention = {(1 + factor->value) / 2, 0.1,
                                "assumed: half of what products lose"};
  }
  data.input_gradient = data.weight_gradient = data.weight_gradient_fp32 = {1, 0, own};
  data.attention_backward = {2, 0.3, "assumed: twice the products"};
  data.attention_full = {1, 0, "assumed: a mask saves nothing"};
  data.network = default_network_constants();
  data.network_source = "assumed between hosts: tuning constants of NCCL, nothing was measured";
}

// A type that had no fit gets one where its forward products were measured.
void add_precisions(ProfileData& data, const Measurement& measurement) {
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp8}) {
    const auto samples = gemm_samples(measurement, fmt::format("{} forward", name(precision)));
    const bool is_known =
        std::any_of(data.gemm.begin(), data.gemm.end(),
                    [&](const GemmModel& model) { return model.precision == precision; });
    if (samples.empty() || is_known || data.gemm.empty()) continue;
    GemmModel model;
    model.precision = precision;
    model.hardware = main_of(data).hardware;
    model.hardware.peak = peak_of(samples);
    model.hardware.element = bytes_per_element(precision);
    data.gemm.push_back(std::move(model));
    std::erase_if(data.roofline,
                  [&](const RooflineModel& one) { return one.precision == precision; });
  }
}

// Products that the profile has a fit of, in the forward layout or another.
void replace_products(ProfileData& data, const Measurement& measurement, const std::string& source,
                      std::vector<std::string>& replaced) {
  std::vector<LayoutModel> layouts;
  add_precisions(data, measurement);
  for (GemmModel& model : data.gemm) {
    for (const Layout layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient}) {
      const std::string operation = fmt::format("{} {}", name(model.precision), name(layout));
      const auto samples = gemm_samples(measurement, operation);
      if (samples.empty()) continue;
      std::erase_if(data.reports, [&](const FitReport& report) {
        return report.family.starts_with("gemm " + operation);
      });
      GemmModel fitted = gemm_of(samples, model.precision, model.hardware, "gemm " + operation,
                                 source, data.reports);
      replaced.push_back("gemm " + operation);
      if (layout == Layout::forward) {
        model = std::move(fitted);
      } else {
        std::erase_if(data.layouts, [&](const LayoutModel& one) {
          return one.layout == layout && one.model.precision == fitted.precision;
        });
        layouts.push_back({layout, std::move(fitted)});
      }
    }
  }
  for (LayoutModel& one : layouts) data.layouts.push_back(std::move(one));
}

// Of every precision that was measured forward, and the layouts that were.
void add_products(ProfileData& data, const MeasuredDevice& device, double memory_rate,
                  const std::string& source) {
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
    for (const Layout layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient}) {
      const std::string operation = fmt::format("{} {}", name(precision), name(layout));
      const auto samples = gemm_samples(data.measurement, operation);
      // 16-bit types run alike; samples of fp16 are kept beside the fit of bf16.
      if (samples.empty() || precision == Precision::fp16) continue;
      const GemmHardware hardware{peak_of(samples), memory_rate, device.multiprocessors,
                                  bytes_per_element(precision)};
      GemmModel model =
          gemm_of(samples, precision, hardware, "gemm " + operation, source, data.reports);
      if (layout == Layout::forward) {
        data.gemm.push_back(std::move(model));
      } else {
        data.layouts.push_back({layout, std::move(model)});
      }
    }
  }
  if (data.gemm.empty()) {
    throw ProfileError{"no product of the forward layout was measured", "", "measure longer"};
  }
}

// New samples take the place of older ones of the same shapes.
void keep_samples(Measurement& all, Measurement measurement) {
  std::set<std::string> replaced;
  for (const MeasuredCase& one : measurement.cases) replaced.insert(describe(one));
  std::erase_if(all.cases,
                [&](const MeasuredCase& one) { return replaced.contains(describe(one)); });
  for (MeasuredCase& one : measurement.cases) all.cases.push_back(std::move(one));
  for (Fact& one : measurement.environment) all.environment.push_back(std::move(one));
}

}  // namespace

ProfileData fit_measured(const MeasuredDevice& device, Measurement measurement) {
  ProfileData data;
  data.device = device.name;
  data.origin = Origin::measured;
  data.measured = device.measured;
  data.sources = {"samples of this machine, kept in the file"};
  const std::string source = "measured here";
  double memory_rate = 0;
  const auto memory = memory_samples(measurement);
  for (const MemorySample& sample : memory) {
    memory_rate = std::max(memory_rate, sample.bytes / sample.seconds);
  }
  data.measurement = std::move(measurement);
  add_products(data, device, memory_rate, source);
  data.memory = memory_of(memory, source, data.reports);
  const double memory_level = add_operators(data.memory, data.measurement, data.reports);
  collectives_of(data.measurement, source, device.port > 0 ? device.port : memory_rate,
                 data.collectives, data.reports);
  add_assumptions(data, device);
  const auto attention =
      fit_measured_attention(data, data.measurement, main_of(data).hardware, source);
  data.level_errors = {
      {"gemm", device.level_error, "drift and repeatability while measuring"},
      attention.empty()
          ? LevelError{"attention", 0.2, "assumed: not timed"}
          : LevelError{"attention", device.level_error, "drift and repeatability while measuring"},
      {"memory", std::max(memory_level, device.level_error),
       "how far operators lie from the one curve"},
      {"collective", device.level_error, "drift and repeatability while measuring"}};
  check(data);
  return data;
}

void replace_fitted(ProfileData& data, Measurement measurement, const std::string& source) {
  std::vector<std::string> replaced = collectives_of(
      measurement, source, data.gemm.empty() ? 1e11 : data.gemm.front().hardware.memory_rate / 4,
      data.collectives, data.reports);
  replace_products(data, measurement, source, replaced);
  if (const auto factor = sustained_factor(measurement)) {
    data.sustained_gemm = *factor;
    replaced.emplace_back("sustained products");
  }
  if (!data.gemm.empty()) {
    for (const std::string& one :
         fit_measured_attention(data, measurement, main_of(data).hardware, source)) {
      replaced.push_back(one);
    }
  }
  const auto memory = memory_samples(measurement);
  if (!memory.empty()) {
    std::erase_if(data.reports,
                  [](const FitReport& report) { return report.family.starts_with("memory"); });
    data.memory = memory_of(memory, source, data.reports);
    replaced.emplace_back("memory");
  }
  const auto is_replaced = [&](const std::string& operation) {
    return std::find(replaced.begin(), replaced.end(), "gemm " + operation) != replaced.end();
  };
  for (const MeasuredCase& one : measurement.cases) {
    // 16-bit types run alike: samples of fp16 are kept beside the fit of bf16.
    const bool is_used = one.family != "gemm" || is_replaced(one.operation) ||
                         (one.operation == "fp16 forward" && is_replaced("bf16 forward"));
    if (is_used) continue;
    throw ProfileError{fmt::format("nothing takes samples of '{} {}'", one.family, one.operation),
                       "the profile has no such fit to replace", "take them out"};
  }
  data.sources.push_back(fmt::format("{}: {}", source, fmt::join(replaced, ", ")));
  keep_samples(data.measurement, std::move(measurement));
  check(data);
}

}  // namespace calibrate::profile
