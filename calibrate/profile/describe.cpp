// A profile as text, for `maquette profile show`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calibrate/profile/measurement.h"
#include "calibrate/profile/names.h"
#include "calibrate/profile/profile.h"
#include "sim/base/units.h"

namespace calibrate::profile {

std::string describe(const MeasuredCase& one) {
  const std::string what = fmt::format("{} {}", one.family, one.operation);
  const bool is_moved =
      one.family == "memory" || one.family == "transfer" || one.family == "kernel";
  if (is_moved && one.shape.size() == 1) {
    return fmt::format("{}, {}", what, to_text(sim::Bytes(one.shape[0])));
  }
  if (one.family == "collective" && one.shape.size() == 2) {
    return fmt::format("{}, {} ranks, {}", what, one.shape[0], to_text(sim::Bytes(one.shape[1])));
  }
  return fmt::format("{} {}", what, fmt::join(one.shape, " x "));
}

std::string describe(const Profile& profile) {
  const DeviceType& device = profile.device();
  std::string text =
      fmt::format("{} ({}), origin: {}\n", device.name, device.full_name, name(profile.origin()));
  const std::vector<FitReport> reports = profile.reports();
  if (!reports.empty()) {
    text += fmt::format("\n{:<45}{:>8}{:>9}{:>9}{:>8}{:>8}  source\n", "fit, on points held out",
                        "fitted", "held out", "mean [%]", "p90 [%]", "bias [%]");
  }
  for (const FitReport& report : reports) {
    text += fmt::format("{:<45}{:>8}{:>9}{:>9.1f}{:>8.1f}{:>+8.1f}  {}\n", report.family,
                        report.samples, report.held_out, 100 * report.mape, 100 * report.p90,
                        100 * report.bias, report.source);
  }
  const NetworkConstants network = profile.network();
  text += fmt::format(
      "\nbetween hosts: {:.3g} us a collective, {:.3g} us a step inside a host, {:.3g} us a step "
      "between hosts, "
      "{:.3g} of a NIC, {:.3g} of a port, {} channels ({} point to point)\n",
      1e6 * network.base.value(), 1e6 * network.step_intra.value(),
      1e6 * network.step_inter.value(), network.efficiency, network.intra_efficiency,
      network.channels, network.channels_point_to_point);
  for (const std::string& note : profile.notes()) text += note + "\n";
  return text;
}

}  // namespace calibrate::profile
