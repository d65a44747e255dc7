// Constants between hosts from public logs of nccl-tests.
//
// For each run, T = latency + 2 (n - 1) / n S / rate over sizes of 16 MiB and more; latency gives
// the time of a ring step between hosts, rate over the NICs' rate the efficiency.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {
namespace {

struct Run {
  std::string name, fabric;
  double ranks = 0, hosts = 0, bus_most = 0;      // [byte/s]
  std::vector<std::pair<double, double>> points;  // bytes, seconds
};

std::vector<Run> runs_of(const Table& table, const std::string& device) {
  const std::size_t id = table.column("run_id"), op = table.column("op"),
                    type = table.column("device"), ranks = table.column("n_gpus"),
                    hosts = table.column("n_nodes"), bytes = table.column("size_bytes"),
                    time = table.column("time_us"), bus = table.column("busbw_GBps"),
                    fabric = table.column("fabric"), quality = table.column("quality");
  std::map<std::string, Run> runs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, op) != "all_reduce" || !table.text(row, type).starts_with(device) ||
        !table.text(row, quality).starts_with("good") || table.number(row, hosts).value_or(1) < 2 ||
        table.number(row, bytes).value_or(0) < 16.0 * 1024 * 1024) {
      continue;
    }
    Run& run = runs[table.text(row, id)];
    run.name = table.text(row, id);
    run.fabric = table.text(row, fabric);
    run.ranks = *table.number(row, ranks);
    run.hosts = *table.number(row, hosts);
    run.bus_most = std::max(run.bus_most, table.number(row, bus).value_or(0) * 1e9);
    run.points.emplace_back(*table.number(row, bytes), table.number(row, time).value_or(0) * 1e-6);
  }
  std::vector<Run> result;
  for (auto& [key, run] : runs) result.push_back(std::move(run));
  return result;
}

// "8x IB NDR 400G" -> 400 GB/s.
std::optional<double> nic_rate(const std::string& fabric) {
  static const std::regex pattern(R"((\d+)x[^\d]*(\d+)G)");
  std::smatch match;
  if (!std::regex_search(fabric, match, pattern)) return std::nullopt;
  return std::stod(match[1]) * std::stod(match[2]) * 1e9 / 8;
}

struct Line {
  double latency = 0, rate = 0;
};

// Least squares of relative errors in latency and 1 / rate.
std::optional<Line> line_of(const Run& run) {
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  for (const auto& [bytes, seconds] : run.points) {
    if (seconds <= 0) continue;
    const double a = 1 / seconds, b = 2 * (run.ranks - 1) / run.ranks * bytes / seconds;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    ay += a;
    by += b;
  }
  const double determinant = aa * bb - ab * ab;
  if (run.points.size() < 3 || determinant <= 0) return std::nullopt;
  const double slope = (aa * by - ab * ay) / determinant;
  if (slope <= 0) return std::nullopt;
  return Line{std::max(0.0, (ay * bb - by * ab) / determinant), 1 / slope};
}

// What a long all-gather or reduce-scatter over 8 ranks reaches of a port.
std::optional<double> port_share(const ProfileData& data, const PublicDevice& device) {
  std::vector<double> shares;
  for (const CollectiveModel& model : data.collectives) {
    if (model.kind != CollectiveKind::all_gather && model.kind != CollectiveKind::reduce_scatter) {
      continue;
    }
    const double bytes = std::exp(model.curves.back().log_bytes.back()), ranks = model.ranks.back();
    shares.push_back(bytes * (ranks - 1) / ranks / model.curves.back().seconds(bytes) /
                     device.port);
  }
  if (shares.empty()) return std::nullopt;
  return std::min(1.0, median(shares));
}

struct Fabric {
  std::vector<double> steps, shares;  // [s] per ring step between hosts; of the NICs' rate
  std::string runs;
};

Fabric fabric_of(const std::vector<Run>& runs, const NetworkConstants& inside) {
  Fabric fabric;
  for (const Run& run : runs) {
    // A bus rate above the NICs' is a tree over two hosts: it says nothing about the fabric. The
    // software of EFA takes three times as long a step as InfiniBand: a fabric of its own.
    const auto nics = nic_rate(run.fabric);
    const auto line = line_of(run);
    if (!nics || !line || run.bus_most > *nics) continue;
    if (run.fabric.find("EFA") != std::string::npos) continue;
    const double intra_steps = 2 * (run.ranks - run.hosts), inter_steps = 2 * run.hosts;
    const double step =
        (line->latency - inside.base.value() - intra_steps * inside.step_intra.value()) /
        inter_steps;
    fabric.steps.push_back(std::max(step, 4e-6));  // the least hop of NCCL's constants: LL128
    fabric.shares.push_back(std::min(1.0, line->rate / *nics));
    fabric.runs += (fabric.runs.empty() ? "" : ", ") + run.name;
  }
  return fabric;
}

}  // namespace

void add_network(ProfileData& data, const PublicDevice& device,
                 const std::filesystem::path& folder) {
  NetworkConstants& network = data.network = default_network_constants();
  if (const auto share = port_share(data, device)) network.intra_efficiency = *share;
  std::string inside = "NCCL tuning constants";
  for (const CollectiveModel& model : data.collectives) {
    if (model.kind != CollectiveKind::all_gather) continue;
    network.base = Seconds(model.law.base);
    network.step_intra = Seconds(model.law.hop);
    inside = "ring law fitted to all-gathers over 2, 4 and 8 ranks";
  }
  const Table table(folder / "nccl" / "nccl_tests_logs.csv");
  Fabric fabric = fabric_of(runs_of(table, device.log_device), network);
  std::string of = device.log_device;
  if (fabric.steps.empty()) {
    // A fabric is no property of the device: the best documented one stands in.
    of = "NVIDIA H100";
    fabric = fabric_of(runs_of(table, of), network);
  }
  if (fabric.steps.empty()) {
    data.network_source =
        "assumed between hosts: NCCL tuning constants, ring and Simple (src/graph/tuning.cc)";
  } else {
    network.step_inter = Seconds(median(fabric.steps));
    network.efficiency = median(fabric.shares);
    const auto [step_least, step_most] =
        std::minmax_element(fabric.steps.begin(), fabric.steps.end());
    const auto [share_least, share_most] =
        std::minmax_element(fabric.shares.begin(), fabric.shares.end());
    data.network_source = fmt::format(
        "{}all-reduce logs of {}: {} (median; step {:.0f}..{:.0f} us, share of the NICs "
        "{:.2f}..{:.2f})",
        of == device.log_device ? "" : "no usable log of this device, assumed as on InfiniBand: ",
        of, fabric.runs, 1e6 * *step_least, 1e6 * *step_most, *share_least, *share_most);
  }
  data.network_source += "; base and step inside a host: " + inside;
  data.network_source +=
      "; channels assumed; share of a port from the longest all-gather and "
      "reduce-scatter over 8 ranks";
}

}  // namespace calibrate::profile
