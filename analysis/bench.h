// Regression benchmark: predictions of a suite of scenarios, stored and compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace analysis {

// Of one scenario. Quantities are in SI units: "iteration time [s]", "memory [byte]", ...
struct BenchEntry {
  std::string scenario;
  std::string error;  // why it has no quantities
  std::map<std::string, double> quantities;
  std::string fingerprint;
  double cpu_time_s = 0;  // of simulating it
};

struct BenchRecord {
  std::string suite;
  std::vector<BenchEntry> entries;  // by scenario
};

std::string bench_text(const BenchRecord& record);
// Throws std::runtime_error that says what is wrong with the text.
BenchRecord read_bench(const std::string& text);

// Largest relative change that counts as none.
struct Tolerances {
  double usual = 0;
  std::map<std::string, double> by_quantity = {};  // "iteration time [s]"
  double cpu_time = 0;                             // growth; 0: processor time is not compared
  double of(const std::string& quantity) const;
};

struct BenchChange {
  std::string scenario, quantity;
  std::string before, after;  // as text
  double change = 0;          // relative; 0 where there is no number
  bool is_regression = true;  // beyond the tolerance
};
struct BenchComparison {
  std::vector<BenchChange> changes;  // in order of scenario and quantity; what is the same left out
  std::vector<std::string> scenarios;
  double cpu_before_s = 0, cpu_after_s = 0;  // of the scenarios that both have
  bool is_regression() const;
};

// A fingerprint that differs where all quantities are the same is a change within tolerance: the
// events differ, not the answers.
BenchComparison compare(const BenchRecord& before, const BenchRecord& after,
                        const Tolerances& tolerances);

std::string comparison_text(const BenchComparison& comparison);
std::string comparison_markdown(const BenchComparison& comparison);
// JUnit's XML: a test case a scenario.
std::string comparison_junit(const BenchComparison& comparison);
std::string comparison_json(const BenchComparison& comparison);

}  // namespace analysis
