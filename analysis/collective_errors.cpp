// Errors of predicted collectives, by class, as text and as JSON.
#include "analysis/collective_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/json_writer.h"

namespace analysis {
namespace {

constexpr double small_max = 65536, medium_max = 64.0 * 1024 * 1024;  // [byte]
constexpr int few_hosts_max = 16;

const char* place_of(const CollectiveError& row) {
  if (row.hosts == 1) return "inside a host";
  return row.hosts <= few_hosts_max ? "2 to 16 hosts" : "more than 16 hosts";
}

const char* sizes_of(const CollectiveError& row) {
  const double size = row.size.value();
  if (size < small_max) return "below 64 KiB";
  return size < medium_max ? "64 KiB to 64 MiB" : "from 64 MiB";
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

ErrorClass class_of(const std::string& place, const std::string& sizes, bool in_sample,
                    const std::vector<const CollectiveError*>& rows) {
  ErrorClass result{place, sizes, in_sample};
  std::set<std::string> runs;
  std::vector<double> errors, absolute;
  for (const CollectiveError* row : rows) {
    runs.insert(row->run);
    errors.push_back(row->error());
    absolute.push_back(std::abs(row->error()));
    result.mean_absolute += absolute.back();
    if (absolute.back() > std::abs(result.worst)) result.worst = row->error();
  }
  result.rows = static_cast<int>(rows.size());
  result.runs = static_cast<int>(runs.size());
  result.mean_absolute /= result.rows;
  result.median_absolute = middle(absolute);
  result.bias = middle(errors);
  return result;
}

std::string size_text(sim::Bytes size) {
  const double bytes = size.value();
  for (const auto& [unit, factor] :
       {std::pair{"GiB", 1073741824.0}, std::pair{"MiB", 1048576.0}, std::pair{"KiB", 1024.0}}) {
    if (bytes >= factor) return fmt::format("{:.4g} {}", bytes / factor, unit);
  }
  return fmt::format("{:.0f} B", bytes);
}

}  // namespace

std::vector<ErrorClass> error_classes(const std::vector<CollectiveError>& rows) {
  std::vector<ErrorClass> classes;
  for (const char* place : {"inside a host", "2 to 16 hosts", "more than 16 hosts"}) {
    for (const char* sizes : {"below 64 KiB", "64 KiB to 64 MiB", "from 64 MiB"}) {
      for (const bool in_sample : {false, true}) {
        std::vector<const CollectiveError*> members;
        for (const CollectiveError& row : rows) {
          if (row.in_sample != in_sample || std::string(place) != place_of(row)) continue;
          if (std::string(sizes) == sizes_of(row)) members.push_back(&row);
        }
        if (!members.empty()) classes.push_back(class_of(place, sizes, in_sample, members));
      }
    }
  }
  return classes;
}

std::string to_text(const CollectiveReport& report, bool is_brief) {
  std::string text = report.file + "\n";
  if (!is_brief && !report.rows.empty()) {
    text += fmt::format("  {:38} {:14} {:>10} {:>5} {:>5} {:>13} {:>13} {:>8}  {}\n", "run",
                        "operation", "size", "ranks", "hosts", "measured", "predicted", "error",
                        "taken for it");
    for (const CollectiveError& row : report.rows) {
      text +=
          fmt::format("  {:38} {:14} {:>10} {:5} {:5} {:8.2f} GB/s {:8.2f} GB/s {:+6.1f} %  {}{}\n",
                      row.run, row.operation, size_text(row.size), row.ranks, row.hosts,
                      row.measured.value() * 1e-9, row.predicted.value() * 1e-9, 100 * row.error(),
                      row.chosen, row.in_sample ? " (in the fit)" : "");
    }
  }
  for (const SkippedRun& run : report.skipped) {
    text += fmt::format("  skipped {}, {} row{}: {}\n", run.run, run.rows, run.rows == 1 ? "" : "s",
                        run.why);
  }
  for (const std::string& assumed : report.assumed) {
    text += fmt::format("  assumed: {}\n", assumed);
  }
  if (report.rows.empty()) return text + "  nothing was predicted\n";
  text +=
      fmt::format("\n  {:18} {:16} {:14} {:>5} {:>5} {:>9} {:>9} {:>9} {:>9}\n", "bus bandwidth",
                  "sizes", "rows are", "runs", "rows", "median", "mean", "bias", "worst");
  for (const ErrorClass& one : error_classes(report.rows)) {
    text += fmt::format("  {:18} {:16} {:14} {:5} {:5} {:7.1f} % {:7.1f} % {:+7.1f} % {:+7.1f} %\n",
                        one.place, one.sizes, one.in_sample ? "in the fit" : "out of sample",
                        one.runs, one.rows, 100 * one.median_absolute, 100 * one.mean_absolute,
                        100 * one.bias, 100 * one.worst);
  }
  return text;
}

std::string to_json(const CollectiveReport& report) {
  JsonWriter json;
  json.open_object().member("file", report.file).key("rows").open_array();
  for (const CollectiveError& row : report.rows) {
    json.open_object().member("run", row.run).member("operation", row.operation);
    json.member("size_bytes", row.size.value()).member("ranks", row.ranks);
    json.member("hosts", row.hosts);
    json.member("measured_bus_bytes_per_s", row.measured.value());
    json.member("predicted_bus_bytes_per_s", row.predicted.value());
    json.member("error", row.error()).member("chosen", row.chosen);
    json.member("in_sample", row.in_sample).close_object();
  }
  json.close_array().key("skipped").open_array();
  for (const SkippedRun& run : report.skipped) {
    json.open_object().member("run", run.run).member("rows", run.rows);
    json.member("why", run.why).close_object();
  }
  json.close_array().member("assumed", report.assumed).key("classes").open_array();
  for (const ErrorClass& one : error_classes(report.rows)) {
    json.open_object().member("place", one.place).member("sizes", one.sizes);
    json.member("in_sample", one.in_sample).member("runs", one.runs).member("rows", one.rows);
    json.member("median_absolute_error", one.median_absolute);
    json.member("mean_absolute_error", one.mean_absolute);
    json.member("median_error", one.bias).member("worst_error", one.worst).close_object();
  }
  json.close_array().close_object();
  return json.take();
}

}  // namespace analysis
