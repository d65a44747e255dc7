// Constants that scale the fitted answers: layouts, sustained levels, attention directions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/fitted_profile.h"

namespace calibrate::profile {
namespace {

struct Training {  // one row of a table of training shapes
  std::string operation, layout, output;
  std::string key;  // shape, order of dimensions ignored
  GemmShape shape;
  double efficiency = 0;
};

std::vector<Training> training_of(const std::filesystem::path& file) {
  const Table table(file);
  const std::size_t op = table.column("op"), layout = table.column("layout"),
                    output = table.column("out_dtype"), efficiency = table.column("efficiency");
  const std::array<std::size_t, 4> dims{table.column("b"), table.column("m"), table.column("k"),
                                        table.column("n")};
  const std::array<std::size_t, 7> attention{
      table.column("batch"),         table.column("seq_len"),     table.column("head_num"),
      table.column("kv_head_num"),   table.column("qk_head_dim"), table.column("v_head_dim"),
      table.column("qkv_contiguous")};
  std::vector<Training> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Training item{table.text(row, op),
                  table.text(row, layout),
                  table.text(row, output),
                  "",
                  {},
                  table.number(row, efficiency).value_or(0)};
    if (item.operation == "matmul") {
      std::array<double, 4> values{};
      for (std::size_t i = 0; i < 4; ++i) values[i] = table.number(row, dims[i]).value_or(1);
      item.shape = {values[1], values[3], values[2], values[0]};
      std::sort(values.begin() + 1, values.end());
      for (const double value : values) item.key += fmt::format("{} ", value);
    } else {
      for (const std::size_t column : attention) item.key += table.text(row, column) + " ";
    }
    if (item.efficiency > 0) rows.push_back(std::move(item));
  }
  return rows;
}

Factor factor_of(const std::vector<double>& ratios, const std::string& source) {
  const double middle = median(ratios);
  const double spread =
      std::max(quantile(ratios, 0.9) - middle, middle - quantile(ratios, 0.1)) / middle;
  return {middle, spread, fmt::format("{}, {} shapes", source, ratios.size())};
}

// Time of a layout over time of the forward layout at the same shape.
std::optional<Factor> layout_factor(const std::vector<Training>& rows, const std::string& layout,
                                    const std::string& output, const std::string& source) {
  std::map<std::string, double> forward;
  for (const Training& row : rows) {
    if (row.operation == "matmul" && row.layout == "TN") forward[row.key] = row.efficiency;
  }
  std::vector<double> ratios;
  for (const Training& row : rows) {
    const auto found = forward.find(row.key);
    if (row.operation != "matmul" || row.layout != layout || row.output != output ||
        found == forward.end()) {
      continue;
    }
    ratios.push_back(found->second / row.efficiency);
  }
  if (ratios.size() < 10) return std::nullopt;
  return factor_of(ratios, source);
}

void add_layouts(ProfileData& data, const std::vector<Training>& rows, const std::string& source) {
  data.input_gradient =
      layout_factor(rows, "NN", "bf16", source)
          .value_or(Factor{1, 0.1, "assumed: SimuMax on A100 and B200, 0.99..1.01"});
  data.weight_gradient = layout_factor(rows, "NT", "bf16", source)
                             .value_or(Factor{1.03, 0.12, "assumed: SimuMax on B200 (1.03)"});
  data.weight_gradient_fp32 =
      layout_factor(rows, "NT", "fp32", source)
          .value_or(Factor{1.06, 0.12, "assumed: SimuMax on A100 (1.05) and B200 (1.07)"});
}

void add_levels(ProfileData& data, const PublicDevice& device) {
  if (device.name == "a100-sxm-80gb") {
    data.sustained_gemm = {1.03, 0.035,
                           "assumed: 1.0 to 1.07 explains whole training runs on A100 SXM"};
    data.sustained_attention = {1.0, 0.05, "assumed: as for products, within the spread"};
  } else if (device.name == "b200") {
    data.sustained_gemm = {1.2, 0.18,
                           "assumed, evidence conflicts: the middle (in logarithms) of 1.4, by "
                           "which SimuMax times the same products slower than these bursts, and of "
                           "1.04, for which a 15B bf16 training run at 1342 TFLOP/s a device "
                           "(Vultr, 16 B200) leaves room at most"};
    data.sustained_attention = {1.1, 0.1, "assumed: half of what products lose"};
  } else if (device.name == "h100-96gb-500w") {
    data.sustained_gemm = {1.34, 0.12,
                           "assumed: 1.2 as H100 SXM, times (700 W / 500 W)^(1/3), as power goes "
                           "with the cube of the clock"};
    data.sustained_attention = {1.23, 0.12, "assumed: 1.1 as H100 SXM, times the same"};
  } else {
    data.sustained_gemm = {1.2, 0.08,
                           device.name == "h100-sxm"
                               ? "assumed: about 1.2 explains whole training runs on H100 SXM"
                               : "assumed: as H100 SXM, same chip and power limit (700 W)"};
    data.sustained_attention = {1.1, 0.1, "assumed: half of what products lose"};
  }
  const double gemm = data.sustained_gemm.spread / 1.28;  // 80 % of a normal lies within 1.28
  data.level_errors = {
      {"gemm", std::clamp(gemm, 0.03, 0.12), "spread of the sustained level"},
      {"attention", 0.08, "assumed: sustained level and kernel versions"},
      {"memory", data.memory.interval.half_widths.back() >= 0.08 ? 0.1 : 0.05,
       "assumed: rates of one streaming kernel stand for all operators"},
      {"collective", 0.07, "library versions and settings differ by 10-30 % at worst"}};
}

void add_attention_factors(ProfileData& data, const PublicDevice& device,
                           const std::vector<Training>& rows) {
  std::map<std::string, double> forward;
  for (const Training& row : rows) {
    if (row.operation == "sdp_fwd") forward[row.key] = row.efficiency;
  }
  std::vector<double> ratios;  // time backward / forward: 2.5 times the FLOPs
  for (const Training& row : rows) {
    const auto found = forward.find(row.key);
    if (row.operation == "sdp_bwd" && found != forward.end()) {
      ratios.push_back(2.5 * found->second / row.efficiency);
    }
  }
  if (device.name == "a100-sxm-80gb" && ratios.size() >= 10) {
    data.attention_backward = factor_of(ratios, "SimuMax sdp_bwd / sdp_fwd, A100 PCIe");
  } else if (device.name == "b200") {
    data.attention_backward = {2.5 / 0.84, 0.15,
                               "FA4 on B200, head 128: backward at 0.79-0.89 of the forward rate "
                               "(flash-attention PR 2280), 2.5 times the FLOPs"};
  } else {
    data.attention_backward = {2.5 / 0.82, 0.2,
                               "assumed: backward at 0.82 of the forward rate (A100 0.86, B200 "
                               "0.79-0.89), 2.5 times the FLOPs; not measured on Hopper"};
  }
  data.attention_full = {1.82, 0.12,
                         "FA4 on B200 at 8192: 1.433 / 0.775 ms (PR 2280); FA3 on H20 at 2048: "
                         "0.545 / 0.319 ms (issue 1310); long sequences approach 2"};
}

void add_kernels(ProfileData& data, const PublicDevice& device) {
  using enum AttentionKernel;
  const auto add = [&](AttentionKernel kernel, double value, double spread, const char* source) {
    data.kernels.push_back({kernel, device.attention, {value, spread, source}});
  };
  if (device.attention == flash2) {
    add(flash3, 1, 0.1, "assumed: flash-attention 3 needs Hopper; the answer is that of 2");
    add(cudnn, 1, 0.1, "assumed equal");
    add(triton, 1.6, 0.15,
        "fitted: MosaicML llm-foundry runs with 16384 to 65536 tokens, most of whose time it is");
  } else if (device.attention == flash3) {
    add(flash2, 1.75, 0.15,
        "FlashAttention-3 (Shah et al., 2024), abstract: 1.5 to 2.0 times as fast as 2 on H100");
    add(cudnn, 1, 0.12, "assumed equal");
    add(triton, 1.75, 0.25, "assumed: as flash-attention 2");
  } else {
    add(flash2, 2.1, 0.2,
        "FA2 on B200, head 64, 16384 tokens, not tuned for Blackwell: 307-379 TFLOP/s "
        "(flash-attention issue 1589), against 640-780 measured here; assumed for head 128");
    add(flash3, 1, 0.3, "assumed: flash-attention 3 needs Hopper; the answer is that of cuDNN");
    add(triton, 2, 0.4, "assumed");
  }
}

void add_rooflines(ProfileData& data, const PublicDevice& device) {
  const auto add = [&](Precision precision, double peak, double efficiency, double spread,
                       std::string source) {
    data.roofline.push_back({precision, peak, device.memory_rate, data.gemm.front().tile.launch,
                             Factor{efficiency, spread, std::move(source)}});
  };
  const bool is_a100 = device.peak_fp8 == 0;
  add(Precision::fp32, device.peak_fp32, is_a100 ? 0.83 : 0.75, 0.25,
      "NeuSight fp32 products above 100 GFLOP, median: 0.83 of peak on A100, 0.75 on H100");
  add(Precision::tf32, device.peak_tf32, 0.7, 0.3, "assumed: large products of other types");
  if (is_a100) {
    add(Precision::fp8, device.peak_bf16, 0.75, 0.3, "assumed: no fp8 units, runs as bf16");
  }
}

}  // namespace

void add_factors(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder) {
  std::vector<Training> rows;
  if (!device.simumax.empty()) rows = training_of(folder / "gemm" / device.simumax);
  add_layouts(data, rows, "SimuMax, " + device.simumax);
  add_levels(data, device);
  add_attention_factors(data, device, rows);
  add_kernels(data, device);
  add_rooflines(data, device);
}

}  // namespace calibrate::profile
