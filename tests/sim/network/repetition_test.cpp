// Runs that jump over what repeats, against runs of everything.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/sim/network/equal_outcomes.h"
#include "tests/sim/network/hand_system.h"

using namespace sim;
using namespace sim::network;

namespace {

Outcome jumping(const System& system) { return outcome_of(system, {nullptr, true}); }
Outcome whole(const System& system) { return outcome_of(system, {nullptr, false}); }

// Streams that repeat a round of a few operations: each may wait for operations of this round
// written before it, or of a round before. Something of its own at the beginning and at the end;
// sometimes a collective that waits for all rounds, or one round that is different.
HandSystem periodic_system(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  HandSystem result;
  const std::int64_t resources = 1 + below(5), streams = 1 + below(6), rounds = 40 + below(60);
  for (std::int64_t r = 0; r < resources; ++r) {
    const auto resource = result.resource("r" + std::to_string(r), 40 + below(60));
    if (below(2) == 0) result.observe(resource);
  }
  for (std::int64_t s = 0; s < streams; ++s) result.stream("s" + std::to_string(s));
  const auto collective = result.stream("collective");
  struct Planned {
    std::int32_t stream;
    Operation operation;
    std::int32_t target = -1;  // planned operation waited for, so many rounds before
    std::int64_t lateness = 0;
  };
  std::vector<Planned> round;
  for (std::int64_t i = 1 + below(8); i > 0; --i) {
    Planned p{static_cast<std::int32_t>(below(std::uint64_t(streams))), {}};
    p.operation = {.lag = below(3) == 0 ? below(4) * 100 : 0,
                   .work = below(8) == 0 ? 0 : (1 + below(6)) * 250 + below(3),
                   .weight = weight_one * (1 + below(4)) / 2,
                   .kind = static_cast<std::uint8_t>(below(4))};
    for (std::int64_t u = below(3); u > 0; --u) {
      p.operation.uses.push_back(
          {static_cast<std::int32_t>(below(std::uint64_t(resources))), below(50)});
    }
    if (below(3) > 0) {
      const bool is_earlier = round.empty() || below(2) == 0;
      p.lateness = is_earlier ? 1 + below(3) : 0;
      p.target = static_cast<std::int32_t>(below(is_earlier ? round.size() + 1 : round.size()));
      if (below(3) == 0) p.operation.reserve = 1 + below(9);
    }
    round.push_back(p);
  }
  // ended[planned][round]: steps of its stream when it has ended.
  std::vector<std::vector<std::int32_t>> ended(round.size());
  const std::int64_t odd = below(3) == 0 ? below(std::uint64_t(rounds)) : -1;
  for (std::int64_t s = 0; s < streams; ++s) {
    if (below(2) == 0) result.add(static_cast<std::int32_t>(s), {.work = below(3000)});
  }
  for (std::int64_t n = 0; n < rounds; ++n) {
    for (std::size_t i = 0; i < round.size(); ++i) {
      Operation o = round[i].operation;
      if (n == odd && i == 0) o.work += 333;
      const std::int64_t of = n - round[i].lateness;
      if (round[i].target >= 0 && of >= 0) {
        const auto t = static_cast<std::size_t>(round[i].target);
        WaitFor wait{.streams = {round[t].stream},
                     .steps = ended[t][static_cast<std::size_t>(of)],
                     .kind_in_progress = 4,
                     .kind_late = 8};
        if (o.reserve > 0) wait.reserve = {static_cast<std::int32_t>(i % std::size_t(resources))};
        o.waits.push_back(wait);
      } else {
        o.reserve = 0;
      }
      result.add(round[i].stream, o);
      const auto& written = result.operations()[static_cast<std::size_t>(round[i].stream)];
      ended[i].push_back(static_cast<std::int32_t>(written.size()));
    }
  }
  if (below(2) == 0) {
    WaitFor all{.streams = {round[0].stream}, .steps = ended[0].back() - 1};
    Operation o{.work = 5000, .uses = {{0, 30}}, .waits = {all}};
    result.add(collective, o);
    result.add(collective, {.work = 100, .uses = {{0, 10}}});
    result.add(round[0].stream, {.work = 10, .waits = {{{collective}, 2}}});
  } else if (below(2) == 0) {
    // Starts when some round is over, whatever the others do meanwhile.
    const auto at = static_cast<std::size_t>(below(std::uint64_t(rounds)));
    result.add(collective,
               {.work = 5000, .uses = {{0, 30}}, .waits = {{{round[0].stream}, ended[0][at]}}});
  }
  return result.share();
}

}  // namespace

