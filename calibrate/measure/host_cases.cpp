// The shapes that are measured on a CPU.
#include "calibrate/measure/host_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "calibrate/profile/fit_parts.h"
#include "calibrate/profile/names.h"
#include "kernels/host/gemm.h"
#include "kernels/host/pointwise.h"

namespace calibrate::measure {
namespace {

using profile::CollectiveKind;
using profile::Layout;
namespace host = kernels::host;

constexpr std::size_t arena_floats = std::size_t{48} << 20;  // 192 MiB
constexpr std::size_t shapes_of_a_layout = 64;
constexpr double size_least = 24, size_most = 2048;
constexpr double flops_most = 6e9;  // a tenth of a second or so
constexpr std::size_t cache_line_floats = 16;

int size_of(std::size_t index, std::size_t dimension) {
  const double size =
      size_least * std::pow(size_most / size_least, profile::halton(index, dimension));
  const int step = size < 128 ? 4 : 16;
  // Every fourth shape is off the lattice that libraries like.
  return static_cast<int>(size) / step * step + (index % 4 == 3 ? 3 : 0);
}

void add_gemm(std::vector<HostCase>& cases, Arena& arena, Layout layout, int m, int n, int k) {
  const auto a = static_cast<std::size_t>(m) * static_cast<std::size_t>(k),
             b = static_cast<std::size_t>(n) * static_cast<std::size_t>(k),
             c = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  const bool accumulates = layout == Layout::weight_gradient;
  cases.push_back(
      {{"gemm",
        fmt::format("fp32 {}", profile::name(layout)),
        {static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)},
        {}},
       [=, &arena] {
         host::gemm({layout, m, n, k, accumulates, arena.take(a), arena.take(b), arena.take(c)});
       }});
}

void add_gemms(std::vector<HostCase>& cases, Arena& arena) {
  std::size_t first = 0;
  for (const Layout layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient}) {
    std::size_t taken = 0;
    for (std::size_t i = first; taken < shapes_of_a_layout; ++i) {
      const int m = size_of(i, 0), n = size_of(i, 1), k = size_of(i, 2);
      if (2.0 * m * n * k > flops_most) continue;
      add_gemm(cases, arena, layout, m, n, k);
      ++taken;
    }
    first += 1000;
    for (const auto& [m, n, k] : {std::tuple{1024, 1024, 1024}, std::tuple{2048, 1024, 1024},
                                  std::tuple{1024, 2048, 1024}, std::tuple{512, 2048, 2048},
                                  std::tuple{1024, 1024, 2048}, std::tuple{1536, 1536, 1024}}) {
      add_gemm(cases, arena, layout, m, n, k);
    }
  }
}

// Rows of 1024 elements, of logits 4096.
constexpr std::size_t width = 1024, vocabulary = 4096;

struct Stream {
  const char* name;
  double bytes_of_element;
  std::function<void(Arena&, std::size_t elements)> run;
};

