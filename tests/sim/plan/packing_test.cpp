// Lengths of documents, and what the micro-batches of an iteration sum up to.
#include "sim/plan/packing.h"

#include "sim/plan/plan.h"
#include "tests/approximately.h"

using namespace sim;
using namespace sim::plan;

namespace {

Lengths between(double low, double high) {
  Lengths lengths;
  lengths.distribution = low < high ? Lengths::Distribution::uniform : Lengths::Distribution::fixed;
  lengths.low = low, lengths.high = high;
  return lengths;
}

Lengths lognormal(double median, double sigma) {
  Lengths lengths;
  lengths.distribution = Lengths::Distribution::lognormal;
  lengths.median = median, lengths.sigma = sigma;
  return lengths;
}

Plan packed(Lengths lengths, int data, std::int64_t micro_batch) {
  Plan plan;
  plan.data = data;
  plan.sequence = 4096;
  plan.global_batch = 64;
  plan.micro_batch = micro_batch;
  plan.packing.emplace().lengths = std::move(lengths);
  return plan;
}

double total(const PackedBatch& batch) {
  double sum = 0;
  for (const auto& replica : batch.draws) {
    for (const int draw : replica) sum += batch.sums[static_cast<std::size_t>(draw)];
  }
  return sum;
}

}  // namespace

TEST_CASE("packing: lengths below which a share of documents lie, by hand") {
  CHECK(length_at(between(300, 300), 0.9) == 300);
  // Each of 1, 2, 3, 4 is a quarter of all.
  CHECK(length_at(between(1, 4), 0.24) == 1);
  CHECK(length_at(between(1, 4), 0.26) == 2);
  CHECK(length_at(between(1, 4), 0.6) == 3);
  CHECK(length_at(between(1, 4), 0.99) == 4);
  // One standard deviation above the median: 1000 e = 2718.28.
  CHECK(length_at(lognormal(1000, 1), 0.8413447460685429) == 2718);
  CHECK(length_at(lognormal(1, 1), 0.001) == 1);  // never none
  Lengths bars;
  bars.distribution = Lengths::Distribution::histogram;
  bars.histogram = {{100, 1}, {900, 3}};
  CHECK(length_at(bars, 0.2) == 100);
  CHECK(length_at(bars, 0.3) == 900);
}

// 1000 = 3 * 300 + 100: 3 * 90,000 + 10,000. Documents that are longer than the sequence are cut.
TEST_CASE("packing: the last document is cut off") {
  Packing packing;
  packing.lengths = between(300, 300);
  CHECK(sum_of_squares(packing, 1000, 7) == 280'000);
  packing.lengths = between(5000, 5000);
  CHECK(sum_of_squares(packing, 1000, 7) == 1'000'000);
  // A histogram of one length draws what is fixed.
  packing.lengths.distribution = Lengths::Distribution::histogram;
  packing.lengths.histogram = {{300, 1}};
  CHECK(sum_of_squares(packing, 1000, 7) == 280'000);
}

// Documents of 1 to 8 tokens: a sequence of 4096 has about 4096 / 4.5 of them, whose squares have a
// mean of 204 / 8 = 25.5: 23,211. It deviates by some 300, the mean of 64 sequences by less than
// 0.3 %.
TEST_CASE("packing: drawn lengths have the mean of their distribution") {
  const PackedBatch batch = packed_batch(packed(between(1, 8), 1, 1));
  CHECK(batch.mean == approximately(4096 * 25.5 / 4.5, 0.01));
  CHECK(batch.sums.size() > 32);
}

TEST_CASE("packing: a global batch has the same sequences however it is cut") {
  const PackedBatch whole = packed_batch(packed(lognormal(700, 1), 1, 1));
  for (const int data : {1, 2, 4, 16}) {
    for (const std::int64_t micro_batch : {1, 2, 4}) {
      CAPTURE(data);
      CAPTURE(micro_batch);
      const PackedBatch batch = packed_batch(packed(lognormal(700, 1), data, micro_batch));
      CHECK(total(batch) == total(whole));  // whole numbers below 2^53
      CHECK(batch.draws.size() == static_cast<std::size_t>(data));
      CHECK(batch.draws.front().size() == static_cast<std::size_t>(64 / data / micro_batch));
    }
  }
}

TEST_CASE("packing: what is drawn is what the scenario says") {
  Plan plan = packed(lognormal(700, 1), 8, 1);
  const PackedBatch independent = packed_batch(plan);
  CHECK(independent.draws.front() != independent.draws.back());
  plan.packing->is_drawn_per_replica = false;
  const PackedBatch same = packed_batch(plan);
  CHECK(same.are_replicas_alike());
  CHECK(same.of_replica(7) == same.of_replica(0));
  CHECK(same.sums.size() == 8);  // a micro-batch each
  plan.packing->is_drawn_per_micro_batch = false;
  CHECK(packed_batch(plan).sums.size() == 1);
  plan.packing->is_drawn_per_replica = true;
  const PackedBatch by_replica = packed_batch(plan);
  CHECK(by_replica.sums.size() == 8);  // a replica each
  CHECK(by_replica.draws.front().front() == by_replica.draws.front().back());
  plan.packing->seed = 2;
  CHECK(packed_batch(plan).sums != by_replica.sums);
}

TEST_CASE("packing: leveled, every micro-batch has the mean") {
  Plan plan = packed(lognormal(700, 1), 8, 1);
  const double mean = packed_batch(plan).mean;
  plan.packing->is_leveled = true;
  const PackedBatch leveled = packed_batch(plan);
  CHECK(leveled.mean == mean);
  CHECK(leveled.sums == std::vector<double>{mean});
  CHECK(leveled.of_replica(3) == std::vector<int>(8, 0));
}
