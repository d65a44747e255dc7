// Operators bound by memory: numbers by hand, then the plain twin; bytes as the simulator counts.
#include "kernels/host/pointwise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/small_layer.h"

using namespace kernels::host;

namespace {

std::vector<float> values(std::size_t count, int seed, double scale = 1) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = static_cast<float>(scale * std::sin(static_cast<double>(i) * 78.233 + seed));
  }
  return all;
}

double worst(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return most;
}

constexpr Rows odd{5, 37};

}  // namespace

TEST_CASE("streams: 1, 2 with 10, 20 -> copied, 11 22, 31 62") {
  const std::vector<float> a{1, 2}, b{10, 20};
  std::vector<float> c(2);
  copy(a, c);
  CHECK(c == a);
  add(a, b, c);
  CHECK(c == std::vector<float>{11, 22});
  triad(a, b, 3, c);
  CHECK(c == std::vector<float>{31, 62});
  residual(b, c);
  CHECK(c == std::vector<float>{41, 82});
}

TEST_CASE("rms norm: 3, 4 -> over sqrt(12.5), and as the plain one") {
  const std::vector<float> x{3, 4}, weight{1, 2};
  std::vector<float> y(2);
  rms_norm({1, 2}, x.data(), weight.data(), y.data());
  CHECK(std::abs(y[0] - 3 / 3.5355339) < 1e-5);
  CHECK(std::abs(y[1] - 8 / 3.5355339) < 1e-5);
  const auto in = values(odd.elements(), 1), scale = values(odd.width, 2);
  std::vector<float> fast(odd.elements()), plain(odd.elements());
  rms_norm(odd, in.data(), scale.data(), fast.data());
  plain_rms_norm(odd, in.data(), scale.data(), plain.data());
  CHECK(worst(fast, plain) < 1e-5);
}

TEST_CASE("swiglu: gate 0 -> 0, large gates pass or block; as the plain one") {
  const std::vector<float> gate{0, 100, -100}, up{5, 2, 2};
  std::vector<float> y(3);
  swiglu(gate, up, y);
  CHECK(y[0] == 0);
  CHECK(std::abs(y[1] - 200) < 1e-3);
  CHECK(std::abs(y[2]) < 1e-6);
  const auto g = values(1001, 1, 8), u = values(1001, 2);
  std::vector<float> fast(1001), plain(1001);
  swiglu(g, u, fast);
  plain_swiglu(g, u, plain);
  CHECK(worst(fast, plain) < 1e-5);
}

TEST_CASE("rotary: a quarter turn of (1, 2) -> (-2, 1), lengths stay") {
  const float cosine[] = {0}, sine[] = {1};
  float x[] = {1, 2};
  rotary({1, 2}, cosine, sine, x);
  CHECK(x[0] == -2);
  CHECK(x[1] == 1);
}

TEST_CASE("cross entropy: equal logits -> log of their number, gradient sums to nothing") {
  std::vector<float> x(8, 3);
  const int targets[] = {1, 2};
  CHECK(std::abs(cross_entropy({2, 4}, targets, x.data()) - std::log(4.0)) < 1e-6);
  // (1/4 - [target]) / 2 rows.
  CHECK(std::abs(x[0] - 0.125) < 1e-6);
  CHECK(std::abs(x[1] + 0.375) < 1e-6);
  auto fast = values(odd.elements(), 4, 5), plain = fast;
  const int more[] = {0, 36, 17, 5, 8};
  const double loss = cross_entropy(odd, more, fast.data());
  CHECK(std::abs(loss - plain_cross_entropy(odd, more, plain.data())) < 1e-5);
  CHECK(worst(fast, plain) < 1e-6);
}

TEST_CASE("adam: the first step is the rate, whatever the gradient; later as the plain one") {
  // m / (1 - b1) = g and v / (1 - b2) = g^2: the step is rate g / |g|.
  std::vector<float> gradient{0.5F, -2}, mean(2), square(2), weight{1, 1};
  adam({}, gradient, mean, square, weight);
  CHECK(std::abs(weight[0] - 0.999) < 1e-6);
  CHECK(std::abs(weight[1] - 1.001) < 1e-6);
  auto m = values(99, 1), w = values(99, 2), v = values(99, 3);
  for (float& one : v) one *= one;
  auto m2 = m, w2 = w, v2 = v;
  const auto g = values(99, 4);
  const Adam later{.step = 7};
  adam(later, g, m, v, w);
  plain_adam(later, g, m2, v2, w2);
  CHECK(worst(m, m2) < 1e-6);
  CHECK(worst(v, v2) < 1e-6);
  CHECK(worst(w, w2) < 1e-5);
}

TEST_CASE("bytes: those that the simulator counts for the operators of a fused fp32 layer") {
  CHECK(counted_bytes("norm", 4) == rms_norm_bytes);
  CHECK(counted_bytes("activation", 4) == swiglu_bytes);
  CHECK(counted_bytes("rotary", 4) == rotary_bytes);
  CHECK(counted_bytes("residual", 4) == residual_bytes);
}
