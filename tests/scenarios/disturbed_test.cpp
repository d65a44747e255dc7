// Lanes that are split because something disturbs them, against the same lanes merged.
#include "tests/scenarios/run_scenario.h"

using namespace sim;

namespace {

double iteration(const std::vector<scenario::Override>& overrides) {
  const auto file = repository() / "scenarios/quickstart.yaml";
  return static_cast<double>(run_scenario(file, overrides).result.iteration_ps());
}

}  // namespace

TEST_CASE("a straggler at 100 % splits its tensor group and changes nothing (0.5 %)") {
  const double normal = iteration({});
  const double split = iteration({{"stragglers", "[{part: h0.gpu1, compute: 100 %}]"}});
  CHECK(split == doctest::Approx(normal).scale(0).epsilon(0.005));
}

TEST_CASE("a device at half speed slows the job by less than two and by more than a tenth") {
  const double normal = iteration({});
  const double slow = iteration({{"stragglers", "[{part: h0.gpu1, compute: 50 %}]"}});
  CHECK(slow > 1.1 * normal);
  CHECK(slow < 2 * normal);
}

TEST_CASE("a slower device never makes the job faster") {
  double before = iteration({});
  for (const char* speed : {"90 %", "70 %", "40 %"}) {
    CAPTURE(speed);
    const double now =
        iteration({{"stragglers", std::string("[{part: h0.gpu1, compute: ") + speed + "}]"}});
    CHECK(now >= before * 0.999);
    before = now;
  }
}

TEST_CASE("a slow host sets the pace alike in segments and operators (0.5 %)") {
  for (const char* ahead : {"16", "64", "1024"}) {
    for (const char* launch : {"5 us", "100 us", "400 us"}) {
      CAPTURE(ahead);
      CAPTURE(launch);
      const std::string stack = std::string("{base: megatron-core, host_run_ahead: ") + ahead +
                                ", host_per_operator: " + launch + "}";
      const double segments = iteration({{"stack", stack}});
      const double operators = iteration({{"stack", stack}, {"run.fidelity", "operators"}});
      CHECK(segments == doctest::Approx(operators).scale(0).epsilon(0.005));
    }
  }
}
