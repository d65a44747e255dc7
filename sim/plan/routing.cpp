// Shares of experts, drawn by their keys alone.
#include "sim/plan/routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/invariant.h"
#include "sim/base/random.h"

namespace sim::plan {

namespace {

constexpr std::uint32_t purpose_of_order = 0x6578;  // apart from the draws of jitter

// The numbers from 0 in an order that the seed and the place give.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed,
                                  const RoutingPlace& place) {
  constexpr int expert_bits = 16, micro_batch_bits = 24;
  const std::uint64_t first = ((static_cast<std::uint64_t>(place.group) << micro_batch_bits) +
                               static_cast<std::uint64_t>(place.micro_batch))
                              << expert_bits;
  std::vector<double> draws;
  for (std::size_t i = 0; i < count; ++i) {
    draws.push_back(standard_normal(
        {seed, static_cast<std::uint32_t>(place.layer), purpose_of_order, first + i}));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return draws[a] < draws[b]; });
  return order;
}

}  // namespace

std::vector<double> expert_loads(const Routing& routing, int count, const RoutingPlace& place) {
  invariant(count >= 1, "a layer has no experts");
  const auto size = static_cast<std::size_t>(count);
  std::vector<double> shares(size, 1);
  if (routing.is_even()) return shares;
  const bool is_zipf = routing.distribution == Routing::Distribution::zipf;
  const bool is_fixed = routing.draw == Routing::Draw::fixed;
  invariant(is_zipf || routing.histogram.size() == size, "a share for each expert");
  for (std::size_t i = 0; i < size; ++i) {
    shares[i] =
        is_zipf ? std::pow(static_cast<double>(i + 1), -routing.exponent) : routing.histogram[i];
  }
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / count;
  std::vector<double> loads(size);
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (is_zipf || !is_fixed || !routing.are_groups_alike) {
    const bool is_per_micro_batch = routing.draw == Routing::Draw::per_micro_batch;
    order = shuffled(size, routing.seed,
                     {is_fixed ? 0 : place.layer + 1, is_per_micro_batch ? place.micro_batch : 0,
                      routing.are_groups_alike ? 0 : place.group});
  }
  for (std::size_t i = 0; i < size; ++i) loads[order[i]] = shares[i] / mean;
  return loads;
}

std::vector<RankLoad> rank_loads(const Routing& routing, int count, int ranks,
                                 const RoutingPlace& place) {
  invariant(ranks >= 1 && count % ranks == 0, "experts are not in equal blocks");
  const std::vector<double> loads = expert_loads(routing, count, place);
  const int each = count / ranks;
  std::vector<RankLoad> result;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto first = loads.begin() + std::ptrdiff_t{rank} * each;
    const double mean = std::accumulate(first, first + each, 0.0) / each;
    const double largest = *std::max_element(first, first + each);
    result.push_back({mean, mean > 0 ? largest / mean : 1});
  }
  return result;
}

}  // namespace sim::plan
