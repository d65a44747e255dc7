// A profile that answers from fitted models.
#include "calibrate/profile/fitted_profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "calibrate/profile/assumed_network.h"
#include "calibrate/profile/names.h"
#include "calibrate/profile/notes.h"
#include "calibrate/profile/roofline.h"
#include "sim/base/invariant.h"

namespace calibrate::profile {
namespace {

// Outside what was measured an interval is taken twice as wide. Assumed: fits cut
// short of the largest sizes erred there by 1.1 to 3 times the interpolated errors.
constexpr double outside_widening = 2;
const Factor no_factor;

bool is_inside(const GemmModel& model, const GemmShape& shape) {
  return shape.batch == 1 && model.m.holds(shape.m) && model.n.holds(shape.n) &&
         model.k.holds(shape.k) && shape.flops() <= 2 * model.flops_most;
}

bool is_inside(const GroupedGemmModel& model, const GroupedShape& shape) {
  return shape.imbalance == 1 && model.rows.holds(shape.rows / shape.groups) &&
         model.groups.holds(shape.groups) && model.widths.holds(shape.n) &&
         model.widths.holds(shape.k);
}

double limited(double correction) {
  return std::clamp(correction, -std::log1p(correction_most), std::log1p(correction_most));
}

bool is_inside(const AttentionModel& model, const AttentionShape& shape) {
  return model.length.holds(std::sqrt(2 * shape.pairs)) &&
         model.blocks.holds(shape.sequences * shape.heads) && shape.queries == shape.keys;
}

double combined(double a, double b, double c = 0) { return std::sqrt(a * a + b * b + c * c); }

struct RanksCurve {
  SizeCurve curve;
  bool is_measured = true;
};

// A number of ranks without a curve: the nearest one's, times the ratio of the ring law.
SizeCurve curve_by_law(const CollectiveModel& model, double ranks) {
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < model.ranks.size(); ++i) {
    const double here = std::abs(std::log(model.ranks[i] / ranks));
    if (here <= std::abs(std::log(model.ranks[nearest] / ranks))) nearest = i;
  }
  const SizeCurve& curve = model.curves[nearest];
  std::vector<double> bytes, seconds;
  for (std::size_t i = 0; i < curve.log_bytes.size(); ++i) {
    bytes.push_back(std::exp(curve.log_bytes[i]));
    seconds.push_back(std::exp(curve.log_seconds[i]) *
                      ring_time(model.law, model.kind, ranks, bytes.back()) /
                      ring_time(model.law, model.kind, model.ranks[nearest], bytes.back()));
  }
  return size_curve(bytes, seconds);
}

// From 2 ranks to the most that were measured.
std::map<int, RanksCurve> all_curves(const CollectiveModel& model) {
  std::map<int, RanksCurve> curves;
  for (std::size_t i = 0; i < model.ranks.size(); ++i) {
    curves[static_cast<int>(model.ranks[i])] = {model.curves[i], true};
  }
  for (int ranks = 2; ranks < static_cast<int>(model.ranks.back()); ++ranks) {
    if (!curves.contains(ranks)) curves[ranks] = {curve_by_law(model, ranks), false};
  }
  return curves;
}

class FittedProfile final : public Profile {
 public:
  FittedProfile(ProfileData data, DeviceType device)
      : data_(std::move(data)), device_(std::move(device)) {
    for (const CollectiveModel& model : data_.collectives) curves_.push_back(all_curves(model));
    add_assumed(data_.network, device_.name);
  }

  const DeviceType& device() const override { return device_; }
  Origin origin() const override { return data_.origin; }
  Answer gemm(const GemmQuestion& question) const override;
  Answer grouped_gemm(const GroupedGemmQuestion& question) const override;
  Answer attention(const AttentionQuestion& question) const override;
  Answer memory(const MemoryQuestion& question) const override;
  bool has_collective(const CollectiveQuestion& question) const override;
  Answer collective(const CollectiveQuestion& question) const override;
  NetworkConstants network() const override { return data_.network; }
  double level_error(const std::string& family) const override;
  std::vector<FitReport> reports() const override { return data_.reports; }
  std::vector<std::string> notes() const override;

