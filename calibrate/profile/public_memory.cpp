// Memory-bound operators from public tables of streaming kernels.
#include <fmt/format.h>

#include <algorithm>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {
namespace {

std::vector<MemorySample> samples_of(const std::filesystem::path& file, const std::string& device) {
  const Table table(file);
  const std::size_t name = table.column("device"), mode = table.column("launch_mode"),
                    bytes = table.column("bytes_moved_per_kernel"),
                    time = table.column("implied_time_us");
  std::vector<MemorySample> samples;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, name) != device || table.text(row, mode) != "graph") continue;
    samples.push_back(
        {table.number(row, bytes).value_or(0), table.number(row, time).value_or(0) * 1e-6});
  }
  std::sort(samples.begin(), samples.end(),
            [](const MemorySample& a, const MemorySample& b) { return a.bytes < b.bytes; });
  return samples;
}

// A device without streaming measurements takes the curve of a relative with rates of its own.
struct Relative {
  const char* device;  // in the table
  double memory_rate;  // [byte/s], replaces the fitted one when above 0
  double cache_factor, knee_factor;
  double half_width;  // relative, least
  const char* source;
};

Relative relative_of(const PublicDevice& device) {
  if (device.name == "a100-sxm-80gb") return {"a100_80", 0, 1, 1, 0, "gpu-benches small kernels"};
  if (device.name == "h200-sxm") return {"h200", 0, 1, 1, 0, "gpu-benches small kernels"};
  if (device.name == "h100-sxm") {
    return {"h200",
            0.92 * device.memory_rate,
            1,
            1,
            0.08,
            "curve of H200 (gpu-benches small kernels), same L2; memory at 0.92 of the datasheet: "
            "vidur times the addition of two bf16 tensors (201 MB in all) at 63 us = 3.2 TB/s"};
  }
  return {"h200",
          0.8 * device.memory_rate,
          device.multiprocessors / 132,
          device.l2 / 50e6,
          0.2,
          "assumed: curve of H200 (gpu-benches small kernels) scaled to the L2; memory at 0.8 of "
          "the datasheet, between H200 (0.71) and H100 (0.92)"};
}

}  // namespace

void add_memory(ProfileData& data, const PublicDevice& device,
                const std::filesystem::path& folder) {
  const Relative relative = relative_of(device);
  const std::vector<MemorySample> samples =
      samples_of(folder / "memory" / "small_kernel_overhead_gpubenches.csv", relative.device);
  std::vector<MemorySample> chosen;
  std::vector<Residual> held_out;
  for (std::size_t i = 0; i < samples.size(); i += 2) chosen.push_back(samples[i]);
  MemoryModel& model = data.memory;
  std::vector<MemoryCurve<double>> starts;
  for (const double knee : {3e6, 40e6}) starts.push_back({1.3e-6, 5e12, 2e12, knee, 2});
  model.curve = fit_memory_curve(chosen, starts);
  for (std::size_t i = 1; i < samples.size(); i += 2) {
    held_out.push_back(
        {samples[i].bytes, memory_time(model.curve, samples[i].bytes) / samples[i].seconds - 1});
  }
  model.source = relative.source;
  model.bytes_most = samples.back().bytes;
  model.interval = interval_of({1e7, 1e8}, held_out);
  for (double& width : model.interval.half_widths) width = std::max(width, relative.half_width);
  if (relative.memory_rate > 0) model.curve.memory = relative.memory_rate;
  model.curve.cache *= relative.cache_factor;
  model.curve.knee *= relative.knee_factor;
  const std::string family =
      relative.half_width > 0 ? fmt::format("memory, on {}", relative.device) : "memory";
  data.reports.push_back(report_of(family, model.source, chosen.size(), held_out));
}

}  // namespace calibrate::profile