std::vector<Stream> streams() {
  static const std::vector<float> row(width, 0.5F);
  static const std::vector<int> targets(std::size_t{1} << 16, 7);
  const auto rows = [](std::size_t elements) { return host::Rows{elements / width, width}; };
  return {{"copy", host::copy_bytes,
           [](Arena& a, std::size_t n) {
             host::copy({a.take(n), n}, {a.take(n), n});
           }},
          {"add", host::add_bytes,
           [](Arena& a, std::size_t n) {
             host::add({a.take(n), n}, {a.take(n), n}, {a.take(n), n});
           }},
          {"triad", host::triad_bytes,
           [](Arena& a, std::size_t n) {
             host::triad({a.take(n), n}, {a.take(n), n}, 0.5F, {a.take(n), n});
           }},
          {"residual", host::residual_bytes,
           [](Arena& a, std::size_t n) {
             host::residual({a.take(n), n}, {a.take(n), n});
           }},
          {"rms norm", host::rms_norm_bytes,
           [rows](Arena& a, std::size_t n) {
             host::rms_norm(rows(n), a.take(n), row.data(), a.take(n));
           }},
          {"swiglu", host::swiglu_bytes,
           [](Arena& a, std::size_t n) {
             host::swiglu({a.take(n), n}, {a.take(n), n}, {a.take(n), n});
           }},
          {"rotary", host::rotary_bytes,
           [rows](Arena& a, std::size_t n) {
             host::rotary(rows(n), row.data(), row.data(), a.take(n));
           }},
          {"cross entropy", host::cross_entropy_bytes,
           [](Arena& a, std::size_t n) {
             host::cross_entropy({n / vocabulary, vocabulary}, targets.data(), a.take(n));
           }},
          {"adam", host::adam_bytes, [](Arena& a, std::size_t n) {
             host::adam({}, {a.take(n), n}, {a.take(n), n}, {a.take(n), n}, {a.take(n), n});
           }}};
}

void add_streams(std::vector<HostCase>& cases, Arena& arena) {
  for (const Stream& stream : streams()) {
    for (std::size_t elements = std::size_t{1} << 12; elements <= std::size_t{1} << 22;
         elements *= 4) {
      cases.push_back(
          {{"memory", stream.name, {stream.bytes_of_element * static_cast<double>(elements)}, {}},
           [run = stream.run, &arena, elements] { run(arena, elements); }});
    }
  }
}

void exchange(Team& team, std::span<const float> out, std::span<float> in) {
  const int ranks = team.ranks(), next = (team.rank() + 1) % ranks,
            before = (team.rank() + ranks - 1) % ranks;
  for (std::size_t from = 0; from < out.size(); from += Team::slot_floats) {
    const std::size_t size = std::min(Team::slot_floats, out.size() - from);
    team.send(next, out.subspan(from, size));
    team.receive(before, in.subspan(from, size));
  }
}

void run_collective(Team& team, Arena& arena, CollectiveKind kind, std::size_t n) {
  const std::span<float> data(arena.take(n), n);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return team.all_reduce(data);
    case CollectiveKind::all_gather:
      return team.all_gather(data);
    case CollectiveKind::reduce_scatter:
      return team.reduce_scatter(data);
    case CollectiveKind::all_to_all:
      return team.all_to_all(data, {arena.take(n), n});
    case CollectiveKind::broadcast:
      return team.broadcast(data);
    case CollectiveKind::send_receive:
      return exchange(team, data, {arena.take(n), n});
  }
}

void add_collectives(std::vector<HostCase>& cases, Team& team, Arena& arena) {
  if (team.ranks() < 2) return;
  using enum CollectiveKind;
  const auto ranks = static_cast<std::size_t>(team.ranks());
  for (const CollectiveKind kind :
       {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive}) {
    for (std::size_t wanted = 64; wanted <= std::size_t{1} << 24; wanted *= 4) {
      const std::size_t n = (wanted + ranks - 1) / ranks * ranks;
      cases.push_back({{"collective",
                        profile::name(kind),
                        {static_cast<double>(ranks), 4 * static_cast<double>(n)},
                        {}},
                       [&team, &arena, kind, n] { run_collective(team, arena, kind, n); }});
    }
  }
}

}  // namespace

Arena::Arena() : memory_(arena_floats, 0.25F) {}

float* Arena::take(std::size_t count) {
  if (next_ + count > memory_.size()) next_ = 0;
  float* start = memory_.data() + next_;
  next_ += (count + cache_line_floats - 1) / cache_line_floats * cache_line_floats;
  return start;
}

std::vector<HostCase> host_cases(Team& team, Arena& arena) {
  std::vector<HostCase> cases;
  add_gemms(cases, arena);
  add_streams(cases, arena);
  add_collectives(cases, team, arena);
  return cases;
}

}  // namespace calibrate::measure