 private:
  const Factor& layout_factor(Layout layout, bool accumulates_fp32) const;
  const GemmModel* gemm_model(const GemmQuestion& question) const;
  Answer batched(const GroupedGemmQuestion& question) const;
  Answer unfused(const AttentionQuestion& question) const;
  Answer roofline(const RooflineModel& model, const GemmQuestion& question) const;
  std::optional<std::size_t> collective_index(const CollectiveQuestion& question) const;

  ProfileData data_;
  DeviceType device_;
  std::vector<std::map<int, RanksCurve>> curves_;  // [index of data_.collectives]
};

const Factor& FittedProfile::layout_factor(Layout layout, bool accumulates_fp32) const {
  if (accumulates_fp32) return data_.weight_gradient_fp32;
  if (layout == Layout::input_gradient) return data_.input_gradient;
  return layout == Layout::weight_gradient ? data_.weight_gradient : no_factor;
}

Answer FittedProfile::roofline(const RooflineModel& model, const GemmQuestion& question) const {
  const double compute = gemm_flops(question) / (model.peak * model.efficiency.value);
  const double traffic = gemm_bytes(question) / model.memory_rate;
  return {Seconds(model.launch + std::max(compute, traffic)), model.efficiency.spread, true};
}

const GemmModel* FittedProfile::gemm_model(const GemmQuestion& question) const {
  const Precision measured =
      question.precision == Precision::fp16 ? Precision::bf16 : question.precision;
  for (const LayoutModel& candidate : data_.layouts) {
    const bool is_asked = candidate.layout == question.layout;
    if (is_asked && candidate.model.precision == measured) return &candidate.model;
  }
  const GemmModel* model = nullptr;
  for (const GemmModel& candidate : data_.gemm) {
    if (candidate.precision == measured) model = &candidate;
  }
  return model;
}

Answer FittedProfile::gemm(const GemmQuestion& question) const {
  if (gemm_flops(question) <= 0) return {};
  const GemmModel* model = gemm_model(question);
  if (!model) {
    for (const RooflineModel& candidate : data_.roofline) {
      if (candidate.precision == question.precision) return roofline(candidate, question);
    }
    sim::bug("a checked profile answers for every precision");
  }
  const GemmShape shape{static_cast<double>(question.m), static_cast<double>(question.n),
                        static_cast<double>(question.k), static_cast<double>(question.batch)};
  // The conversion of the left input is an operator of its own in a training step: taken out again.
  const double with = gemm_time(model->tile, model->hardware, shape);
  const double conversion =
      conversion_taken_out(*model) * model->hardware.element * shape.m * shape.k * shape.batch;
  const double burst = burst_seconds(*model, shape) * (1 - conversion / with);
  const bool is_own_layout =
      std::any_of(data_.layouts.begin(), data_.layouts.end(),
                  [&](const LayoutModel& one) { return &one.model == model; });
  const Factor& layout =
      is_own_layout ? no_factor : layout_factor(question.layout, question.accumulates_fp32);
  const double launch = std::min(model->tile.launch, burst);
  const double time = launch + (burst - launch) * data_.sustained_gemm.value * layout.value;
  const bool inside = is_inside(*model, shape);
  const double width = combined(model->interval.at(shape.flops()), layout.spread);
  return {Seconds(std::max(time, shape.flops() / model->hardware.peak)),
          inside ? width : width * outside_widening, !inside};
}

// Groups of equal size are a batch of products; so are unequal ones by their mean.
Answer FittedProfile::batched(const GroupedGemmQuestion& question) const {
  const std::int64_t rows = (question.rows + question.groups - 1) / question.groups;
  GemmQuestion one{.m = rows,
                   .n = question.n,
                   .k = question.k,
                   .batch = question.groups,
                   .precision = question.precision,
                   .layout = question.layout,
                   .accumulates_fp32 = question.accumulates_fp32};
  if (question.layout == Layout::weight_gradient) {
    one.m = question.n;
    one.n = question.k;
    one.k = rows;
  }
  return gemm(one);
}

Answer FittedProfile::grouped_gemm(const GroupedGemmQuestion& question) const {
  if (grouped_flops(question) <= 0) return {};
  const bool is_half =
      question.precision == Precision::bf16 || question.precision == Precision::fp16;
  if (data_.grouped.empty() || !is_half) return batched(question);
  const GroupedGemmModel& model = data_.grouped.front();
  const GroupedShape shape{static_cast<double>(question.groups), static_cast<double>(question.rows),
                           static_cast<double>(question.n), static_cast<double>(question.k),
                           question.imbalance};
  const Factor& layout = layout_factor(question.layout, question.accumulates_fp32);
  const double burst = burst_seconds(model, shape);
  const double launch = std::min(model.hardware.launch, burst);
  const double time = launch + (burst - launch) * data_.sustained_gemm.value * layout.value;
  const bool inside = is_inside(model, shape);
  const double width =
      combined(std::max(model.interval.at(shape.flops()), model.unseen_half_width), layout.spread);
  return {Seconds(std::max(time, shape.flops() / model.hardware.peak)),
          inside ? width : width * outside_widening, !inside};
}

// No kernel was timed: the products that attention consists of, one after another, with the scores
// written and read between them. A mask saves nothing.
Answer FittedProfile::unfused(const AttentionQuestion& question) const {
  GemmQuestion scores{.m = question.query_length,
                      .n = question.key_length,
                      .k = question.head_size,
                      .batch = question.sequences * question.query_heads,
                      .precision = question.precision};
  GemmQuestion values = scores;
  values.n = question.value_head_size > 0 ? question.value_head_size : question.head_size;
  values.k = question.key_length;
  const double elements = static_cast<double>(scores.m * scores.n * scores.batch);
  const double softmax =
      memory({2 * bytes_per_element(question.precision) * elements}).duration.value();
  const double forward = gemm(scores).duration.value() + gemm(values).duration.value() + softmax;
  // Backward: two products for each of the two, and the softmax again.
  constexpr double assumed_half_width = 0.3;
  return {Seconds(question.backward ? 2 * forward : forward), assumed_half_width, true};
}

Answer FittedProfile::attention(const AttentionQuestion& question) const {
  if (attention_flops(question) <= 0) return {};
  if (data_.attention.empty()) return unfused(question);
  Factor kernel;
  AttentionKernel wanted = question.kernel;
  for (const KernelFactor& candidate : data_.kernels) {
    if (candidate.kernel != question.kernel) continue;
    kernel = candidate.factor;
    wanted = candidate.measured;
  }
  const AttentionModel* model = nullptr;
  const auto distance = [&](const AttentionModel& candidate) {
    return std::abs(std::log(attention_shape(question).head_size / candidate.head_size));
  };
  for (const AttentionModel& candidate : data_.attention) {
    if (candidate.kernel != wanted) continue;
    if (!model || distance(candidate) < distance(*model)) model = &candidate;
  }
  sim::invariant(model != nullptr, "a checked profile answers for every attention kernel");
  const AttentionShape shape = attention_shape(question);
  double time = burst_seconds(*model, shape) * kernel.value * data_.sustained_attention.value;
  double spread = kernel.spread;
  if (!question.causal) {
    time *= data_.attention_full.value;
    spread = combined(spread, data_.attention_full.spread);
  }
  if (question.backward) {
    time *= data_.attention_backward.value;
    spread = combined(spread, data_.attention_backward.spread);
  }
  const bool is_half =
      question.precision == Precision::bf16 || question.precision == Precision::fp16;
  const bool inside = is_inside(*model, shape) && distance(*model) == 0 && is_half;
  const double width = combined(model->interval.at(shape.flops()), spread);
  return {Seconds(std::max(time, attention_flops(question) / model->peak)),
          inside ? width : width * outside_widening, !inside};
}

Answer FittedProfile::memory(const MemoryQuestion& question) const {
  if (question.bytes <= 0) return {};
  const bool inside = question.bytes <= 2 * data_.memory.bytes_most;
  // Beyond the largest size the curve is a straight line: no wider interval.
  return {Seconds(memory_time(data_.memory.curve, question.bytes)),
          data_.memory.interval.at(question.bytes), !inside};
}

std::optional<std::size_t> FittedProfile::collective_index(
    const CollectiveQuestion& question) const {
  for (std::size_t i = 0; i < data_.collectives.size(); ++i) {
    if (data_.collectives[i].kind == question.kind && curves_[i].contains(question.ranks)) return i;
  }
  return std::nullopt;
}

bool FittedProfile::has_collective(const CollectiveQuestion& question) const {
  return collective_index(question).has_value();
}

Answer FittedProfile::collective(const CollectiveQuestion& question) const {
  const std::optional<std::size_t> index = collective_index(question);
  sim::invariant(index.has_value(), "a collective is asked for where there is one");
  const CollectiveModel& model = data_.collectives[*index];
  const RanksCurve& ranks = curves_[*index].at(question.ranks);
  const double bytes = std::max(question.bytes, 1.0), width = model.interval.at(bytes);
  return {Seconds(ranks.curve.seconds(bytes)),
          ranks.is_measured ? width : combined(width, model.law_half_width),
          !ranks.is_measured || ranks.curve.is_outside(bytes)};
}

std::vector<std::string> FittedProfile::notes() const {
  std::vector<std::string> notes = notes_of(data_);
  notes.push_back(nvls_note(data_.network));
  return notes;
}

double FittedProfile::level_error(const std::string& family) const {
  for (const LevelError& level : data_.level_errors) {
    if (level.family == family) return level.value;
  }
  return 0;
}

}  // namespace

