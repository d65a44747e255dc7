// Measured runs become scenarios; what fits and what does not is counted.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/command/validate_memory.h"
#include "tests/approximately.h"

using namespace sim;

namespace {

std::string row(const std::string& id, const std::string& sizes, const std::string& outcome) {
  return "- {id: " + id + ", " + sizes +
         ", vocab: 1024, seq_len: 1024, gbs: 8, mbs: 1, tp: 1, pp: 1, dp: 8, zero: 0, gpu: H100, "
         "num_gpus: 8, " +
         outcome + "}\n";
}

std::string file_text() {
  const std::string small = "params_b: 1.34, layers: 16, hidden: 2048, heads: 32";
  const std::string large = "layers: 80, hidden: 8192, heads: 64, ffn: 28672";
  return "source:\n  title: huggingface nanotron, made up\n"
         "  ffn: {'1.34': 8192, from: somewhere}\nrows:\n" +
         row("small-ran", small, "iter_time_s: 1, mem_reserved_gb: 40") +
         row("small-failed", small, "status: OOM") + row("large-ran", large, "iter_time_s: 1") +
         row("large-failed", large, "status: OOM") + row("other", small, "status: Other");
}

scenario::MeasuredFile made_up() {
  const auto path = std::filesystem::temp_directory_path() / "maquette-measured.yaml";
  std::ofstream(path) << file_text();
  Diagnostics diagnostics;
  auto file = scenario::read_measured(path, diagnostics);
  std::filesystem::remove(path);
  REQUIRE(file);
  return *file;
}

}  // namespace

TEST_CASE("measured: widths of the file by size, rows' own before") {
  const scenario::MeasuredFile file = made_up();
  CHECK(file.ffn.size() == 1);
  CHECK(scenario_of(file.rows[0], file).text.find("ffn: 8192") != std::string::npos);
  CHECK(scenario_of(file.rows[2], file).text.find("ffn: 28672") != std::string::npos);
}

TEST_CASE("measured: rows with context and expert parallelism") {
  scenario::MeasuredFile file = made_up();
  scenario::MeasuredRow cut = file.rows[0];
  cut.values["cp"] = "4";
  cut.values["ep"] = "8";
  cut.values["moe"] = "mla; 160 experts top6 + shared 3072, moe_ffn 1536, dense_layers 1";
  const std::string text = scenario_of(cut, file).text;
  CAPTURE(text);
  CHECK(text.find("context: 4") != std::string::npos);
  CHECK(text.find("expert: {degree: 8}") != std::string::npos);
  CHECK(text.find("experts: {count: 160, per_token: 6, ffn: 1536, shared_ffn: 3072, "
                  "dense_first: 1}") != std::string::npos);
  CHECK(text.find("key_value_rank: 512") != std::string::npos);
}

// 16 layers of 2048 with 8192 inside fit 80 GiB many times over, 80 of 8192 with 28,672 never: one
// of each kind ran, one of each was out of memory.
TEST_CASE("measured: runs that fit and runs that do not") {
  const auto predictions = command::memory_predictions(made_up(), "", {}, false);
  REQUIRE(predictions.size() == 5);
  CHECK(predictions[0].fits);
  CHECK_FALSE(predictions[3].fits);
  CHECK_FALSE(predictions[4].why_not.empty());
  const auto s = command::statistics(predictions);
  CHECK(s.ran == 2);
  CHECK(s.failed == 2);
  CHECK(s.false_alarms == 1);
  CHECK(s.misses == 1);
  CHECK(s.right() == approximately(0.5));
  CHECK(predictions[0].assumed.back() == "GB of a peak are GiB");
  CHECK(s.measured == 1);
  CHECK(s.bias == approximately(predictions[0].predicted_b / (40.0 * 1024 * 1024 * 1024) - 1));
}
