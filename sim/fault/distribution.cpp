// Quantiles and hazards in closed form, but for infant mortality, which is bisected.
#include "sim/fault/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/invariant.h"
#include "sim/base/random.h"

namespace sim::fault {
namespace {

using Kind = Distribution::Kind;

double table_quantile(const std::vector<Seconds>& table, double share) {
  invariant(!table.empty(), "a table of times is empty");
  const double place = share * static_cast<double>(table.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= table.size()) return table.back().value();
  const double low = table[below].value(), high = table[below + 1].value();
  return low + (high - low) * (place - static_cast<double>(below));
}

// The share of a table that lies below a time.
double table_share(const std::vector<Seconds>& table, double time) {
  const auto above = std::upper_bound(table.begin(), table.end(), Seconds(time));
  if (above == table.begin()) return 0;
  if (above == table.end()) return 1;
  const double low = (above - 1)->value(), high = above->value();
  const auto below = static_cast<double>(above - table.begin() - 1);
  return (below + (time - low) / (high - low)) / static_cast<double>(table.size() - 1);
}

double infant_hazard(const Life& life, double age) {
  const double decay = life.infant_decay.value();
  const double early = life.infant_extra * decay * -std::expm1(-age / decay);
  return (age + early) / life.distribution.scale.value();
}

}  // namespace

Seconds quantile(const Distribution& distribution, double share) {
  invariant(share > 0 && share < 1, "a share of a distribution is not between 0 and 1");
  const double scale = distribution.scale.value();
  switch (distribution.kind) {
    case Kind::fixed:
      return distribution.scale;
    case Kind::exponential:
      return Seconds(-scale * std::log1p(-share));
    case Kind::weibull:
      return Seconds(scale * std::pow(-std::log1p(-share), 1 / distribution.shape));
    case Kind::lognormal:
      return Seconds(scale * std::exp(distribution.shape * normal_quantile(share)));
    case Kind::table:
      return Seconds(table_quantile(distribution.table, share));
  }
  return {};
}

Seconds mean(const Distribution& distribution) {
  const double scale = distribution.scale.value(), shape = distribution.shape;
  switch (distribution.kind) {
    case Kind::fixed:
    case Kind::exponential:
      return distribution.scale;
    case Kind::weibull:
      return Seconds(scale * std::tgamma(1 + 1 / shape));
    case Kind::lognormal:
      return Seconds(scale * std::exp(shape * shape / 2));
    case Kind::table:
      break;
  }
  // Of a straight line between each two of them.
  const auto& table = distribution.table;
  invariant(!table.empty(), "a table of times is empty");
  if (table.size() == 1) return table.front();
  double sum = (table.front().value() + table.back().value()) / 2;
  for (std::size_t i = 1; i + 1 < table.size(); ++i) sum += table[i].value();
  return Seconds(sum / static_cast<double>(table.size() - 1));
}

double cumulative_hazard(const Life& life, Seconds age) {
  const Distribution& d = life.distribution;
  const double scale = d.scale.value();
  if (age.value() <= 0) return 0;
  switch (d.kind) {
    case Kind::fixed:
      return age < d.scale ? 0 : std::numeric_limits<double>::infinity();
    case Kind::exponential:
      return life.infant_extra > 0 ? infant_hazard(life, age.value()) : age.value() / scale;
    case Kind::weibull:
      return std::pow(age.value() / scale, d.shape);
    case Kind::lognormal:
      return -std::log(0.5 * std::erfc(std::log(age.value() / scale) / d.shape / std::sqrt(2.0)));
    case Kind::table:
      return -std::log1p(-table_share(d.table, age.value()));
  }
  return 0;
}

Seconds age_at(const Life& life, double hazard) {
  const Distribution& d = life.distribution;
  if (d.kind == Kind::weibull) return d.scale * std::pow(hazard, 1 / d.shape);
  if (d.kind != Kind::exponential) {
    // The next double below 1 is the oldest that a quantile can tell.
    const double share = std::clamp(-std::expm1(-hazard), 0x1p-1022, 1 - 0x1p-53);
    return quantile(d, share);
  }
  if (life.infant_extra == 0) return d.scale * hazard;
  // The rate of old parts is the least, so the age is no larger than theirs.
  double low = 0, high = hazard * d.scale.value();
  for (int step = 0; step < 200 && low < high; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (infant_hazard(life, middle) < hazard ? low : high) = middle;
  }
  return Seconds(high);
}

}  // namespace sim::fault