double conversion_taken_out(const GemmModel& model) {
  constexpr double bytes_moved = 2 + 2 + 1, memory_share = 0.9;
  return std::min(model.tile.conversion, bytes_moved / (memory_share * model.hardware.memory_rate));
}

std::array<double, 4> attention_features(const AttentionShape& shape) {
  return {std::log(shape.sequences * shape.heads), 0.5 * std::log(2 * shape.pairs),
          std::log(shape.heads / shape.kv_heads), std::log(shape.heads)};
}

double burst_seconds(const GemmModel& model, const GemmShape& shape) {
  const auto features = gemm_features(shape, model.hardware.multiprocessors);
  return gemm_time(model.tile, model.hardware, shape) *
         std::exp(limited(model.residual.mean(features)));
}

double burst_seconds(const GroupedGemmModel& model, const ExpertBlock& block) {
  const auto features = grouped_features(block);
  return block_time(model.tile, model.hardware, block) *
         std::exp(limited(model.residual.mean(features)));
}

double burst_seconds(const GroupedGemmModel& model, const GroupedShape& shape) {
  const auto features = grouped_features(shape);
  return grouped_time(model.tile, model.hardware, shape) *
         std::exp(limited(model.residual.mean(features)));
}

double burst_seconds(const AttentionModel& model, const AttentionShape& shape) {
  const auto features = attention_features(shape);
  return attention_time(model.tile, model.peak, model.memory_rate, model.multiprocessors, shape) *
         std::exp(limited(model.residual.mean(features)));
}

AttentionShape attention_shape(const AttentionQuestion& question) {
  AttentionQuestion causal = question;
  causal.backward = false;
  AttentionShape shape;
  shape.sequences = static_cast<double>(question.sequences);
  shape.heads = static_cast<double>(question.query_heads);
  shape.kv_heads = static_cast<double>(question.kv_heads);
  shape.queries = static_cast<double>(question.query_length);
  shape.keys = static_cast<double>(question.key_length);
  // The mean of both products where values are narrower than queries and keys.
  const std::int64_t value_size =
      question.value_head_size > 0 ? question.value_head_size : question.head_size;
  shape.head_size = static_cast<double>(question.head_size + value_size) / 2;
  // What is fitted is causal; without a mask the same square holds twice the pairs.
  shape.pairs = question.causal ? attention_pairs(causal) : shape.queries * shape.keys / 2;
  shape.bytes = attention_bytes(causal);
  return shape;
}

std::unique_ptr<Profile> profile_of(ProfileData data, const DeviceType& device) {
  check(data);
  return std::make_unique<FittedProfile>(std::move(data), device);
}

}  // namespace calibrate::profile
