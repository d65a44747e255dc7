// Constants between hosts from public logs of nccl-tests.
//
// For each run, T = latency + 2 (n - 1) / n S / rate over sizes of 16 MiB and more; latency gives
// the time of a ring step between hosts, rate over the NICs' rate the efficiency. Of a tree fed by
// reduction in the switch, what a run takes longer than the slower of both, level by level.
#include "calibrate/profile/network_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <regex>

#include "calibrate/profile/assumed_network.h"
#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"

namespace calibrate::profile {
namespace {

// Smaller messages are bound by latencies of other kinds.
constexpr double nvls_bytes_least = 64.0 * 1024 * 1024;
// Of the NICs, as fit_ring_fabric() finds for H100.
constexpr double nvls_nic_share = 0.914;

struct Run {
  std::string name, fabric, settings;
  double ranks = 0, hosts = 0, bus_most = 0;      // [byte/s]
  std::vector<std::pair<double, double>> points;  // bytes, seconds
};

// All-reduces over several hosts, from 16 MiB on.
std::vector<Run> runs_of(const Table& table, const std::string& device) {
  const std::size_t id = table.column("run_id"), op = table.column("op"),
                    type = table.column("device"), ranks = table.column("n_gpus"),
                    hosts = table.column("n_nodes"), bytes = table.column("size_bytes"),
                    time = table.column("time_us"), bus = table.column("busbw_GBps"),
                    fabric = table.column("fabric"), quality = table.column("quality"),
                    settings = table.column("params");
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
    run.settings = table.text(row, settings);
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

// The software of EFA takes three times as long a step as InfiniBand: a fabric of its own.
bool is_efa(const Run& run) { return run.fabric.find("EFA") != std::string::npos; }

// All-reduces inside one host of 8: bytes -> seconds, the median of the versions.
std::map<double, double> curve_of(const std::filesystem::path& folder, const std::string& system) {
  const Table table(folder / "nccl" / "nccl_intranode_aiconfigurator.csv");
  const std::size_t of = table.column("system"), op = table.column("op"),
                    type = table.column("dtype"), ranks = table.column("num_gpus"),
                    bytes = table.column("size_bytes"), time = table.column("time_us_median");
  std::map<double, std::vector<double>> times;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, of) != system || table.text(row, op) != "all_reduce" ||
        table.text(row, type) != "half" || table.number(row, ranks) != 8.0) {
      continue;
    }
    times[table.number(row, bytes).value_or(0)].push_back(table.number(row, time).value_or(0) *
                                                          1e-6);
  }
  std::map<double, double> curve;
  for (auto& [size, seconds] : times) curve[size] = median(seconds);
  return curve;
}

// Two trees over two hosts send the buffer once through the NICs, over more hosts twice.
std::optional<double> nvls_fill_of(const Run& run, const std::map<double, double>& curve) {
  const auto nics = nic_rate(run.fabric);
  if (!nics || is_efa(run) || run.settings.find("NCCL_ALGO=Ring") != std::string::npos) return {};
  const double depth = std::ceil(std::log2(run.hosts)), load = run.hosts == 2 ? 1 : 2;
  std::vector<double> fills;
  for (const auto& [bytes, seconds] : run.points) {
    const auto inside = curve.find(bytes);
    if (bytes < nvls_bytes_least || inside == curve.end()) continue;
    const double between = load * bytes / (*nics * nvls_nic_share);
    const double fill =
        (seconds - std::max(inside->second, between)) / (2 * depth) - nvls_tree_step_us * 1e-6;
    fills.push_back(fill * (bytes + nvls_tree_chunks) / bytes);
  }
  if (fills.empty()) return std::nullopt;
  return median(fills);
}

}  // namespace

