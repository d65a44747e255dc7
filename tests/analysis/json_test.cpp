// The JSON that programs read. A second reader, yaml-cpp, parses it: JSON is YAML.
#include "analysis/json.h"

#include <doctest/doctest.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "analysis/json_writer.h"
#include "tests/analysis/example_result.h"
#include "tests/approximately.h"

namespace analysis {

namespace {

std::set<std::string> keys(const YAML::Node& node) {
  std::set<std::string> result;
  for (const auto& entry : node) result.insert(entry.first.as<std::string>());
  return result;
}

std::string written(double number) { return JsonWriter().value(number).take(); }
std::string written(const std::string& text) { return JsonWriter().value(text).take(); }

}  // namespace

TEST_CASE("json: every promised key is there, and no other") {
  const YAML::Node json = YAML::Load(to_json(example_result()));
  using Keys = std::set<std::string>;
  CHECK(keys(json) == Keys{"scenario",
                           "devices",
                           "iterations_s",
                           "iteration_time_s",
                           "iteration_percentiles",
                           "interval",
                           "samples_per_second",
                           "tokens_per_second_per_device",
                           "model_flops_utilization",
                           "model_flops_utilization_causal",
                           "hardware_flops_utilization",
                           "fits",
                           "memory",
                           "host_memory",
                           "time",
                           "links",
                           "pipeline",
                           "fold",
                           "profile_origin",
                           "extrapolated",
                           "warnings",
                           "fingerprint",
                           "cpu_time_s",
                           "peak_rss_bytes"});
  CHECK(keys(json["iteration_percentiles"]) == Keys{"p50_s", "p95_s", "p99_s"});
  CHECK(keys(json["interval"]) == Keys{"p10_s", "p90_s", "model", "software", "jitter"});
  CHECK(keys(json["memory"]) == Keys{"capacity_bytes", "peak_bytes", "worst_rank", "peak_at_s",
                                     "weights", "gradients", "optimizer", "activations", "other"});
  CHECK(keys(json["time"]) == Keys{"compute_s", "recompute_s", "optimizer_s", "bubble_s", "wait_s",
                                   "host_s", "other_s", "exposed"});
  CHECK(keys(json["time"]["exposed"]) ==
        Keys{"tensor", "context", "expert", "pipeline", "data", "offload"});
  CHECK(keys(json["links"][0]) == Keys{"example", "count", "utilization_mean", "utilization_max"});
  CHECK(keys(json["fold"]) == Keys{"ranks", "rank_classes", "tasks", "task_classes", "exact"});
}

TEST_CASE("json: 128 sequences of 8192 tokens in 1.25 s on 32 devices") {
  const YAML::Node json = YAML::Load(to_json(example_result()));
  // 128 / 1.25 = 102.4; 102.4 * 8192 / 32 = 102.4 * 256 = 26214.4.
  CHECK(json["iteration_time_s"].Scalar() == "1.25");
  CHECK(json["iterations_s"][0].Scalar() == "1.26");
  CHECK(json["samples_per_second"].as<double>() == sim::approximately(102.4));
  CHECK(json["tokens_per_second_per_device"].as<double>() == sim::approximately(26214.4));
  // 16 PFLOP / 1.25 s = 12.8 PFLOP/s, of 32 PFLOP/s: 0.4; 14: 0.35; 18: 0.45.
  CHECK(json["model_flops_utilization"].as<double>() == sim::approximately(0.4));
  CHECK(json["model_flops_utilization_causal"].as<double>() == sim::approximately(0.35));
  CHECK(json["hardware_flops_utilization"].as<double>() == sim::approximately(0.45));
  // 8 + 16 + 4 + 10 + 2 = 40 GiB = 40 * 1073741824 bytes.
  CHECK(json["memory"]["peak_bytes"].Scalar() == "42949672960");
  CHECK(json["memory"]["worst_rank"].as<int>() == 0);
  CHECK(json["profile_origin"]["h100-sxm"].as<std::string>() == "public measurements");
  CHECK(json["fingerprint"].as<std::string>() == "0123456789abcdef");
}

TEST_CASE("json: the fullest host's memory, where something is offloaded") {
  sim::training::Result result = example_result();
  CHECK(YAML::Load(to_json(result))["host_memory"].IsNull());
  result.host_memory = {.host = "h1",
                        .capacity = sim::Bytes(1000),
                        .ranks = 8,
                        .used = {.optimizer = sim::Bytes(96),
                                 .gradients = sim::Bytes(32),
                                 .parameters = sim::Bytes(16),
                                 .activations = sim::Bytes(6)}};
  const YAML::Node memory = YAML::Load(to_json(result))["host_memory"];
  CHECK(memory["worst_host"].as<std::string>() == "h1");
  CHECK(memory["capacity_bytes"].as<double>() == 1000);
  CHECK(memory["used_bytes"].as<double>() == 150);
  CHECK(memory["optimizer"].as<double>() == 96);
  CHECK(memory["activations"].as<double>() == 6);
  CHECK(memory["ranks"].as<int>() == 8);
}

TEST_CASE("json: the parts of time sum to the iteration, to the picosecond") {
  const YAML::Node json = YAML::Load(to_json(example_result()));
  const auto picoseconds = [](const YAML::Node& node) {
    return std::llround(node.as<double>() * 1e12);
  };
  long long sum = 0;
  for (const auto& part : json["time"]) {
    if (part.second.IsScalar()) sum += picoseconds(part.second);
  }
  for (const auto& part : json["time"]["exposed"]) sum += picoseconds(part.second);
  CHECK(sum == 1'250'000'000'000);
  CHECK(json["time"]["wait_s"].Scalar() == "0.000000000001");
}

TEST_CASE("json: the worst rank is the one nearest its own capacity") {
  // 42.9 GB of 80 GB is 0.54; 37.6 GB of 40 GB is 0.94.
  auto result = example_result();
  result.memory[1].capacity_bytes = 40e9;
  CHECK(YAML::Load(to_json(result))["memory"]["worst_rank"].as<int>() == 16);
}

TEST_CASE("json: what has no meaning is null, never zero") {
  sim::training::Result result;
  result.iterations_ps = {5};
  result.peak_flops_per_second = std::numeric_limits<double>::infinity();
  const YAML::Node json = YAML::Load(to_json(result));
  for (const char* key : {"samples_per_second", "tokens_per_second_per_device", "memory",
                          "model_flops_utilization", "hardware_flops_utilization"}) {
    CAPTURE(key);
    CHECK(json[key].IsNull());
  }
  CHECK(json["interval"]["p90_s"].IsNull());
  CHECK(json["iteration_time_s"].Scalar() == "0.000000000005");
}

TEST_CASE("json: numbers read back as the same double") {
  for (const double number : {0.1, 1.0 / 3, 1e-7, 1e300, 5e-324, -2.5, 0.0, 8e10, 123456789.125}) {
    CAPTURE(number);
    CHECK(std::strtod(written(number).c_str(), nullptr) == number);
  }
  CHECK(written(0.1) == "0.1");
  CHECK(written(std::nan("")) == "null");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json: whole picoseconds keep every digit") {
  CHECK(decimal(0, 12) == "0");
  CHECK(decimal(1, 12) == "0.000000000001");
  CHECK(decimal(-1'500'000, 6) == "-1.5");
  // More digits than a double holds.
  CHECK(decimal(9'007'199'254'740'993, 12) == "9007.199254740993");
  CHECK(decimal(std::numeric_limits<std::int64_t>::min(), 12) == "-9223372.036854775808");
}

TEST_CASE("json: text is escaped") {
  CHECK(written(std::string("a \"b\" \\ \n\t\x01 c")) == R"("a \"b\" \\ \n\t\u0001 c")");
  CHECK(written(std::string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")) ==
        "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  // Not UTF-8: a lone continuation, an overlong slash, a surrogate, beyond U+10FFFF, cut short.
  CHECK(written(std::string("\x80")) == R"("\ufffd")");
  CHECK(written(std::string("\xc0\xaf")) == R"("\ufffd\ufffd")");
  CHECK(written(std::string("\xed\xa0\x80")) == R"("\ufffd\ufffd\ufffd")");
  CHECK(written(std::string("\xf4\x90\x80\x80")) == R"("\ufffd\ufffd\ufffd\ufffd")");
  CHECK(written(std::string("x\xe2\x82")) == R"("x\ufffd\ufffd")");
}

TEST_CASE("json: a key of the user's cannot break the object") {
  auto result = example_result();
  result.scenario = "}\", \"fits\": false, {";
  const YAML::Node json = YAML::Load(to_json(result));
  CHECK(json["scenario"].as<std::string>() == result.scenario);
  CHECK(json["fits"].as<bool>());
}

TEST_CASE("json: errors with place, why and hint") {
  sim::Diagnostics diagnostics;
  diagnostics.add_source("pair.yaml", "a: 1\nb: 2\n");
  diagnostics.warning({"pair.yaml", 1, 1, 1}, "a link is never used");
  diagnostics.error({"pair.yaml", 2, 4, 1}, "unknown unit 'Gbps'", "bits or bytes", "400 Gbit/s");
  diagnostics.error({}, "the job cannot proceed");
  CHECK(errors_json(diagnostics) ==
        R"({"errors": [{"file": "pair.yaml", "line": 2, "column": 4, )"
        R"("message": "unknown unit 'Gbps'", "why": "bits or bytes", "hint": "400 Gbit/s"}, )"
        R"({"file": null, "line": null, "column": null, )"
        R"("message": "the job cannot proceed", "why": null, "hint": null}]})");
}

TEST_CASE("json: warnings alone are what stopped a strict run") {
  sim::Diagnostics diagnostics;
  diagnostics.warning({"pair.yaml", 1, 1, 1}, "a link is never used");
  const YAML::Node json = YAML::Load(errors_json(diagnostics));
  CHECK(json["errors"].size() == 1);
  CHECK(YAML::Load(errors_json({}))["errors"].size() == 0);
}

}  // namespace analysis
