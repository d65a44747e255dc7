// Constants of a device's network from public logs of nccl-tests (network_fit.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/network_fit.h"

namespace calibrate::profile {
namespace {

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
  RingFabric fabric = fit_ring_fabric(folder, device.log_device, network);
  std::string of = device.log_device;
  if (fabric.runs.empty()) {
    // A fabric is no property of the device: the best documented one stands in.
    of = stand_in_device;
    fabric = fit_ring_fabric(folder, of, network);
  }
  if (fabric.runs.empty()) {
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
        of, fmt::join(fabric.runs, ", "), 1e6 * *step_least, 1e6 * *step_most, *share_least,
        *share_most);
  }
  data.network_source += "; base and step inside a host: " + inside;
  data.network_source +=
      "; channels assumed; share of a port from the longest all-gather and "
      "reduce-scatter over 8 ranks";
}

}  // namespace calibrate::profile
