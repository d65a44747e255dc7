// Attention from public tables: one fit per head size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

constexpr std::size_t fitted_most = 400;

std::vector<AttentionSample> samples_of(const Table& table, const std::string& system,
                                        double head_size) {
  const std::size_t system_column = table.column("system"), batch = table.column("batch_size"),
                    length = table.column("isl"), heads = table.column("num_heads"),
                    kv_heads = table.column("num_key_value_heads"), head = table.column("head_dim"),
                    time = table.column("time_us");
  std::vector<AttentionSample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, system_column) != system || table.number(row, head) != head_size) continue;
    const auto whole = [&](std::size_t column) {
      return static_cast<std::int64_t>(table.number(row, column).value_or(0));
    };
    AttentionQuestion question;
    question.sequences = whole(batch);
    question.query_heads = whole(heads);
    question.kv_heads = whole(kv_heads);
    question.query_length = question.key_length = whole(length);
    question.head_size = static_cast<std::int64_t>(head_size);
    samples.push_back({attention_shape(question), table.number(row, time).value_or(0) * 1e-6});
  }
  return samples;
}

}  // namespace

void add_attention(ProfileData& data, const PublicDevice& device,
                   const std::filesystem::path& folder) {
  const std::string file = "context_attention_bf16_aiconfigurator.csv";
  const Table table(folder / "attention" / file);
  for (const double head_size : {64.0, 128.0}) {
    const std::vector<AttentionSample> samples = samples_of(table, device.system, head_size);
    if (samples.empty()) continue;
    std::vector<AttentionSample> chosen;
    std::vector<AttentionSample> rest;
    // A fixed scatter over the rows: those with the smallest golden-ratio fraction of their number.
    const double share = static_cast<double>(fitted_most) / static_cast<double>(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double fraction = std::fmod(static_cast<double>(i + 1) * 0.6180339887498949, 1.0);
      (fraction < share ? chosen : rest).push_back(samples[i]);
    }
    AttentionModel model;
    model.kernel = device.attention;
    model.head_size = head_size;
    model.peak = device.peak_bf16;
    model.memory_rate = device.memory_rate;
    model.multiprocessors = device.multiprocessors;
    model.source = "aiconfigurator, " + file + ", " + device.system;
    fit_attention(model, chosen);
    set_limits(model, samples);
    std::vector<Residual> calibration, test, large;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const Residual residual{rest[i].shape.flops(),
                              burst_seconds(model, rest[i].shape) / rest[i].seconds - 1};
      (i % 2 == 0 ? calibration : test).push_back(residual);
      if (i % 2 != 0 && residual.size > 1e11) large.push_back(residual);
    }
    model.interval = interval_of({1e10, 1e11, 1e12}, calibration);
    const std::string family =
        fmt::format("attention {} head {} forward", name(model.kernel), head_size);
    data.reports.push_back(report_of(family, model.source, chosen.size(), test));
    data.reports.push_back(report_of(family + ", > 100 GF", model.source, chosen.size(), large));
    data.attention.push_back(std::move(model));
  }
}

}  // namespace calibrate::profile
