// Constants between hosts: fitted again from the public logs, where these are at hand.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "calibrate/profile/assumed_network.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/network_fit.h"

using namespace calibrate::profile;

namespace {

// Beside the repository, not in it.
const std::filesystem::path folder =
    (std::getenv("MAQUETTE_DATA") != nullptr
         ? std::filesystem::path(std::getenv("MAQUETTE_DATA"))
         : std::filesystem::path(MAQUETTE_ROOT).parent_path() / "shared/data") /
    "kernels";

bool has_data() {
  if (std::filesystem::exists(folder / "nccl" / "nccl_tests_logs.csv")) return true;
  MESSAGE("skipped: no public logs at " << folder.string());
  return false;
}

}  // namespace

TEST_CASE("network: the fill of a tree fed by reduction in the switch is what the logs give") {
  if (!has_data()) return;
  const NvlsTreeFit fit = fit_nvls_tree(folder);
  std::string runs;
  for (const std::string& run : fit.runs) runs += (runs.empty() ? "" : ", ") + run;
  CHECK(runs == nvls_tree_runs);
  CHECK(std::round(1e6 * median(fit.fills)) == nvls_tree_fill_us);
}

TEST_CASE("network: a run that is left out is not among those fitted") {
  if (!has_data()) return;
  const NvlsTreeFit all = fit_nvls_tree(folder);
  const NvlsTreeFit fewer = fit_nvls_tree(folder, all.runs.front());
  CHECK(fewer.runs.size() + 1 == all.runs.size());
  CHECK(fewer.runs.front() != all.runs.front());
  const NetworkConstants inside = default_network_constants();
  const RingFabric rings = fit_ring_fabric(folder, stand_in_device, inside);
  REQUIRE(rings.runs.size() >= 3);
  CHECK(fit_ring_fabric(folder, stand_in_device, inside, rings.runs[1]).runs.size() + 1 ==
        rings.runs.size());
}
