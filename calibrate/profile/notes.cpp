// What a person should know about a profile: sources, constants, limits.
#include "calibrate/profile/notes.h"

#include <fmt/format.h>

#include <cmath>

#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

std::string factor_note(const char* label, const Factor& factor) {
  return fmt::format("{} x {:.3g} (+- {:.0f} %): {}", label, factor.value, 100 * factor.spread,
                     factor.source);
}

std::string range_text(const Range& range) {
  return fmt::format("{:.0f}..{:.0f}", range.least, range.most);
}

void add_limits(const ProfileData& data, std::vector<std::string>& notes) {
  for (const GemmModel& model : data.gemm) {
    notes.push_back(fmt::format("limits gemm {}: m {}, n {}, k {}, up to {:.3g} TFLOP",
                                name(model.precision), range_text(model.m), range_text(model.n),
                                range_text(model.k), model.flops_most * 1e-12));
    if (model.tile.conversion > 0) {
      notes.push_back(fmt::format(
          "gemm {}: conversion of the left input was part of what was timed ({:.3g} ms a GB by the "
          "fit); {:.3g} ms a GB is taken out of the answers",
          name(model.precision), 1e12 * model.tile.conversion, 1e12 * conversion_taken_out(model)));
    }
  }
  for (const GroupedGemmModel& model : data.grouped) {
    notes.push_back(fmt::format(
        "limits grouped gemm: rows of a group {}, groups {}, n and k {}; whole blocks of experts "
        "with an even routing were timed, +- {:.0f} % on shapes of which none was fitted",
        range_text(model.rows), range_text(model.groups), range_text(model.widths),
        100 * model.unseen_half_width));
  }
  if (data.grouped.empty()) {
    notes.emplace_back("grouped gemm: not timed; answered as batched products of equal groups");
  }
  for (const AttentionModel& model : data.attention) {
    notes.push_back(fmt::format("limits attention {} head size {}: length {}, sequences x heads {}",
                                name(model.kernel), model.head_size, range_text(model.length),
                                range_text(model.blocks)));
  }
  if (data.attention.empty()) {
    notes.emplace_back(
        "attention: not timed; answered as its products and a pass over the scores, +- 30 %");
  }
  for (const CollectiveModel& model : data.collectives) {
    std::string ranks;
    for (const double count : model.ranks) ranks += fmt::format(" {}", count);
    notes.push_back(fmt::format("limits {}: ranks{}, up to {:.0f} MiB", name(model.kind), ranks,
                                std::exp(model.curves.back().log_bytes.back()) / (1024 * 1024)));
  }
}

}  // namespace

std::vector<std::string> notes_of(const ProfileData& data) {
  std::vector<std::string> notes{"measured: " + data.measured};
  for (const std::string& source : data.sources) notes.push_back("source: " + source);
  notes.push_back(factor_note("sustained gemm", data.sustained_gemm));
  notes.push_back(factor_note("sustained attention", data.sustained_attention));
  notes.push_back(factor_note("gemm input gradient", data.input_gradient));
  notes.push_back(factor_note("gemm weight gradient", data.weight_gradient));
  notes.push_back(factor_note("gemm weight gradient, fp32 sum", data.weight_gradient_fp32));
  notes.push_back(factor_note("attention backward / forward", data.attention_backward));
  notes.push_back(factor_note("attention full / causal", data.attention_full));
  for (const KernelFactor& kernel : data.kernels) {
    notes.push_back(factor_note(
        fmt::format("attention {} / {}", name(kernel.kernel), name(kernel.measured)).c_str(),
        kernel.factor));
  }
  for (const RooflineModel& model : data.roofline) {
    notes.push_back(fmt::format("gemm {}: roofline at {:.2g} of {:.4g} TFLOP/s (+- {:.0f} %): {}",
                                name(model.precision), model.efficiency.value, model.peak * 1e-12,
                                100 * model.efficiency.spread, model.efficiency.source));
  }
  notes.push_back("memory: " + data.memory.source);
  notes.push_back("network: " + data.network_source);
  for (const LevelError& level : data.level_errors) {
    notes.push_back(
        fmt::format("level error {} {:.1f} %: {}", level.family, 100 * level.value, level.source));
  }
  add_limits(data, notes);
  for (const Fact& fact : data.measurement.environment) {
    notes.push_back(fmt::format("environment {}: {}", fact.name, fact.value));
  }
  if (!data.measurement.cases.empty()) {
    notes.push_back(
        fmt::format("raw samples of {} shapes are in the file", data.measurement.cases.size()));
  }
  return notes;
}

}  // namespace calibrate::profile