TEST_CASE("repetition: 2,000 random periodic systems -> the same with and without jumps") {
  std::uint64_t events = 0, all = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    HandSystem hand = periodic_system(random);
    if (seed % 4 == 0) {
      hand.change(5000, 0, 35);
      hand.change(30000 + static_cast<Picoseconds>(random() % 9999), 0, 44);
    }
    const System system = hand.iterations(1 + static_cast<int>(seed % 2)).take();
    const Outcome jumped = jumping(system), all_run = whole(system);
    check_equal(jumped, all_run);
    events += jumped.events;
    all += all_run.events;
  }
  CHECK(3 * events < 2 * all);
}

TEST_CASE("repetition: 1,000 rounds of two streams that wait for each other -> few are run") {
  // a: 3 ms, then waits for b's last; b: 5 ms after a's.
  HandSystem hand;
  const auto a = hand.stream("a"), b = hand.stream("b");
  for (int n = 0; n < 1000; ++n) {
    hand.add(a, {.work = 3 * millisecond, .waits = {{{b}, n}}});
    hand.add(b, {.work = 5 * millisecond, .waits = {{{a}, n + 1}}});
  }
  const Outcome outcome = jumping(hand.share().take());
  CHECK(outcome.iteration_ends == std::vector<Picoseconds>{8000 * millisecond});
  CHECK(outcome.events < 600);
  check_equal(outcome, whole(hand.share().take()));
}

TEST_CASE("repetition: stops before a capacity changes") {
  HandSystem hand;
  const auto link = hand.resource("link", 100);
  const auto a = hand.stream("a");
  for (int n = 0; n < 1000; ++n) hand.add(a, {.work = millisecond, .uses = {{link, 100}}});
  // 900.5 ms at full speed, the remaining 99.5 ms at half: 1,099.5 ms.
  hand.change(900 * millisecond + millisecond / 2, link, 50);
  const Outcome outcome = jumping(hand.share().take());
  CHECK(outcome.iteration_ends == std::vector<Picoseconds>{1099 * millisecond + millisecond / 2});
  CHECK(outcome.events < 900);
}

TEST_CASE("repetition: woken from outside in the middle of what could be jumped over") {
  // a stands still until x, which stands still until y, which has nothing to do with either, is
  // half through: from 3,501 on a takes its share of the link of the stream that repeats.
  HandSystem hand;
  const auto link = hand.resource("link", 100);
  const auto repeating = hand.stream("repeating"), y = hand.stream("y"), x = hand.stream("x");
  for (int n = 0; n < 1000; ++n) hand.add(repeating, {.work = 10, .uses = {{link, 60}}});
  for (int n = 0; n < 1000; ++n) hand.add(y, {.lag = 7});
  hand.add(x, {.lag = 1, .waits = {{{y}, 500}}});
  for (int n = 1; n < 8; ++n) hand.add(x, {.lag = 1});
  hand.stream("a", {{.work = 1000, .uses = {{link, 60}}, .waits = {{{x}, 1}}}});
  const System system = hand.share().take();
  check_equal(jumping(system), whole(system));
}

TEST_CASE("repetition: a reservation that begins at the very instant of a comparison") {
  HandSystem hand;
  const auto link = hand.resource("link", 100);
  const auto repeating = hand.stream("repeating");
  for (int n = 0; n < 1000; ++n) hand.add(repeating, {.work = 10, .uses = {{link, 60}}});
  for (int at = 120; at < 140; ++at) {
    HandSystem one = hand;
    one.stream("h", {{.lag = 5,
                      .waits = {{{repeating}, at, 0, 0, {link}}, {{repeating}, 900}},
                      .reserve = 60}});
    const System system = one.share().take();
    check_equal(jumping(system), whole(system));
  }
}
