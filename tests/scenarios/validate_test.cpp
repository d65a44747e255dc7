// nccl-tests logs against predictions, as `maquette validate` compares them.
#include <doctest/doctest.h>

#include <cstdlib>

#include "sim/command/validate_collectives.h"
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

analysis::CollectiveReport report_of(const std::filesystem::path& file,
                                     const command::CollectiveOptions& options) {
  Diagnostics diagnostics;
  const auto report = command::collective_report(file.string(), options, {}, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(report);
  return *report;
}

const analysis::ErrorClass* class_of(const std::vector<analysis::ErrorClass>& classes,
                                     const std::string& place, const std::string& sizes) {
  for (const analysis::ErrorClass& one : classes) {
    if (one.place == place && one.sizes == sizes && !one.in_sample) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("validate: a log on a cluster of the catalog; what is forced shows") {
  const auto log = repository() / "tests/golden/nccl/two-hosts.txt";
  const auto report = report_of(log, {.cluster = "eos"});
  REQUIRE(report.rows.size() == 6);
  const analysis::CollectiveError& last = report.rows.back();
  CHECK(last.ranks == 16);
  CHECK(last.hosts == 2);
  CHECK_FALSE(last.in_sample);
  CHECK(last.chosen == "nvls-tree Simple");
  // 1.875 GiB over 6750.9 us.
  CHECK(last.measured.value() ==
        doctest::Approx(1.875 * 1073741824 / 6750.9e-6).scale(0).epsilon(1e-4));
  const auto ring =
      report_of(log, {.cluster = "eos", .forced = {.algorithm = collective::Algorithm::ring}});
  CHECK(ring.rows.back().chosen == "ring Simple");
  // Bound by eight NICs of 50 GB/s.
  CHECK(ring.rows.back().predicted.value() < 400e9);
  CHECK(last.predicted.value() > 400e9);
}

TEST_CASE("validate: a cluster that is too small is no error, but a run not predicted") {
  const auto report =
      report_of(repository() / "tests/golden/nccl/two-hosts.txt",
                {.cluster = (repository() / "scenarios/worked/nvls-all-reduce.yaml").string()});
  CHECK(report.rows.empty());
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].why == "2 hosts, but the cluster has 1");
}

TEST_CASE("validate: a table that states no known device is not predicted") {
  const auto report = report_of(repository() / "tests/golden/nccl/table.csv", {});
  REQUIRE(report.skipped.size() == 2);
  CHECK(report.skipped[0].why == "no host type is known for the device 'Sample Device'");
}

TEST_CASE("validate: public logs, each run left out: 10 % inside a host, 20 % over 2 to 16 hosts") {
  const char* named = std::getenv("MAQUETTE_DATA");
  const std::filesystem::path data =
      named ? std::filesystem::path(named) : repository().parent_path() / "shared/data";
  const auto file = data / "kernels/nccl/nccl_tests_logs.csv";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: no public logs at " << file.string() << " (set MAQUETTE_DATA)");
    return;
  }
  const auto report = report_of(file, {.leave_one_out = (data / "kernels").string()});
  for (const analysis::CollectiveError& row : report.rows) CHECK_FALSE(row.in_sample);
  const auto classes = analysis::error_classes(report.rows);
  const auto* inside = class_of(classes, "inside a host", "from 64 MiB");
  const auto* over = class_of(classes, "2 to 16 hosts", "from 64 MiB");
  REQUIRE(inside);
  REQUIRE(over);
  CHECK(inside->rows >= 30);
  CHECK(over->runs >= 10);
  CHECK(inside->median_absolute <= 0.10);
  CHECK(over->median_absolute <= 0.20);
  MESSAGE("median error " << 100 * inside->median_absolute << " % inside a host, "
                          << 100 * over->median_absolute << " % over 2 to 16 hosts");
}
