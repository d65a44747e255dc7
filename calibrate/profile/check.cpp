// Whether the contents of a profile can be: finite, positive, of matching lengths, complete.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/profile/archive.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ProfileError{"a profile cannot hold what this one does", what, ""};
}

// Refuses numbers that are not finite, wherever they stand.
class Finite final : public Archive {
 public:
  void number(const char* name, const char*, double& value) override {
    if (!std::isfinite(value)) refuse(name);
  }
  void numbers(const char* name, const char*, std::vector<double>& values) override {
    for (const double value : values) {
      if (!std::isfinite(value)) refuse(name);
    }
  }
  void text(const char*, std::string&) override {}
  std::size_t length(std::size_t count) override { return count; }
  bool continues(bool wanted) override { return wanted; }
  void unknown_word(const char* name, const std::string&) override { refuse(name); }

 private:
  [[noreturn]] void refuse(const char* name) const {
    fail(fmt::format("'/{}' is not a finite number", path(name)));
  }
};

void positive(const std::string& where, std::initializer_list<double> values) {
  for (const double value : values) {
    if (value <= 0) fail(fmt::format("{} has a constant of {} that must be above 0", where, value));
  }
}

void non_negative(const std::string& where, std::initializer_list<double> values) {
  for (const double value : values) {
    if (value < 0)
      fail(fmt::format("{} has a constant of {} that must not be below 0", where, value));
  }
}

void check_interval(const std::string& where, const Interval& interval) {
  if (!interval.is_consistent()) fail(where + " has an interval of the wrong number of classes");
  for (const double width : interval.half_widths) non_negative(where, {width});
}

void check_gemm(const GemmModel& model) {
  const std::string where = fmt::format("gemm {}", name(model.precision));
  const GemmTile<double>& t = model.tile;
  positive(where, {model.hardware.peak, model.hardware.memory_rate, model.hardware.multiprocessors,
                   model.hardware.element, t.compute, t.load, t.memory, t.softness});
  non_negative(where, {t.launch, t.wave, t.quantisation, t.split, t.conversion});
  for (const double factor : t.factor) positive(where, {factor});
  if (!model.residual.is_consistent(7)) fail(where + " has a residual of the wrong size");
  check_interval(where, model.interval);
}

void check_grouped(const GroupedGemmModel& model) {
  const std::string where = "grouped gemm";
  const GroupedTile<double>& t = model.tile;
  positive(where, {model.hardware.peak, model.hardware.memory_rate, model.hardware.element,
                   t.compute, t.memory});
  non_negative(where, {model.hardware.launch, t.block, t.group, t.move, model.unseen_half_width});
  if (!model.residual.is_consistent(3)) fail(where + " has a residual of the wrong size");
  check_interval(where, model.interval);
}

void check_attention(const AttentionModel& model) {
  const std::string where = fmt::format("attention {} {}", name(model.kernel), model.head_size);
  const AttentionTile<double>& t = model.tile;
  positive(where, {model.head_size, model.peak, model.memory_rate, model.multiprocessors, t.compute,
                   t.memory});
  non_negative(where, {t.launch, t.block, t.quantisation});
  if (!model.residual.is_consistent(4)) fail(where + " has a residual of the wrong size");
  check_interval(where, model.interval);
}

void check_collective(const CollectiveModel& model) {
  const std::string where = name(model.kind);
  if (model.ranks.empty() || model.ranks.size() != model.curves.size() ||
      !std::is_sorted(model.ranks.begin(), model.ranks.end())) {
    fail(where + " does not have one curve for each of its ascending numbers of ranks");
  }
  for (const double ranks : model.ranks) positive(where, {ranks - 1});
  for (const SizeCurve& curve : model.curves) {
    if (!curve.is_consistent()) fail(where + " has a curve with missing or unordered knots");
  }
  positive(where, {model.law.rate, model.law.saturation});
  non_negative(where, {model.law.base, model.law.hop, model.law_half_width});
  check_interval(where, model.interval);
}

void check_case(const MeasuredCase& one) {
  if (one.shape.empty() || one.seconds.empty()) fail("a measured case has no shape or no sample");
  for (const double value : one.shape) positive(describe(one), {value});
  for (const double value : one.seconds) positive(describe(one), {value});
}

void check_complete(const ProfileData& data) {
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8}) {
    const bool fits = std::any_of(data.gemm.begin(), data.gemm.end(), [&](const GemmModel& model) {
      return model.precision == precision ||
             (model.precision == Precision::bf16 && precision == Precision::fp16);
    });
    const bool assumed =
        std::any_of(data.roofline.begin(), data.roofline.end(),
                    [&](const RooflineModel& model) { return model.precision == precision; });
    if (!fits && !assumed) fail(fmt::format("nothing answers for gemm {}", name(precision)));
  }
  // Without any, attention is answered as the products that it consists of.
  if (data.attention.empty() && data.is_measured()) return;
  const auto is_measured = [&](AttentionKernel kernel) {
    return std::any_of(data.attention.begin(), data.attention.end(),
                       [&](const AttentionModel& model) { return model.kernel == kernel; });
  };
  for (const AttentionKernel kernel : {AttentionKernel::flash2, AttentionKernel::flash3,
                                       AttentionKernel::cudnn, AttentionKernel::triton}) {
    AttentionKernel wanted = kernel;
    for (const KernelFactor& factor : data.kernels) {
      if (factor.kernel == kernel) wanted = factor.measured;
    }
    if (!is_measured(wanted)) fail(fmt::format("nothing answers for attention {}", name(kernel)));
  }
}

}  // namespace

void check(const ProfileData& data) {
  Finite finite;
  ProfileData copy = data;
  walk(finite, copy);
  for (const GemmModel& model : data.gemm) check_gemm(model);
  for (const LayoutModel& layout : data.layouts) check_gemm(layout.model);
  for (const MeasuredCase& one : data.measurement.cases) check_case(one);
  for (const RooflineModel& model : data.roofline) {
    positive("roofline", {model.peak, model.memory_rate, model.efficiency.value});
    non_negative("roofline", {model.launch});
  }
  for (const GroupedGemmModel& model : data.grouped) check_grouped(model);
  for (const AttentionModel& model : data.attention) check_attention(model);
  const MemoryCurve<double>& curve = data.memory.curve;
  positive("memory", {curve.cache, curve.memory, curve.knee});
  non_negative("memory", {curve.latency});
  check_interval("memory", data.memory.interval);
  for (const CollectiveModel& model : data.collectives) check_collective(model);
  for (const Factor* factor :
       {&data.sustained_gemm, &data.sustained_attention, &data.input_gradient,
        &data.weight_gradient, &data.weight_gradient_fp32, &data.attention_backward,
        &data.attention_full}) {
    positive("factors", {factor->value});
  }
  positive("network", {data.network.efficiency, data.network.intra_efficiency});
  check_complete(data);
}

}  // namespace calibrate::profile