RingFabric fit_ring_fabric(const std::filesystem::path& folder, const std::string& device,
                           const NetworkConstants& inside, const std::string& left_out) {
  RingFabric fabric;
  for (const Run& run : runs_of(Table(folder / "nccl" / "nccl_tests_logs.csv"), device)) {
    // A bus rate above the NICs' is a tree over two hosts: it says nothing about the fabric.
    const auto nics = nic_rate(run.fabric);
    const auto line = line_of(run);
    if (run.name == left_out || !nics || !line || run.bus_most > *nics || is_efa(run)) continue;
    const double intra_steps = 2 * (run.ranks - run.hosts), inter_steps = 2 * run.hosts;
    const double step =
        (line->latency - inside.base.value() - intra_steps * inside.step_intra.value()) /
        inter_steps;
    fabric.steps.push_back(std::max(step, 4e-6));  // the least hop of NCCL's constants: LL128
    fabric.shares.push_back(std::min(1.0, line->rate / *nics));
    fabric.runs.push_back(run.name);
  }
  return fabric;
}

NvlsTreeFit fit_nvls_tree(const std::filesystem::path& folder, const std::string& left_out) {
  const Table table(folder / "nccl" / "nccl_tests_logs.csv");
  NvlsTreeFit fit;
  for (const auto& [device, system] :
       {std::pair{"NVIDIA H100", "h100_sxm"}, std::pair{"NVIDIA H200", "h200_sxm"},
        std::pair{"NVIDIA B200", "b200_sxm"}}) {
    const std::map<double, double> curve = curve_of(folder, system);
    for (const Run& run : runs_of(table, device)) {
      const auto fill = nvls_fill_of(run, curve);
      if (!fill || run.name == left_out) continue;
      fit.fills.push_back(*fill);
      fit.runs.push_back(run.name);
    }
  }
  return fit;
}

namespace {

// A profile with other constants between hosts.
class Refitted final : public Profile {
 public:
  Refitted(const Profile& shipped, NetworkConstants network)
      : shipped_(shipped), network_(network) {}
  const DeviceType& device() const override { return shipped_.device(); }
  Origin origin() const override { return shipped_.origin(); }
  Answer gemm(const GemmQuestion& q) const override { return shipped_.gemm(q); }
  Answer grouped_gemm(const GroupedGemmQuestion& q) const override {
    return shipped_.grouped_gemm(q);
  }
  Answer attention(const AttentionQuestion& q) const override { return shipped_.attention(q); }
  Answer memory(const MemoryQuestion& q) const override { return shipped_.memory(q); }
  bool has_collective(const CollectiveQuestion& q) const override {
    return shipped_.has_collective(q);
  }
  Answer collective(const CollectiveQuestion& q) const override { return shipped_.collective(q); }
  NetworkConstants network() const override { return network_; }
  double level_error(const std::string& family) const override {
    return shipped_.level_error(family);
  }
  std::vector<FitReport> reports() const override { return shipped_.reports(); }

 private:
  const Profile& shipped_;
  NetworkConstants network_;
};

// The start of its name in the logs: "h100-sxm" -> "NVIDIA H100".
std::string log_device(const std::string& device) {
  std::string name = device.substr(0, device.find('-'));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return "NVIDIA " + name;
}

}  // namespace

std::unique_ptr<Profile> refitted_without(const Profile& shipped,
                                          const std::filesystem::path& folder,
                                          const std::string& run) {
  NetworkConstants network = shipped.network();
  RingFabric ring = fit_ring_fabric(folder, log_device(shipped.device().name), network, run);
  if (ring.runs.empty()) ring = fit_ring_fabric(folder, stand_in_device, network, run);
  const NvlsTreeFit tree = fit_nvls_tree(folder, run);
  if (ring.runs.empty() || tree.runs.empty()) {
    throw ProfileError{"no run is left to fit the network to", "", "give more logs"};
  }
  network.step_inter = Seconds(median(ring.steps));
  network.efficiency = median(ring.shares);
  network.fill_nvls_tree = Seconds(median(tree.fills));
  return std::make_unique<Refitted>(shipped, network);
}

}  // namespace calibrate::profile
