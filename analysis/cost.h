// What a cluster costs and draws, from prices that are given with their sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/scenario/study.h"

namespace analysis {

// Power is an upper bound: every device at its power limit all the time, busy or not, hosts at what
// their type states, times the pue. Spares cost and draw as much as the others.
struct Cost {
  double power_watts = 0;  // of the facility
  bool is_power_known = true;
  double purchase_usd = 0;
  double usd_per_hour = 0;           // rents, purchases over their life, energy of what is bought
  std::vector<std::string> missing;  // prices that the study does not give
  std::vector<std::string> assumed;  // what the figures leave out
};

//   usd_per_hour = rents + purchases x (1 / life + upkeep) + staff
//                  + energy price x pue x power of what is bought
// Worked: 1 host for 292,000 USD over 1460 d (35,040 h), 8 x 700 W + 3.4 kW = 9 kW, pue 1.25,
// 0.08 USD/kWh: 8.3333 + 0.9 = 9.2333 USD/h; with an upkeep of 6 % a year (of 365 d) and staff of 5
// USD/h 2 + 5 more.
Cost cost_of(const sim::scenario::Scenario& scenario,
             const std::optional<sim::scenario::Prices>& prices);

}  // namespace analysis
