// Logs and tables of nccl-tests: what is read of right ones, and what is said of wrong ones.
#include <algorithm>
#include <cstdlib>

#include "sim/scenario/measured_collectives.h"
#include "tests/approximately.h"
#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

namespace {

const std::filesystem::path folder = "tests/golden/nccl";

std::optional<std::vector<CollectiveRun>> read_any(const std::filesystem::path& file,
                                                   Diagnostics& diagnostics,
                                                   const LogFacts& facts = {}) {
  enter_repository();
  if (file.extension() == ".csv") return read_collective_table(file, diagnostics);
  return read_collective_log(file, facts, diagnostics);
}

CollectiveRun the_run(const std::string& name, const LogFacts& facts = {}) {
  Diagnostics diagnostics;
  auto runs = read_any(folder / name, diagnostics, facts);
  INFO(diagnostics.text());
  REQUIRE(runs);
  REQUIRE(runs->size() >= 1);
  return runs->front();
}

// 40 us and 1.875 bytes a byte at 300 GB/s, as the logs were made; times have two decimals.
void check_rows(const CollectiveRun& run) {
  CHECK(run.operation == collective::Operation::all_reduce);
  CHECK(run.ranks == 16);
  CHECK(run.hosts == 2);
  REQUIRE(run.rows.size() == 6);
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const double size = 1048576.0 * static_cast<double>(1 << (2 * i));
    CHECK(run.rows[i].size == Bytes(size));
    const double seconds = 40e-6 + 1.875 * size / 300e9;
    CHECK(run.rows[i].time.value() == doctest::Approx(seconds).scale(0).epsilon(1e-4));
  }
}

}  // namespace

TEST_CASE("collective logs: ranks, hosts, device, operation and rows; 0 bytes are counted apart") {
  const CollectiveRun run = the_run("two-hosts.txt");
  check_rows(run);
  CHECK(run.empty_rows == 1);
  CHECK(run.device == "Sample Device 80GB");
}

TEST_CASE("collective logs: prefixes of mpirun come off; what is not listed is stated") {
  // An all-reduce shows by its bus bandwidth, the ranks do not.
  check_rows(the_run("prefixed.txt", {.ranks = 16, .hosts = 2}));
}

TEST_CASE("collective tables: runs by their id; rows without a time are counted apart") {
  const CollectiveRun run = the_run("table.csv");
  check_rows(run);
  CHECK(run.empty_rows == 1);
  CHECK(run.fabric == "8x 400G, sample");
  Diagnostics diagnostics;
  const auto runs = read_any(folder / "table.csv", diagnostics);
  REQUIRE(runs->size() == 2);
  CHECK((*runs)[1].operation == collective::Operation::all_gather);
  CHECK((*runs)[1].rows.size() == 1);
}

TEST_CASE("collective logs and tables: every wrong one is refused with the known text") {
  enter_repository();
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".expected") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int wrong = 0;
  for (const auto& file : files) {
    CAPTURE(file.string());
    Diagnostics diagnostics;
    const auto runs = read_any(file, diagnostics);
    CHECK(runs.has_value() != diagnostics.has_errors());
    auto expected = file;
    expected.replace_extension(file.extension().string() + ".expected");
    if (runs) {
      CHECK_FALSE(std::filesystem::exists(expected));
      continue;
    }
    ++wrong;
    if (std::getenv("MAQUETTE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(expected, std::ios::binary) << diagnostics.text();
    } else {
      CHECK(diagnostics.text() == file_text(expected));
    }
  }
  CHECK(wrong >= 12);
}

TEST_CASE("collective logs: any cut of a right log is read or refused with a reason") {
  enter_repository();
  const std::string text = file_text(folder / "two-hosts.txt");
  for (std::size_t length = 0; length < text.size(); length += 37) {
    CAPTURE(length);
    const TemporaryFile file(text.substr(0, length), "cut.txt");
    Diagnostics diagnostics;
    const auto runs = read_collective_log(file.path(), {}, diagnostics);
    CHECK(runs.has_value() != diagnostics.has_errors());
  }
}

TEST_CASE("collective logs: names of operations as nccl-tests and as we write them") {
  CHECK(operation_named("alltoall") == collective::Operation::all_to_all);
  CHECK(operation_named("all-to-all") == collective::Operation::all_to_all);
  CHECK(operation_named("sendrecv") == collective::Operation::send_receive);
  CHECK_FALSE(operation_named("hypercube"));
  for (const std::string& name : operation_names()) CHECK(operation_named(name));
}
