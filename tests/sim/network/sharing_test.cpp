// Tasks in progress, by hand.
#include "sim/network/sharing.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sim;
using namespace sim::network;

namespace {

constexpr Picoseconds ms = 1'000'000'000;
constexpr std::int64_t link = 50'000'000'000;  // bytes/s

}  // namespace

TEST_CASE("sharing: alone -> ends after its work; the rate is one") {
  Sharing sharing({link}, 1);
  const Use uses[] = {{0, link}};
  sharing.start(0, 20 * ms, weight_one, uses, 3 * ms);
  sharing.resolve(3 * ms);
  CHECK(sharing.rate(0) == rate_one);
  CHECK(sharing.ends_at(0) == 23 * ms);
  CHECK((sharing.load(0) == (Int128{link} << rate_bits)));
}

TEST_CASE("sharing: a second one halves the rate until it is done -> 20 ms becomes 30 ms") {
  // Both alone 20 ms and 5 ms. From 4 ms on at a half: the short one needs 10 ms, to 14 ms; the
  // long one has done 4 + 5 = 9 by then, and needs 11 more: 25 ms.
  Sharing sharing({100}, 2);
  const Use uses[] = {{0, 100}};
  sharing.start(0, 20 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.start(1, 5 * ms, weight_one, uses, 4 * ms);
  sharing.resolve(4 * ms);
  CHECK(sharing.earliest() == 14 * ms);
  CHECK(sharing.ends_at(0) == 36 * ms);
  CHECK(sharing.ends_at(1) == 14 * ms);
  sharing.stop(1);
  sharing.resolve(14 * ms);
  CHECK(sharing.ends_at(0) == 25 * ms);
}

TEST_CASE("sharing: capacity zero from 4 to 9 ms -> 10 ms of work end at 15 ms") {
  Sharing sharing({7}, 1);
  const Use uses[] = {{0, 7}};
  sharing.start(0, 10 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.set_capacity(0, 0);
  sharing.resolve(4 * ms);
  CHECK(sharing.rate(0) == 0);
  CHECK(sharing.ends_at(0) == Sharing::never);
  sharing.set_capacity(0, 7);
  sharing.resolve(9 * ms);
  CHECK(sharing.ends_at(0) == 15 * ms);
}

TEST_CASE("sharing: a quarter of the multiprocessors reserved for 2 ms -> 3 ms become 3.5 ms") {
  // 1 ms alone, 2 ms at 3/4 = 1.5 ms of work, 0.5 ms alone.
  Sharing sharing({multiprocessors_one}, 1);
  const Use uses[] = {{0, multiprocessors_one}};
  sharing.start(0, 3 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  sharing.reserve(0, multiprocessors_one / 4);
  sharing.resolve(1 * ms);
  CHECK(sharing.rate(0) == rate_one * 3 / 4);
  CHECK(sharing.ends_at(0) == 1 * ms + 2'666'666'667);  // ceil(2 ms / 0.75)
  sharing.reserve(0, -multiprocessors_one / 4);
  sharing.resolve(3 * ms);
  CHECK(sharing.ends_at(0) == 3'500'000'000);
}

TEST_CASE("sharing: more reserved than there is -> rate zero, not below") {
  Sharing sharing({8}, 1);
  const Use uses[] = {{0, 8}};
  sharing.start(0, ms, weight_one, uses, 0);
  sharing.reserve(0, 6);
  sharing.reserve(0, 6);
  sharing.resolve(0);
  CHECK(sharing.rate(0) == 0);
  sharing.reserve(0, -6);
  sharing.resolve(ms);
  CHECK(sharing.rate(0) == rate_one / 4);
  CHECK(sharing.ends_at(0) == 5 * ms);
}

TEST_CASE("sharing: a rate so low that the end is out of reach -> never, not an early end") {
  // Rate 2 of 2^32: 1 s of work takes 2^31 s, 68 years.
  Sharing sharing({1}, 1);
  const Use uses[] = {{0, std::int64_t{1} << 31}};
  sharing.start(0, 1000 * ms, weight_one, uses, 0);
  sharing.resolve(0);
  CHECK(sharing.rate(0) == 2);
  CHECK(sharing.ends_at(0) == Sharing::never);
  sharing.set_capacity(0, std::int64_t{1} << 31);
  sharing.resolve(0);
  CHECK(sharing.ends_at(0) == 1000 * ms);
}

TEST_CASE(
    "sharing: only what is joined by full resources changes -> the other link keeps its rate") {
  // 0 and 1 share a full link; 2 is on another link; 3 crosses both, which makes them one system.
  Sharing sharing({10, 10}, 4);
  const Use first[] = {{0, 10}}, second[] = {{1, 10}}, both[] = {{0, 10}, {1, 10}};
  sharing.start(0, 10 * ms, weight_one, first, 0);
  sharing.start(2, 10 * ms, weight_one, second, 0);
  sharing.resolve(0);
  sharing.start(1, 10 * ms, weight_one, first, ms);
  sharing.resolve(ms);
  CHECK(sharing.rate(0) == rate_one / 2);
  CHECK(sharing.rate(1) == rate_one / 2);
  CHECK(sharing.rate(2) == rate_one);
  sharing.start(3, 10 * ms, weight_one, both, 2 * ms);
  sharing.resolve(2 * ms);
  // A third each on link 0; link 1 has two thirds left.
  CHECK(sharing.rate(3) == rate_one / 3);
  CHECK(sharing.rate(2) == rate_one - sharing.rate(3));
}

TEST_CASE("sharing: of four tasks on a link the due ones are taken at once -> 0 and 2, then 1, 3") {
  // Alone 1, 2, 1 and 2 ms at a quarter: the first two end at 4 ms; then 1 ms at a half.
  Sharing sharing({8}, 4);
  const Use uses[] = {{0, 8}};
  for (Sharing::Task t = 0; t < 4; ++t) sharing.start(t, (1 + t % 2) * ms, weight_one, uses, 0);
  sharing.resolve(0);
  std::vector<Sharing::Task> due;
  sharing.take_due(4 * ms - 1, due);
  CHECK(due.empty());
  CHECK(sharing.earliest() == 4 * ms);
  sharing.take_due(4 * ms, due);
  std::sort(due.begin(), due.end());
  CHECK(due == std::vector<Sharing::Task>{0, 2});
  CHECK(!sharing.in_progress(0));
  sharing.resolve(4 * ms);
  CHECK(sharing.earliest() == 6 * ms);
  CHECK((sharing.remaining(1, 5 * ms) == Int128{ms / 2} << rate_bits));
  due.clear();
  sharing.take_due(6 * ms, due);
  CHECK(due.size() == 2);
  sharing.resolve(6 * ms);
  CHECK(sharing.earliest() == Sharing::never);
}

TEST_CASE("sharing: what is left of a task goes on elsewhere -> it ends at the same instant") {
  // 10 ms, of which 3 at a rate of 3/7: 10 - 9/7 ms are left, no whole number of picoseconds.
  const Use uses[] = {{0, 7}};
  Sharing first({3}, 1), second({3}, 1);
  first.start(0, 10 * ms, weight_one, uses, 0);
  first.resolve(0);
  second.start(0, first.remaining(0, 3 * ms), weight_one, uses, 3 * ms);
  second.resolve(3 * ms);
  CHECK(second.ends_at(0) == first.ends_at(0));
  CHECK((second.remaining(0, 4 * ms) == first.remaining(0, 4 * ms)));
}

TEST_CASE(
    "sharing: 2^15 tasks of the largest amount in one group -> 2^-15 each, nothing overflows") {
  constexpr std::int64_t largest = (std::int64_t{1} << 44) - 1;
  constexpr Sharing::Task count = 1 << 15;
  for (const std::int64_t weight : {std::int64_t{1} << 10, weight_one, std::int64_t{1} << 38}) {
    CAPTURE(weight);
    Sharing sharing({largest, largest}, 2 * count);
    const Use uses[] = {{0, largest}, {1, largest}}, one[] = {{1, largest}};
    for (Sharing::Task t = 0; t < count; ++t) {
      sharing.start(t, ms, weight, uses, 0);
      sharing.start(count + t, ms, weight, one, 0);
    }
    sharing.resolve(0);
    CHECK(sharing.rate(0) == rate_one >> 16);
    CHECK(sharing.rate(count) == rate_one >> 16);
    CHECK((sharing.load(1) == Int128{largest} << rate_bits));
    CHECK(sharing.earliest() == (ms << 16));
  }
}
