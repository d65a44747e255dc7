// Quantiles, means and hazards against values worked out by hand.
#include "sim/fault/distribution.h"

#include <cmath>

#include "tests/sim/fault/models.h"

using namespace sim;
using namespace sim::fault;
using Kind = Distribution::Kind;

TEST_CASE("distribution: quantiles by hand") {
  CHECK(quantile(Distribution::fixed(Seconds(7)), 0.3) == Seconds(7));
  // Half of all live longer than M ln 2.
  CHECK(quantile(Distribution::exponential(Seconds(100)), 0.5).value() ==
        approximately(69.31471805599453));
  // scale (ln 2)^(1/k) with k = 1/2: 0.480453.
  CHECK(quantile({Kind::weibull, Seconds(1), 0.5, {}}, 0.5).value() ==
        approximately(0.480453013918201424667));
  CHECK(quantile({Kind::lognormal, Seconds(240), 1, {}}, 0.5).value() == approximately(240.0));
  // 0.975 lies at 1.959964 deviations: 240 e^1.959964 = 240 * 7.09907.
  CHECK(quantile({Kind::lognormal, Seconds(240), 1, {}}, 0.975).value() ==
        doctest::Approx(240 * 7.09907).epsilon(1e-6));
  const Distribution table{Kind::table, {}, 1, {Seconds(1), Seconds(3), Seconds(11)}};
  CHECK(quantile(table, 0.25).value() == approximately(2.0));
  CHECK(quantile(table, 0.75).value() == approximately(7.0));
}

TEST_CASE("distribution: a mean is the average of its quantiles") {
  for (const Distribution& d :
       {Distribution::exponential(Seconds(3)), Distribution{Kind::weibull, Seconds(2), 0.7, {}},
        Distribution{Kind::weibull, Seconds(2), 2, {}},
        Distribution{Kind::lognormal, Seconds(4), 1, {}},
        Distribution{Kind::table, {}, 1, {Seconds(1), Seconds(3), Seconds(11)}}}) {
    double sum = 0;
    const int parts = 200'000;
    for (int i = 0; i < parts; ++i) sum += quantile(d, (i + 0.5) / parts).value();
    CAPTURE(static_cast<int>(d.kind));
    // The midpoint rule misses a little of a long tail.
    CHECK(mean(d).value() == doctest::Approx(sum / parts).epsilon(2e-3));
  }
}

TEST_CASE("life: hazard and age are each other's inverse") {
  const Life lives[] = {
      {Distribution::exponential(Seconds(10)), 0, {}},
      {Distribution::exponential(Seconds(10)), 4, Seconds(2)},
      {{Kind::weibull, Seconds(5), 0.7, {}}, 0, {}},
      {{Kind::lognormal, Seconds(5), 1, {}}, 0, {}},
      {{Kind::table, {}, 1, {Seconds(1), Seconds(4), Seconds(16)}}, 0, {}},
  };
  for (const Life& life : lives) {
    for (const double hazard : {0.01, 0.3, 1.0, 2.5}) {
      CAPTURE(hazard);
      CHECK(cumulative_hazard(life, age_at(life, hazard)) == doctest::Approx(hazard).epsilon(1e-9));
    }
  }
  // Infant mortality by hand: (age + extra decay (1 - e^(-age/decay))) / M
  //   = (2 + 4 * 2 * (1 - 1/e)) / 10 = 0.705696.
  CHECK(cumulative_hazard(lives[1], Seconds(2)) == doctest::Approx(0.7056964).epsilon(1e-6));
}
