// Measured runs become scenarios; what fits and what does not is counted.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sim/command/fit_stack.h"
#include "sim/command/row_filter.h"
#include "sim/command/run_prediction.h"
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

TEST_CASE("measured: what a row says of its network, framework and recomputation counts") {
  const scenario::MeasuredFile file = made_up();
  const auto text_with = [&](const std::map<std::string, std::string>& values) {
    scenario::MeasuredRow row = file.rows[0];
    for (const auto& [key, value] : values) row.values[key] = value;
    return scenario_of(row, file).text;
  };
  const auto says = [](const std::string& text, const char* what) {
    CAPTURE(text);
    CHECK(text.find(what) != std::string::npos);
  };
  says(text_with({{"inter_node", "4 x 100Gb RoCE per node"}, {"gpu", "A100"}}),
       "type: {base: dgx-a100, nics: 4, nic: 100 Gbit/s}");
  says(text_with({{"inter_node", "RoCE, speed not stated"}}), "type: hgx-h100}");
  says(text_with({{"framework", "torchtitan"}}), "stack: torchtitan\n");
  says(text_with({{"framework", "torchtitan"}, {"compile", "false"}}), "stack: torchtitan-eager\n");
  says(text_with({{"framework", "torchtitan"}, {"async_tp", "true"}}),
       "stack: {base: torchtitan, splits_tensor_products: true}");
  says(text_with({{"recompute", "selective (per-op SAC)"}}), "recompute: alternate\n");
  says(text_with({{"recompute", "selective"}}), "recompute: selective\n");
  says(text_with({{"zero", "1"}, {"sharding", "4 ranks"}}), "degree: 8, shard_degree: 4}");
  says(text_with({{"zero", "1"}, {"sharding", "8 ranks per node"}}), "degree: 8}");
  says(text_with({{"framework", "Composer"}, {"model", "MPT-1b"}, {"kv_heads", "32"}}),
       "gated: false");
  scenario::MeasuredRow other = file.rows[0];
  other.values["gpu"] = "H100 96GB HBM2e 500W (Grand Teton)";
  CHECK(scenario_of(other, file).text.find("type: grand-teton-h100}") != std::string::npos);
  other.values["gpu"] = "H100 PCIe";
  const auto assumed = scenario_of(other, file).assumed;
  CHECK(std::count(assumed.begin(), assumed.end(), "device: 'H100 PCIe' is as those of hgx-h100") ==
        1);
}

TEST_CASE("measured: conditions on rows") {
  const scenario::MeasuredFile file = made_up();
  const auto accepted = [&](const std::string& text) {
    const command::RowFilter filter(text);
    return std::count_if(file.rows.begin(), file.rows.end(),
                         [&](const auto& one) { return filter.accepts(one); });
  };
  CHECK(accepted("") == 5);
  CHECK(accepted("hidden=8192") == 2);
  CHECK(accepted("hidden<8192") == 3);
  CHECK(accepted("hidden<=8192, layers>16") == 2);
  CHECK(accepted("status=OOM") == 2);
  CHECK(accepted("status=OOM,hidden>=8192") == 1);
  CHECK(accepted("params_b>1") == 3);  // a row without it is none
  CHECK(accepted("id=other") == 1);
  for (const char* const wrong : {"hidden", "hidden!=1", "hidden<big", "=3", "a=1,,b=2"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(command::RowFilter{wrong}, command::UsageError);
  }
}

TEST_CASE("fit: constants are read, and descend to where the score is least") {
  auto constants = command::fitted_constants("a=25 us, b_c = 2,d=1e-1");
  REQUIRE(constants.size() == 3);
  CHECK(constants[0].unit == " us");
  CHECK(constants[1].field == "b_c");
  CHECK(constants[1].unit.empty());
  CHECK(constants[2].value == 0.1);
  for (const char* const wrong : {"a", "a=", "a=-1 us", "a=0", "a=x", "a=1.2.3 us", "A=1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(command::fitted_constants(wrong), command::UsageError);
  }
  // Least at 60 and 1; the third does not matter.
  command::descend(constants, [](const std::vector<command::FittedConstant>& c) {
    return std::abs(std::log(c[0].value / 60)) + std::abs(std::log(c[1].value));
  });
  CHECK(constants[0].value == doctest::Approx(60).epsilon(0.03));
  CHECK(constants[1].value == doctest::Approx(1).epsilon(0.03));
  CHECK(constants[2].value == 0.1);
}

TEST_CASE("fit: a constant of a stack comes back from runs that were made with it") {
  scenario::MeasuredFile file = made_up();
  file.rows.resize(1);
  const command::Common written{.overrides = {{"stack", "{base: nanotron, host_per_layer: 9 ms}"}}};
  const auto truth = command::predict(file.rows[0], file, written);
  REQUIRE(truth.why_not.empty());
  file.rows[0].values["iter_time_s"] = fmt::format("{}", truth.run.predicted_s);
  auto constants = command::fitted_constants("host_per_layer=3 ms");
  command::descend(constants, [&](const std::vector<command::FittedConstant>& c) {
    const command::Common tried{
        .overrides = {
            {"stack", fmt::format("{{base: nanotron, host_per_layer: {} ms}}", c[0].value)}}};
    return std::abs(command::predict(file.rows[0], file, tried).run.error());
  });
  CHECK(constants[0].value == doctest::Approx(9).epsilon(0.03));
}

TEST_CASE("fit: values that a stack cannot have are passed over") {
  scenario::MeasuredFile file = made_up();
  file.rows.resize(1);
  file.rows[0].values["iter_time_s"] = "1000";  // more traffic is better, but 100 is the most
  CHECK(command::fit_stack(file, {}, "pointwise_traffic=80") == 0);
  CHECK_THROWS_AS(command::fit_stack(file, {}, "pointwise_traffic=120"), command::UsageError);
}

// 16 layers of 2048 with 8192 inside fit 80 GiB many times over, 80 of 8192 with 28,672 never: one
// of each kind ran, one of each was out of memory.
TEST_CASE("measured: runs that fit and runs that do not") {
  const auto predictions = command::memory_predictions(made_up(), {}, false);
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
