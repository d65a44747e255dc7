// Reading scenarios in tests, with the small catalog of the tests.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sim::scenario {

// The repository becomes the current folder, so that messages show relative names.
inline void enter_repository() { std::filesystem::current_path(MAQUETTE_SOURCE); }

inline const std::filesystem::path test_catalog = "tests/golden/catalog";

inline std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A file of one's own in the temporary folder, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text, const std::string& name = "scenario.yaml")
      : folder_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directories(folder_);
    file_ = folder_ / name;
    write(text);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  const std::filesystem::path& path() const { return file_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  static std::string unique_name();
  std::filesystem::path folder_, file_;
};

inline std::string TemporaryFile::unique_name() {
  static int files = 0;
  std::ifstream self("/proc/self/stat");
  std::string process;
  self >> process;
  return "maquette-test-" + process + "-" + std::to_string(++files);
}

struct Reading {
  std::optional<Scenario> scenario;
  std::string text;  // of the diagnostics
};

inline Reading read(const std::filesystem::path& file,
                    const std::vector<Override>& overrides = {}) {
  enter_repository();
  Diagnostics diagnostics;
  Reading reading;
  reading.scenario = read_scenario(file, overrides, test_catalog, diagnostics);
  reading.text = diagnostics.text();
  // Nothing without a reason, and no reason beside a scenario.
  CHECK(reading.scenario.has_value() != diagnostics.has_errors());
  return reading;
}

inline Scenario must_read(const std::string& text, const std::vector<Override>& overrides = {}) {
  const TemporaryFile file(text);
  Reading reading = read(file.path(), overrides);
  INFO(reading.text);
  REQUIRE(reading.scenario);
  return std::move(*reading.scenario);
}

// Everything a scenario can say, right. The operations of a second one are in `program`.
inline const std::string whole_scenario = R"(maquette: 1
name: a test
cluster:
  hosts:
    - {name: h, count: 2, type: box}
  fabric: {kind: rail-optimized, hosts_per_group: 32, link: 400 Gbit/s, latency: 0.6 us,
           oversubscription: 2, routing: hashed}
  spares: 0
  storage: {write: 100 GB/s, read: 200 GB/s}
dnn: {name: tiny}
stack: {base: plain, attention: flash3}
training:
  sequence: 8192
  global_batch: 128
  micro_batch: 2
  precision: bf16
  optimizer: adam
  tokens: 15 T
plan:
  tensor: 2
  sequence_parallel: false
  context: 1
  pipeline: {stages: 2, schedule: interleaved-1f1b, virtual_stages: 2, layers: [2, 2, 2, 2]}
  data: {sharding: zero-1, degree: 4}
  expert: {degree: 1, tensor: 1}
  recompute: selective
placement: {order: [tensor, context, pipeline, data]}
stragglers:
  - {part: h0.gpu1, compute: 77 %}
  - {part: "h[0..1].nic2", link: 50 %, from: 10 s, to: 1 min}
  - {rank: 15, slowdown: 1.25}
failures:
  - {part: gpu, cause: any, rate: 4.7e-4 /day, infant: {extra: 3, decay: 7 d}, age: 1 d,
     repair: {lognormal: {median: 4 h, sigma: 1}}, found_after: {exponential: 2 h}}
  - {part: memory, observed: {failures: 72, parts: 16384, over: 54 d}, repair: {table: [1 h, 3 h]}}
  - {part: host, life: {weibull: {scale: 300 d, shape: 0.7}}, hosts: 2, repair: 1 h, detect: 1 min}
  - {part: rack, every: 28 d, first: 7 d, planned: true, parts: 3, hosts: 16, repair: 2 h}
checkpoint: {every: 30 min, mode: async, to: storage, size: 1 TB, stall: 1 s, write: 20 s,
             read: 10 s, kept: 5}
recovery: {policy: shrink, detect: {exponential: 30 s}, restart: {schedule: 1 min, start: 4 min},
           spare: cold, boot: 10 min, interruptible: false, spare_target: 95 %}
run: {iterations: 3, fidelity: operators, jitter: {device: 2 %, replicas: 8, seed: 5},
      duration: 54 d, histories: {precision: 0.5 %, most: 100, seed: 7}, device_hour: 2.5 USD}
expect:
  iteration: {value: 33 ms, tolerance: 1 %}
  parameters: 123
  peak_memory: 4 GiB
)";

inline const std::string program = R"(maquette: 1
cluster:
  devices: [{name: a, type: ideal, host: x}, {name: b, type: ideal}]
  switches: [s]
  links:
    - {from: a, to: s, capacity: 50 GB/s, latency: 2.5 us}
    - {from: s, to: a, capacity: 50 GB/s, latency: 2.5 us, one_way: true}
    - {from: b, to: s, capacity: 50 GB/s, latency: 2.5 us}
  routing: hashed
operations:
  - {name: first, compute: 10 ms, on: a, multiprocessors: 50 %, memory: 25 %}
  - {name: second, transfer: 1 GB, from: a, to: b, after: [first]}
  - {name: third, collective: all-reduce, bytes: 2 GB, devices: [b, a], algorithm: ring,
     multiprocessors: 10 %, after: [first, second]}
  - {name: fourth, compute: 1 ms, on: b}
)";

}  // namespace sim::scenario
