// Collectives inside one scale-up domain from public tables of nccl-tests.
#include <ceres/ceres.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "calibrate/profile/csv.h"
#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/least_squares.h"
#include "calibrate/profile/names.h"

namespace calibrate::profile {
namespace {

const std::vector<double> size_bands{65536, 16.0 * 1024 * 1024};

using Curve = CollectiveCurve;  // a repeat is a library version

struct Operation {
  CollectiveKind kind;
  const char* label;  // in the table
};
constexpr std::array<Operation, 4> operations{{{CollectiveKind::all_reduce, "all_reduce"},
                                               {CollectiveKind::all_gather, "all_gather"},
                                               {CollectiveKind::reduce_scatter, "reduce_scatter"},
                                               {CollectiveKind::all_to_all, "alltoall"}}};

// ranks -> curve
std::map<double, Curve> curves_of(const Table& table, const std::string& system,
                                  const std::string& label) {
  const std::size_t system_column = table.column("system"), op = table.column("op"),
                    type = table.column("dtype"), ranks = table.column("num_gpus"),
                    bytes = table.column("size_bytes"), time = table.column("time_us_median");
  std::map<double, Curve> curves;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, system_column) != system || table.text(row, op) != label ||
        table.text(row, type) != "half") {
      continue;
    }
    const double seconds = table.number(row, time).value_or(0) * 1e-6;
    if (seconds <= 0) continue;
    curves[table.number(row, ranks).value_or(0)][table.number(row, bytes).value_or(0)].push_back(
        seconds);
  }
  return curves;
}

// Every `stride`-th size from `first` on, always with the first and the last.
SizeCurve curve_through(const Curve& points, std::size_t stride) {
  std::vector<double> bytes, seconds;
  std::size_t index = 0;
  for (const auto& [size, times] : points) {
    if (index % stride == 0 || index + 1 == points.size()) {
      bytes.push_back(size);
      seconds.push_back(median(times));
    }
    ++index;
  }
  return size_curve(bytes, seconds);
}

// Errors at the sizes between when only every second size is fitted: sizes four times apart.
void add_left_out(const Curve& points, std::vector<Residual>& residuals) {
  const SizeCurve sparse = curve_through(points, 2);
  std::size_t index = 0;
  for (const auto& [size, times] : points) {
    if (index % 2 == 1 && index + 1 < points.size()) {
      residuals.push_back({size, sparse.seconds(size) / median(times) - 1});
    }
    ++index;
  }
}

struct TimeError {
  CollectiveKind kind;
  double ranks, bytes, seconds;
  template <class T>
  bool operator()(const T* p, T* residual) const {
    using std::exp;
    using std::log;
    const RingLaw<T> law{exp(p[0]), exp(p[1]), exp(p[2]), p[3], exp(p[4]), exp(p[5])};
    residual[0] = log(ring_time(law, kind, ranks, bytes)) - std::log(seconds);
    return true;
  }
};

RingLaw<double> fit_law(CollectiveKind kind, const std::map<double, Curve>& curves, double port) {
  std::array<double, 6> p{std::log(8e-6), std::log(1e-6), std::log(0.7 * port), 0,
                          std::log(1e6),  std::log(0.7)};
  ceres::Problem problem;
  for (const auto& [ranks, curve] : curves) {
    for (const auto& [bytes, times] : curve) {
      problem.AddResidualBlock(new ceres::AutoDiffCostFunction<TimeError, 1, 6>(
                                   new TimeError{kind, ranks, bytes, median(times)}),
                               new ceres::SoftLOneLoss(0.1), p.data());
    }
  }
  const std::array<double, 6> least{std::log(1e-7), std::log(1e-8), std::log(0.1 * port), -1,
                                    std::log(1e3),  std::log(0.2)};
  const std::array<double, 6> most{std::log(1e-4), std::log(1e-4), std::log(2 * port), 1,
                                   std::log(1e9),  std::log(1.5)};
  for (int i = 0; i < 6; ++i) {
    problem.SetParameterLowerBound(p.data(), i, least[static_cast<std::size_t>(i)]);
    problem.SetParameterUpperBound(p.data(), i, most[static_cast<std::size_t>(i)]);
  }
  ceres::Solver::Options options = solver_options();
  options.max_num_iterations = 200;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return {std::exp(p[0]), std::exp(p[1]), std::exp(p[2]), p[3], std::exp(p[4]), std::exp(p[5])};
}

// How wrong the middle number of ranks would be if only its neighbours were known.
double law_half_width(CollectiveKind kind, const std::map<double, Curve>& curves, double port) {
  std::map<double, Curve> others = curves;
  const double left_out = 4;
  if (others.erase(left_out) == 0 || !others.count(8)) return 0.3;
  const RingLaw<double> law = fit_law(kind, others, port);
  const SizeCurve nearest = curve_through(curves.at(8), 1);
  std::vector<double> errors;
  for (const auto& [bytes, times] : curves.at(left_out)) {
    const double answer = nearest.seconds(bytes) * ring_time(law, kind, left_out, bytes) /
                          ring_time(law, kind, 8, bytes);
    errors.push_back(std::abs(answer / median(times) - 1));
  }
  return quantile(errors, 0.8);
}

}  // namespace

CollectiveModel fit_collective(CollectiveKind kind, const std::map<double, CollectiveCurve>& curves,
                               double port, const std::string& source,
                               std::vector<FitReport>& reports) {
  CollectiveModel model;
  model.kind = kind;
  model.source = source;
  model.law = fit_law(kind, curves, port);
  model.law_half_width = law_half_width(kind, curves, port);
  std::vector<Residual> left_out;
  std::size_t samples = 0;
  for (const auto& [ranks, curve] : curves) {
    model.ranks.push_back(ranks);
    model.curves.push_back(curve_through(curve, 1));
    samples += curve.size();
    add_left_out(curve, left_out);
  }
  model.interval = interval_of(size_bands, left_out);
  const std::array<const char*, 3> bands{"< 64 KiB", "64 KiB - 16 MiB", ">= 16 MiB"};
  for (std::size_t band = 0; band < bands.size(); ++band) {
    std::vector<Residual> here;
    for (const Residual& residual : left_out) {
      const std::size_t index = residual.size < size_bands[0]   ? 0U
                                : residual.size < size_bands[1] ? 1U
                                                                : 2U;
      if (index == band) here.push_back(residual);
    }
    if (here.empty()) continue;
    reports.push_back(report_of(fmt::format("{} {}", name(kind), bands[band]),
                                model.source + "; every second size left out", samples / 2, here));
  }
  return model;
}

void add_collectives(ProfileData& data, const PublicDevice& device,
                     const std::filesystem::path& folder) {
  const std::string file = "nccl_intranode_aiconfigurator.csv";
  const Table table(folder / "nccl" / file);
  for (const Operation& operation : operations) {
    const std::map<double, Curve> curves = curves_of(table, device.system, operation.label);
    if (curves.empty()) continue;
    data.collectives.push_back(fit_collective(
        operation.kind, curves, device.port,
        "aiconfigurator, " + file + ", " + device.system + ", median of versions", data.reports));
  }
}

}  // namespace calibrate::profile
