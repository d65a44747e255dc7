// Executes schedules on sets of contributions, and compares their sums with traffic().
#include "sim/collective/steps.h"

#include <cstdint>

#include "tests/approximately.h"
#include "tests/sim/collective/layouts.h"

using namespace sim;
using namespace sim::collective;

namespace {

using Contributions = std::uint32_t;  // bit i: rank i's

// What each rank holds of each chunk. Fails where a contribution would be added twice, something
// unfinished copied, or something delivered to a member that has it (`may_repeat`: or is its
// owner).
class Execution {
 public:
  Execution(Operation operation, const Layout& layout, const Steps& steps, bool may_repeat)
      : steps_(steps), may_repeat_(may_repeat), ranks_(layout.ranks()) {
    const bool sums = operation == Operation::all_reduce || operation == Operation::reduce_scatter;
    all_ = sums ? static_cast<Contributions>((std::uint64_t{1} << ranks_) - 1) : 1;
    held_.assign(static_cast<std::size_t>(ranks_),
                 std::vector<Contributions>(steps.chunks.size(), 0));
    for (int rank = 0; rank < ranks_; ++rank) {
      for (std::size_t chunk = 0; chunk < steps.chunks.size(); ++chunk) {
        if (sums) held(rank, chunk) = Contributions{1} << rank;
        if (!sums && steps.chunks[chunk].owner == rank) held(rank, chunk) = 1;
      }
    }
    for (const Step& step : steps.steps) run(step);
  }

  bool is_complete(int rank, std::size_t chunk) { return held(rank, chunk) == all_; }

 private:
  Contributions& held(int rank, std::size_t chunk) {
    return held_[static_cast<std::size_t>(rank)][chunk];
  }

  void run(const Step& step) {
    std::vector<Contributions> sent;
    for (const Move& move : step) {
      sent.push_back(held(move.source, static_cast<std::size_t>(move.chunk)));
    }
    for (std::size_t i = 0; i < step.size(); ++i) {
      const Move& move = step[i];
      const auto chunk = static_cast<std::size_t>(move.chunk);
      Contributions& target = held(move.target, chunk);
      if (move.reduces) {
        REQUIRE((target & sent[i]) == 0);
        target |= sent[i];
      } else {
        REQUIRE(sent[i] == all_);
        const bool is_repeat = may_repeat_ && steps_.chunks[chunk].owner == move.target;
        REQUIRE((target != all_ || is_repeat));
        target = all_;
      }
    }
  }

  const Steps& steps_;
  bool may_repeat_;
  int ranks_;
  Contributions all_;
  std::vector<std::vector<Contributions>> held_;
};

void check_delivery(Operation operation, Algorithm algorithm, const Layout& layout) {
  if (!can_run(operation, algorithm, layout)) return;
  CAPTURE(name(operation));
  CAPTURE(name(algorithm));
  CAPTURE(layout.host_of.size());
  CAPTURE(layout.host_of.back());
  const Steps all = steps(operation, algorithm, layout);
  // Where hosts are uneven, members without a lane of their own get their own part back.
  const bool may_repeat = algorithm == Algorithm::hierarchical && !is_even(layout);
  Execution execution(operation, layout, all, may_repeat);
  double shares = 0;
  for (std::size_t chunk = 0; chunk < all.chunks.size(); ++chunk) {
    shares += all.chunks[chunk].share;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      if (operation == Operation::reduce_scatter && all.chunks[chunk].owner != rank) continue;
      REQUIRE(execution.is_complete(rank, chunk));
    }
  }
  CHECK(shares == approximately(1.0));
}

void check_sums(Operation operation, Algorithm algorithm, const Layout& layout) {
  if (!can_run(operation, algorithm, layout)) return;
  const Steps all = steps(operation, algorithm, layout);
  std::map<std::pair<int, int>, double> sums;
  for (const Step& step : all.steps) {
    for (const Move& move : step) {
      sums[{move.source, move.target}] += all.chunks[static_cast<std::size_t>(move.chunk)].share;
    }
  }
  const Traffic expected = traffic(operation, algorithm, layout, Bytes(1));
  REQUIRE(sums.size() == expected.hops.size());
  for (const Hop& hop : expected.hops) {
    CHECK(hop.bytes.value() == approximately(sums[{hop.source, hop.target}]));
  }
  CHECK(static_cast<int>(all.steps.size()) == expected.intra_steps + expected.inter_steps);
}

const std::pair<Operation, Algorithm> all_schedules[] = {
    {Operation::all_reduce, Algorithm::ring},
    {Operation::all_reduce, Algorithm::tree},
    {Operation::all_reduce, Algorithm::hierarchical},
    {Operation::all_gather, Algorithm::ring},
    {Operation::all_gather, Algorithm::hierarchical},
    {Operation::all_gather, Algorithm::pat},
    {Operation::reduce_scatter, Algorithm::ring},
    {Operation::reduce_scatter, Algorithm::hierarchical},
    {Operation::reduce_scatter, Algorithm::pat},
    {Operation::broadcast, Algorithm::ring}};

}  // namespace

TEST_CASE("steps: every chunk reaches everyone once, every contribution counts once") {
  for (const auto& [operation, algorithm] : all_schedules) {
    for (const Layout& layout : even_layouts(16)) check_delivery(operation, algorithm, layout);
    for (const Layout& layout : all_layouts(7)) check_delivery(operation, algorithm, layout);
  }
}

TEST_CASE("steps: their sums per pair of ranks and their number are traffic()'s") {
  for (const auto& [operation, algorithm] : all_schedules) {
    for (const Layout& layout : even_layouts(16)) check_sums(operation, algorithm, layout);
    for (const Layout& layout : all_layouts(7)) check_sums(operation, algorithm, layout);
  }
}

TEST_CASE("steps: a reduce-scatter ends with each rank's share at that rank") {
  // 2 hosts x 2, ring: 4 ranks own 2 chunks (one a ring) of 1/8 each, 1/4 together.
  const Steps all = steps(Operation::reduce_scatter, Algorithm::ring, even_layout(2, 2));
  std::map<int, double> owned;
  for (const Chunk& chunk : all.chunks) owned[chunk.owner] += chunk.share;
  REQUIRE(owned.size() == 4);
  for (const auto& [rank, share] : owned) CHECK(share == approximately(0.25));
}
