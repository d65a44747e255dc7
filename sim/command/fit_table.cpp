// The table of fit errors.
#include "sim/command/fit_table.h"

#include <fmt/format.h>

namespace sim::command {

void print_fit_errors(const calibrate::profile::ProfileData& data) {
  fmt::print("{:<36}{:>8}{:>10}{:>9}{:>10}\n", "fit, on samples held out", "samples", "mean [%]",
             "p90 [%]", "bias [%]");
  for (const calibrate::profile::FitReport& report : data.reports) {
    fmt::print("{:<36}{:>8}{:>10.1f}{:>9.1f}{:>+10.1f}\n", report.family, report.held_out,
               100 * report.mape, 100 * report.p90, 100 * report.bias);
  }
}

}  // namespace sim::command
