// Sums over hosts and devices.
#include "analysis/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace analysis {

using sim::scenario::Price;
using sim::scenario::Prices;
using sim::scenario::Scenario;

namespace {

constexpr double seconds_per_hour = 3600, hours_per_year = 365 * 24;

const Price* find(const std::vector<Price>& prices, const std::string& type) {
  const auto found =
      std::find_if(prices.begin(), prices.end(), [&](const Price& p) { return p.type == type; });
  return found == prices.end() ? nullptr : &*found;
}

class Adder {
 public:
  Adder(const Scenario& scenario, const std::optional<Prices>& prices)
      : scenario_(scenario), prices_(prices) {
    if (prices && prices->pue) pue_ = prices->pue->value;
    if (prices && prices->other_power) other_power_ = prices->other_power->value;
  }

  Cost run() {
    for (const topology::HostGroup& group : scenario_.cluster.hosts) {
      const double devices = static_cast<double>(group.count) * group.type.devices;
      if (group.type.power_watts <= 0) {
        assume(fmt::format("power of hosts '{}' without their devices: not stated, left out",
                           group.type.name));
      }
      const double watts = device_power(group.type.device_type, devices) +
                           group.count * group.type.power_watts + devices * other_power_;
      add(group.type.name, group.count, group.type.device_type, devices, watts);
    }
    std::map<std::string, int> single;
    if (scenario_.cluster.graph) {
      for (const auto& device : scenario_.cluster.graph->devices) ++single[device.device_type];
    }
    for (const auto& [type, count] : single) {
      add("", 0, type, count, device_power(type, count) + count * other_power_);
    }
    finish();
    return std::move(cost_);
  }

 private:
  void assume(const std::string& text) {
    if (std::count(cost_.assumed.begin(), cost_.assumed.end(), text) == 0) {
      cost_.assumed.push_back(text);
    }
  }
  double device_power(const std::string& type, double count) {
    const auto found = scenario_.device_types.find(type);
    const double watts = found == scenario_.device_types.end() ? 0 : found->second.power_watts;
    if (watts <= 0) {
      cost_.is_power_known = false;
      assume(fmt::format("power limit of device '{}': not stated", type));
    }
    return watts * count;
  }
  void add(const std::string& host, double hosts, const std::string& device, double devices,
           double watts) {
    cost_.power_watts += watts * pue_;
    if (!prices_) return;
    const Price* price = host.empty() ? nullptr : find(prices_->hosts, host);
    double count = hosts;
    if (!price) {
      price = find(prices_->devices, device);
      count = devices;
    }
    if (!price) {
      cost_.missing.push_back(
          host.empty()
              ? fmt::format("no price of device type '{}'", device)
              : fmt::format("no price of host type '{}' or device type '{}'", host, device));
    } else if (price->rent) {
      cost_.usd_per_hour += *price->rent * count;
    } else {
      cost_.purchase_usd += *price->purchase * count;
      bought_watts_ += watts * pue_;
    }
    if (prices_->network) cost_.purchase_usd += prices_->network->value * devices;
  }
  void finish() {
    if (!prices_ || !prices_->other_power) assume("power of switches and storage: left out");
    if (!prices_ || !prices_->pue) assume("pue: 1, the power is that of the machines");
    if (!prices_) return;
    if (!prices_->network) assume("price of switches and cables: left out");
    if (!prices_->staff) assume("price of staff: left out");
    if (prices_->staff) cost_.usd_per_hour += prices_->staff->value;
    if (prices_->life) {
      cost_.usd_per_hour += cost_.purchase_usd / (prices_->life->value() / seconds_per_hour);
      if (!prices_->upkeep) assume("price of maintenance and space: left out");
    }
    if (prices_->upkeep) {
      cost_.usd_per_hour += cost_.purchase_usd * prices_->upkeep->value / hours_per_year;
    }
    if (prices_->energy) {
      cost_.usd_per_hour += prices_->energy->value * bought_watts_ * seconds_per_hour;
    }
  }

  const Scenario& scenario_;
  const std::optional<Prices>& prices_;
  double pue_ = 1, other_power_ = 0, bought_watts_ = 0;
  Cost cost_;
};

}  // namespace

Cost cost_of(const Scenario& scenario, const std::optional<Prices>& prices) {
  return Adder(scenario, prices).run();
}

}  // namespace analysis
