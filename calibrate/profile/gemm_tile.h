// Time of a matrix product from tiles, waves of tiles over the multiprocessors, and memory.
//
// For tile (tm, tn) and split s of k, with SM multiprocessors of peak P / SM each:
//   x   = batch ceil(m / tm) ceil(n / tn) s / SM              tiles per multiprocessor
//   w   = max(x, 1) + quantisation (ceil(x) - max(x, 1))      waves
//   kc  = 32 ceil(k / (32 s)),  s > 1 only where kc >= 64
//   t   = factor[tile] cuberoot((2 tm tn kc SM / (P compute))^3 + (e (tm + tn) kc / load)^3)
//   mem = (e (mk + kn) + 2 mn + [s > 1] 8 s m n) / (B memory)
//   T(tile, s) = fourth_root((w (wave + t))^4 + mem^4) + [s > 1] split
//   T = launch + softmin over (tile, s) of T(tile, s) + conversion e m k
// The tiles are a basis, not the kernels that a library runs. Fitted per device and type.
// A template, so that the fit can differentiate it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace calibrate::profile {

struct Tile {
  int m, n;
};
inline constexpr std::array<Tile, 17> tiles{{{256, 128},
                                             {128, 256},
                                             {128, 128},
                                             {256, 64},
                                             {64, 256},
                                             {128, 64},
                                             {64, 128},
                                             {64, 64},
                                             {192, 128},
                                             {128, 192},
                                             {128, 32},
                                             {32, 128},
                                             {64, 32},
                                             {32, 64},
                                             {32, 32},
                                             {16, 64},
                                             {16, 128}}};
inline constexpr std::array<int, 7> splits{1, 2, 3, 4, 6, 8, 16};

struct GemmShape {
  double m = 0, n = 0, k = 0, batch = 1;
  double flops() const { return 2 * m * n * k * batch; }
};

struct GemmHardware {
  double peak = 0;         // [FLOP/s]
  double memory_rate = 0;  // [byte/s]
  double multiprocessors = 0;
  double element = 2;  // bytes of an input
};

template <class T>
struct GemmTile {
  T launch{};        // [s]
  T wave{};          // [s] per wave of tiles
  T compute{};       // share of peak inside a tile
  T load{};          // [byte/s] into one multiprocessor
  T quantisation{};  // 0: waves may be fractions, 1: whole
  T memory{};        // share of the memory rate
  T split{};         // [s] joining the parts of a split product
  T softness{};      // of the minimum, in log time
  T conversion{};    // [s/byte] of the left input, where the measured call also converts it
  std::array<T, tiles.size()> factor{};
};

template <class T>
T cube(const T& x) {
  return x * x * x;
}

// Time of one tile and split, without launch.
template <class T>
T tile_time(const GemmTile<T>& p, const GemmHardware& hardware, const GemmShape& shape,
            std::size_t tile, int split) {
  using std::cbrt;
  using std::sqrt;
  const double tm = tiles[tile].m, tn = tiles[tile].n, sm = hardware.multiprocessors;
  const double kc = 32 * std::ceil(shape.k / (32.0 * split));
  const double x = shape.batch * std::ceil(shape.m / tm) * std::ceil(shape.n / tn) * split / sm;
  const double whole = std::ceil(x), least = std::max(x, 1.0);
  const T waves = least + p.quantisation * (whole - least);
  const T products = 2 * tm * tn * kc * sm / (hardware.peak * p.compute);
  const T loads = hardware.element * (tm + tn) * kc / p.load;
  const T one = p.factor[tile] * cbrt(cube(products) + cube(loads));
  const double bytes =
      shape.batch * (hardware.element * shape.k * (shape.m + shape.n) + 2 * shape.m * shape.n +
                     (split > 1 ? 8.0 * split * shape.m * shape.n : 0));
  const T memory = bytes / (hardware.memory_rate * p.memory);
  const T busy = waves * (p.wave + one);
  const T busy2 = busy * busy, memory2 = memory * memory;
  T time = sqrt(sqrt(busy2 * busy2 + memory2 * memory2));
  if (split > 1) time += p.split;
  return time;
}

// Duration of the product [s].
template <class T>
T gemm_time(const GemmTile<T>& p, const GemmHardware& hardware, const GemmShape& shape) {
  using std::exp;
  using std::log;
  std::array<T, tiles.size() * splits.size()> logs;
  std::size_t count = 0, best = 0;
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    for (const int split : splits) {
      if (split > 1 && 32 * std::ceil(shape.k / (32.0 * split)) < 64) continue;
      logs[count] = log(tile_time(p, hardware, shape, tile, split));
      if (logs[count] < logs[best]) best = count;
      ++count;
    }
  }
  T weights{}, sum{};
  for (std::size_t i = 0; i < count; ++i) {
    const T weight = exp((logs[best] - logs[i]) / p.softness);
    weights += weight;
    sum += weight * logs[i];
  }
  return p.launch + exp(sum / weights) +
         p.conversion * (hardware.element * shape.m * shape.k * shape.batch);
}

// What the smooth correction sees: logarithms of the sizes and the fill of the last wave.
inline std::array<double, 7> gemm_features(const GemmShape& shape, double multiprocessors) {
  std::array<double, 7> features{std::log(shape.m * shape.batch), std::log(shape.n),
                                 std::log(shape.k)};
  constexpr std::array<Tile, 4> seen{{{128, 256}, {256, 128}, {128, 128}, {64, 64}}};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double x = shape.batch * std::ceil(shape.m / seen[i].m) * std::ceil(shape.n / seen[i].n) /
                     multiprocessors;
    features[3 + i] = std::ceil(x) / x;
  }
  return features;
}

}  // namespace calibrate::profile
