// Stragglers that come and go, are drawn or hold up the host.
#include <fmt/format.h>

#include <fstream>
#include <set>

#include "tests/scenarios/folded_jobs.h"

using namespace sim;

namespace {

std::filesystem::path written(const std::string& text) {
  const auto file = std::filesystem::temp_directory_path() / "maquette-stragglers.yaml";
  std::ofstream(file) << text;
  return file;
}

// The errors of loading, or nothing.
std::string refusal(const std::filesystem::path& file,
                    const std::vector<scenario::Override>& overrides) {
  Diagnostics diagnostics;
  const auto read = scenario::read_scenario(file, overrides, command::catalog(), diagnostics);
  if (read) command::load(*read, diagnostics);
  return diagnostics.text();
}

std::vector<training::Disturbance> disturbances(const std::string& stragglers) {
  Diagnostics diagnostics;
  const auto read =
      scenario::read_scenario(repository() / "scenarios/quickstart.yaml",
                              {{"stragglers", stragglers}}, command::catalog(), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(read);
  const auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  return loaded->job.disturbances;
}

constexpr const char* quickstart = "scenarios/quickstart.yaml";

}  // namespace

// 1F1B with forwards of 1 and backwards of 2, 4 stages and 16 micro-batches: (16 + 3) * 3 = 57.
// The first stage slow by x: its own 16 * 3 x, and where four of its forwards end before the first
// backward comes, at x + 3 + 6, the difference. The last stage slow by x: 3 before, 16 * 3 x, 6
// behind.
TEST_CASE("one straggler among 32 devices in 4 stages -> the pipeline's own arithmetic") {
  std::string devices, links;
  for (int d = 0; d < 32; ++d) {
    devices += fmt::format("    - {{name: d{}, type: ideal}}\n", d);
    links += fmt::format("    - {{from: d{}, to: s, capacity: 100 GB/s, latency: 0 s}}\n", d);
  }
  const std::string text =
      "maquette: 1\nname: one of 32\ncluster:\n  devices:\n" + devices +
      "  switches: [s]\n  links:\n" + links +
      "dnn: {timed: {layers: 4, forward: 1 ms, backward: 2 ms}}\nstack: ideal\n"
      "training: {sequence: 1, global_batch: 128, micro_batch: 1}\n"
      "plan: {pipeline: {stages: 4, schedule: 1f1b}, data: {degree: 8}}\n";
  const auto file = written(text);
  const auto time = [&](const std::vector<scenario::Override>& overrides) {
    return static_cast<double>(run_scenario(file, overrides).result.iteration_ps());
  };
  const double normal = time({});
  CHECK(normal == 57e9);
  const struct {
    double rate, first, last;
  } cases[] = {{2.57, 2.187, 2.322}, {4.79, 4.034, 4.192}, {12.53, 10.552, 10.709}};
  for (const auto& c : cases) {
    CAPTURE(c.rate);
    const double first = time({{"stragglers", fmt::format("[{{rank: 0, slowdown: {}}}]", c.rate)}});
    const double last = time({{"stragglers", fmt::format("[{{rank: 31, slowdown: {}}}]", c.rate)}});
    const double waits = std::max(c.rate + 9 - 4 * c.rate, 0.0);
    CHECK(first / normal == doctest::Approx((48 * c.rate + waits) / 57).scale(0).epsilon(1e-5));
    CHECK(last / normal == doctest::Approx((9 + 48 * c.rate) / 57).scale(0).epsilon(1e-5));
    CHECK(std::abs(first / normal - c.first) < 0.0006);
    CHECK(std::abs(last / normal - c.last) < 0.0006);
  }
}

TEST_CASE("a host that pauses -> the devices wait for launches, and only as long as it pauses") {
  const auto file = repository() / quickstart;
  const std::vector<scenario::Override> tight = {{"run.fidelity", "operators"}};
  const auto run = [&](const char* stragglers) {
    auto overrides = tight;
    if (stragglers != nullptr) overrides.push_back({"stragglers", stragglers});
    return run_scenario(file, overrides).result;
  };
  const auto normal = run(nullptr);
  const auto first = normal.iterations_ps.front();
  // Nothing is launched for the first second: all of the first iteration is a second later, but for
  // what no host launches, the gathering of parameters at its start.
  const auto paused = run("[{part: \"h*\", host: 0 %, to: 1 s}]");
  CHECK(paused.iterations_ps.front() <= first + 1'000'000'000'000);
  CHECK(paused.iterations_ps.front() > first + 990'000'000'000);
  CHECK(paused.iterations_ps.back() == normal.iterations_ps.back());
  // A host at its own speed is as if nothing were said.
  CHECK(run("[{part: \"h*\", host: 100 %}]").iterations_ps == normal.iterations_ps);
  // Pauses of one host of 100 ms cost at most what they last, and something.
  const auto collected = run("[{part: h1, host: 0 %, every: 1 s, for: 400 ms}]");
  CHECK(collected.iterations_ps.front() > first);
  const auto slow = run("[{part: h1, host: 10 %}]");
  CHECK(slow.iterations_ps.front() > first);
}

TEST_CASE("stragglers that hit a share of the devices -> about that many, each as drawn") {
  const auto all = disturbances(
      "[{part: \"h*.gpu*\", compute: 60 %, drawn: {hit: 50 %, up_to: 90 %, seed: 5}}]");
  // 32 devices, each with probability 1/2: 16, with a deviation of 2.8.
  CHECK(all.size() >= 8);
  CHECK(all.size() <= 24);
  std::set<double> shares;
  for (const training::Disturbance& d : all) {
    CHECK(d.factor >= 0.6);
    CHECK(d.factor <= 0.9);
    shares.insert(d.factor);
  }
  CHECK(shares.size() == all.size());
  const auto again = disturbances(
      "[{part: \"h*.gpu*\", compute: 60 %, drawn: {hit: 50 %, up_to: 90 %, seed: 5}}]");
  REQUIRE(again.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(again[i].factor == all[i].factor);
  const auto others = disturbances(
      "[{part: \"h*.gpu*\", compute: 60 %, drawn: {hit: 50 %, up_to: 90 %, seed: 6}}]");
  CHECK((others.size() != all.size() || others[0].factor != all[0].factor));
}

TEST_CASE("lognormal shares -> never above normal, both sides of the median") {
  int below = 0;
  const auto all =
      disturbances("[{part: \"h*.gpu*\", compute: 80 %, drawn: {sigma: 0.1, seed: 2}}]");
  CHECK(all.size() == 32);
  for (const training::Disturbance& d : all) {
    CHECK(d.factor <= 1);
    below += d.factor < 0.8 ? 1 : 0;
  }
  CHECK(below >= 8);
  CHECK(below <= 24);
}

TEST_CASE("both directions of a NIC are slow at the same times, different NICs are not") {
  const auto all =
      disturbances("[{part: \"h0.nic[0..1]\", link: 50 %, random: {on: 1 s, off: 4 s, seed: 1}}]");
  std::set<std::uint32_t> owners;
  for (const training::Disturbance& d : all) {
    owners.insert(std::get<training::OnOff>(d.pattern).key.owner);
  }
  CHECK(all.size() > owners.size());
  CHECK(owners.size() > 1);
  const auto together = disturbances(
      "[{part: \"h*.gpu*\", compute: 50 %, random: {on: 1 s, off: 4 s, together: true}}]");
  owners.clear();
  for (const training::Disturbance& d : together) {
    owners.insert(std::get<training::OnOff>(d.pattern).key.owner);
  }
  CHECK(owners.size() == 1);
}

// Laid out to 10 s at first; 20 iterations end later.
TEST_CASE("a straggler that comes and goes without an end -> also after the first ten seconds") {
  const auto file = repository() / quickstart;
  const std::string stragglers = "[{part: h0.gpu1, compute: 50 %, every: 3 s, for: 1 s}]";
  Diagnostics diagnostics;
  const auto read =
      scenario::read_scenario(file, {{"stragglers", stragglers}, {"run.iterations", "20"}},
                              command::catalog(), diagnostics);
  REQUIRE(read);
  auto loaded = command::load(*read, diagnostics);
  REQUIRE(loaded);
  const auto times = [&] {
    return std::get<training::Result>(training::simulate(loaded->job)).iterations_ps;
  };
  const auto slow = times();
  loaded->job.horizon *= 1000;  // more than the job needs
  CHECK(slow == times());
  std::int64_t sum = 0;
  for (const std::int64_t time : slow) sum += time;
  REQUIRE(sum > 12'000'000'000'000);
}

TEST_CASE("stragglers of every kind: folded as with every rank run") {
  const auto file = repository() / quickstart;
  for (const char* stragglers :
       {"[{part: h0.gpu1, compute: 50 %, every: 200 ms, for: 70 ms}]",
        "[{part: h0.nic1, link: 30 %, random: {on: 50 ms, off: 100 ms, seed: 3}}]",
        "[{part: h2.gpu0, compute: 60 %, memory: 60 %, ramp: {over: 1 s, steps: 5}}]",
        "[{part: h1, host: 0 %, every: 500 ms, for: 100 ms}]",
        "[{part: \"h*.gpu*\", compute: 80 %, drawn: {hit: 20 %, up_to: 95 %, seed: 4}}]"}) {
    CAPTURE(stragglers);
    const Both both = run_both(file, {{"stragglers", stragglers}});
    CHECK(both.folded.fold.task_classes < both.whole.fold.task_classes);
    check_equal(both.folded, both.whole);
  }
}

TEST_CASE("stragglers that cannot be -> refused by name") {
  const auto file = repository() / quickstart;
  CHECK(refusal(file, {{"stragglers", "[{part: leaf0, compute: 50 %}]"}})
            .find("compute of 'leaf0', which has no device") != std::string::npos);
  CHECK(refusal(file, {{"stack", "ideal"}, {"stragglers", "[{part: h0, host: 50 %}]"}})
            .find("a slow host where launches take no time") != std::string::npos);
  CHECK(refusal(file, {{"stragglers", "[{part: \"h*\", link: 50 %, every: 1 us, for: 0.5 us}]"}})
            .find("more than 100000 changes a second are not simulated") != std::string::npos);
}
