// Every kernel of the GPU against its twin on the CPU.
#include "kernels/cuda/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/profile/names.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/blas.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/plain.h"
#include "kernels/cuda/pointwise.h"
#include "kernels/host/gemm.h"
#include "kernels/host/pointwise.h"

namespace kernels::cuda {

using calibrate::profile::Layout;
using calibrate::profile::Precision;
using Values = std::vector<float>;

namespace {

// What a result in a format may be off, relative, by one rounding and a little.
constexpr double bf16_step = 1.0 / 256, fp16_step = 1.0 / 2048, fp32_step = 1e-6, fp8_step = 0.07;

// Multiples of 1/8 up to +-1.875: exact in every format down to fp8, and so are sums of products.
Values eighths(std::size_t count, unsigned seed) {
  Values all(count);
  std::uint32_t state = seed;
  for (float& one : all) {
    state = state * 1664525U + 1013904223U;
    one = (static_cast<float>(state >> 16U & 31U) - 15.0F) / 8 *
          ((state >> 24U & 1U) != 0 ? 1.0F : -1.0F);
    one = std::clamp(one, -1.875F, 1.875F);
  }
  return all;
}

double worst(const Values& got, const Values& wanted, double relative, double absolute) {
  double most = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::abs(static_cast<double>(got[i]) - wanted[i]);
    const double ratio = off / (absolute + relative * std::abs(static_cast<double>(wanted[i])));
    most = std::isnan(ratio) ? INFINITY : std::max(most, ratio);
  }
  return most;
}

template <class Type>
Buffer upload(const std::vector<Type>& values) {
  Buffer buffer(values.size() * sizeof(Type));
  check(cudaMemcpy(buffer.as(), values.data(), buffer.size(), cudaMemcpyHostToDevice), "a copy");
  return buffer;
}
template <class Type>
std::vector<Type> download(const Buffer& buffer) {
  std::vector<Type> values(buffer.size() / sizeof(Type));
  check(cudaMemcpy(values.data(), buffer.as(), buffer.size(), cudaMemcpyDeviceToHost), "a copy");
  return values;
}

Buffer upload_bf16(const Values& values) {
  std::vector<Bf16> bits;
  for (const float value : values) bits.push_back(to_bf16(value));
  return upload(bits);
}
Values download_bf16(const Buffer& buffer) {
  Values values;
  for (const Bf16 one : download<Bf16>(buffer)) values.push_back(from_bf16(one));
  return values;
}

Buffer upload_as(Precision precision, const Values& values) {
  if (precision == Precision::bf16) return upload_bf16(values);
  if (precision == Precision::fp16) {
    std::vector<std::uint16_t> bits;
    for (const float one : values)
      bits.push_back(static_cast<std::uint16_t>(exact_bits(one, 5, 10)));
    return upload(bits);
  }
  if (precision == Precision::fp8) {
    std::vector<std::uint8_t> bits;
    for (const float one : values) bits.push_back(static_cast<std::uint8_t>(exact_bits(one, 4, 3)));
    return upload(bits);
  }
  return upload(values);
}

float from_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((bits & 0x8000) != 0 ? -size : size);
}

Values download_output(const Product& product, const Buffer& buffer) {
  if (product.output_element() == 4) return download<float>(buffer);
  if (product.precision != Precision::fp16) return download_bf16(buffer);
  Values values;
  for (const std::uint16_t one : download<std::uint16_t>(buffer)) values.push_back(from_fp16(one));
  return values;
}

double product_error(const Blas& blas, const Product& product, const Stream& stream) {
  const auto m = static_cast<std::size_t>(product.m), n = static_cast<std::size_t>(product.n),
             k = static_cast<std::size_t>(product.k);
  const Values a = eighths(m * k, 1), b = eighths(n * k, 2);
  Values c = eighths(m * n, 3);
  const Buffer a_there = upload_as(product.precision, a), b_there = upload_as(product.precision, b);
  Buffer c_there = product.accumulates ? upload(c) : Buffer(product.c_bytes());
  blas.run(*blas.plan(product), a_there.as(), b_there.as(), c_there.as(), stream.get());
  stream.wait();
  const Layout layout = product.precision == Precision::fp8 ? Layout::forward : product.layout;
  host::plain_gemm(
      {layout, product.m, product.n, product.k, product.accumulates, a.data(), b.data(), c.data()});
  // Units of fp8 add up with fewer bits than fp32 has.
  const bool is_fp8 = product.precision == Precision::fp8;
  const double step = is_fp8                                 ? bf16_step
                      : product.output_element() == 4        ? fp32_step
                      : product.precision == Precision::fp16 ? fp16_step
                                                             : bf16_step;
  return worst(download_output(product, c_there), c, step, is_fp8 ? 0.05 : 1e-6);
}

class Checker {
 public:
  explicit Checker(const std::function<void(const Verdict&)>& told) : told_(told) {}
  void add(const std::string& kernel, const std::function<double()>& error) {
    Verdict verdict{kernel, 0, ""};
    try {
      verdict.error = error();
    } catch (const DeviceError& failure) {
      verdict.complaint = failure.message;
    }
    told_(verdict);
    verdicts.push_back(std::move(verdict));
  }
  Stream stream;
  std::vector<Verdict> verdicts;

 private:
  const std::function<void(const Verdict&)>& told_;
};

void check_products(Checker& checker, bool has_fp8) {
  const Blas blas;
  for (const Precision precision :
       {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp8}) {
    if (precision == Precision::fp8 && !has_fp8) continue;
    for (const Layout layout : {Layout::forward, Layout::input_gradient, Layout::weight_gradient}) {
      for (const auto& [m, n, k] : {std::array{64, 80, 96}, std::array{272, 128, 512}}) {
        const Product product{precision, layout, m, n, k, layout == Layout::weight_gradient};
        checker.add(fmt::format("gemm {} {} {} x {} x {}", calibrate::profile::name(precision),
                                calibrate::profile::name(layout), m, n, k),
                    [&] { return product_error(blas, product, checker.stream); });
      }
    }
  }
}

double grouped_error(const Stream& stream) {
  const GroupedBlas blas;
  const GroupedProduct product{{16, 48, 32}, 64, 96};
  const std::size_t n = 64, k = 96, rows = 96;
  const Values a = eighths(rows * k, 4), b = eighths(3 * n * k, 5);
  const Buffer a_there = upload_bf16(a), b_there = upload_bf16(b);
  const Buffer c_there(rows * n * sizeof(Bf16)), pointers(9 * sizeof(void*));
  blas.prepare(product, a_there.as(), b_there.as(), c_there.as(), pointers.as<void*>());
  blas.run(product, pointers.as<void*>(), stream.get());
  stream.wait();
  Values c(rows * n);
  std::size_t before = 0;
  for (std::size_t i = 0; i < product.rows.size(); ++i) {
    host::plain_gemm({Layout::forward, product.rows[i], product.n, product.k, false,
                      a.data() + before * k, b.data() + i * n * k, c.data() + before * n});
    before += static_cast<std::size_t>(product.rows[i]);
  }
  return worst(download_bf16(c_there), c, bf16_step, 1e-6);
}

constexpr Rows rows{7, 1032};

void check_rows(Checker& checker) {
  const Values x = eighths(rows.elements(), 6), weight = eighths(rows.width, 7),
               bias = eighths(rows.width, 8);
  const Buffer x_there = upload_bf16(x), weight_there = upload_bf16(weight),
               bias_there = upload_bf16(bias);
  const Buffer y(rows.elements() * sizeof(Bf16));
  const cudaStream_t stream = checker.stream.get();
  Values wanted(rows.elements());
  checker.add("rms norm", [&] {
    rms_norm(rows, x_there.as<Bf16>(), weight_there.as<Bf16>(), y.as<Bf16>(), stream);
    checker.stream.wait();
    host::plain_rms_norm({rows.count, rows.width}, x.data(), weight.data(), wanted.data());
    return worst(download_bf16(y), wanted, bf16_step, 1e-4);
  });
  checker.add("layer norm", [&] {
    layer_norm(rows, x_there.as<Bf16>(), weight_there.as<Bf16>(), bias_there.as<Bf16>(),
               y.as<Bf16>(), stream);
    checker.stream.wait();
    return worst(download_bf16(y), plain_layer_norm(rows, x, weight, bias), bf16_step, 1e-4);
  });
  checker.add("cross entropy", [&] {
    const std::vector<int> targets{0, 1031, 5, 600, 700, 800, 9};
    const Buffer logits = upload_bf16(x), target = upload(targets);
    const Buffer loss(rows.count * sizeof(float));
    cross_entropy(rows, target.as<int>(), logits.as<Bf16>(), loss.as<float>(), stream);
    checker.stream.wait();
    wanted = x;
    const double mean =
        host::plain_cross_entropy({rows.count, rows.width}, targets.data(), wanted.data());
    double got = 0;
    for (const float one : download<float>(loss)) got += one / static_cast<double>(rows.count);
    return std::max(worst(download_bf16(logits), wanted, bf16_step, 1e-6),
                    std::abs(got - mean) / 1e-3);
  });
  checker.add("rotary", [&] {
    const Values cosine(rows.width / 2, 0.6F), sine(rows.width / 2, 0.8F);
    const Buffer turned = upload_bf16(x), c = upload(cosine), s = upload(sine);
    rotary(rows, c.as<float>(), s.as<float>(), turned.as<Bf16>(), stream);
    checker.stream.wait();
    for (std::size_t i = 0; i < rows.elements(); ++i) {
      const std::size_t half = rows.width / 2;
      const bool is_first = i % rows.width < half;
      wanted[i] = is_first ? x[i] * 0.6F - x[i + half] * 0.8F : x[i - half] * 0.8F + x[i] * 0.6F;
    }
    return worst(download_bf16(turned), wanted, bf16_step, 1e-6);
  });
}

void check_elements(Checker& checker) {
  constexpr std::size_t count = 4099;  // not a multiple of eight
  const Values x = eighths(count, 9), u = eighths(count, 10);
  const Buffer x_there = upload_bf16(x), u_there = upload_bf16(u);
  const Buffer y(count * sizeof(Bf16));
  const cudaStream_t stream = checker.stream.get();
  Values wanted(count);
  checker.add("swiglu", [&] {
    swiglu(count, x_there.as<Bf16>(), u_there.as<Bf16>(), y.as<Bf16>(), stream);
    checker.stream.wait();
    host::plain_swiglu(x, u, wanted);
    return worst(download_bf16(y), wanted, bf16_step, 1e-6);
  });
  checker.add("gelu", [&] {
    gelu(count, x_there.as<Bf16>(), y.as<Bf16>(), stream);
    checker.stream.wait();
    std::transform(x.begin(), x.end(), wanted.begin(), plain_gelu);
    return worst(download_bf16(y), wanted, bf16_step, 1e-5);
  });
  checker.add("residual", [&] {
    const Buffer sum = upload_bf16(x);
    residual(count, u_there.as<Bf16>(), sum.as<Bf16>(), stream);
    checker.stream.wait();
    for (std::size_t i = 0; i < count; ++i) wanted[i] = x[i] + u[i];
    return worst(download_bf16(sum), wanted, bf16_step, 1e-6);
  });
  checker.add("cast", [&] {
    const Buffer wide = upload(x);
    cast(count, wide.as<float>(), y.as<Bf16>(), stream);
    checker.stream.wait();
    return worst(download_bf16(y), x, bf16_step, 0);
  });
  checker.add("quantise", [&] {
    const Buffer narrow(count);
    quantise(count, x_there.as<Bf16>(), 0.3F, narrow.as<Fp8>(), stream);
    checker.stream.wait();
    Values got;
    for (const Fp8 one : download<Fp8>(narrow)) got.push_back(from_fp8(one));
    for (std::size_t i = 0; i < count; ++i) wanted[i] = x[i] * 0.3F;
    return worst(got, wanted, fp8_step, 1e-3);
  });
  checker.add("copy", [&] {
    const Values whole = eighths(4096, 11);
    const Buffer from = upload(whole), to(from.size());
    stream_copy(from.as(), to.as(), from.size(), 3, stream);
    checker.stream.wait();
    return worst(download<float>(to), whole, 0, 1e-30);
  });
}

void check_adam(Checker& checker) {
  checker.add("adam", [&] {
    constexpr std::size_t count = 1003;
    const Values gradient = eighths(count, 12);
    Values mean = eighths(count, 13), weight = eighths(count, 14), square = eighths(count, 15);
    for (float& one : square) one *= one;
    const Buffer g = upload(gradient), m = upload(mean), v = upload(square), w = upload(weight);
    const Buffer copy(count * sizeof(Bf16));
    adam({.step = 7}, count, g.as<float>(), m.as<float>(), v.as<float>(), w.as<float>(),
         copy.as<Bf16>(), checker.stream.get());
    checker.stream.wait();
    host::plain_adam({.step = 7}, gradient, mean, square, weight);
    return std::max({worst(download<float>(m), mean, 1e-5, 1e-6),
                     worst(download<float>(v), square, 1e-5, 1e-6),
                     worst(download<float>(w), weight, 1e-5, 1e-5),
                     worst(download_bf16(copy), weight, bf16_step, 1e-5)});
  });
}

void check_embedding(Checker& checker) {
  const std::vector<int> index{2, 0, 2};
  const Rows table{3, 64}, tokens{3, 64};
  const Values weights = eighths(table.elements(), 16), gradient = eighths(tokens.elements(), 17);
  const Buffer index_there = upload(index);
  Values wanted(tokens.elements());
  checker.add("gather", [&] {
    const Buffer from = upload_bf16(weights), y(tokens.elements() * sizeof(Bf16));
    gather(tokens, index_there.as<int>(), from.as<Bf16>(), y.as<Bf16>(), checker.stream.get());
    checker.stream.wait();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = weights[static_cast<std::size_t>(index[i / 64]) * 64 + i % 64];
    }
    return worst(download_bf16(y), wanted, 0, 1e-30);
  });
  checker.add("scatter add", [&] {
    const Buffer sum = upload(Values(table.elements())), from = upload_bf16(gradient);
    scatter_add(tokens, index_there.as<int>(), from.as<Bf16>(), sum.as<float>(),
                checker.stream.get());
    checker.stream.wait();
    std::fill(wanted.begin(), wanted.end(), 0.0F);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      wanted[static_cast<std::size_t>(index[i / 64]) * 64 + i % 64] += gradient[i];
    }
    return worst(download<float>(sum), wanted, fp32_step, 1e-6);
  });
}

void check_attention(Checker& checker) {
  for (const int head_size : {64, 128, 256}) {
    for (const bool causal : {true, false}) {
      checker.add(fmt::format("attention head {} {}", head_size, causal ? "causal" : "full"), [&] {
        const AttentionShape shape{2, 4, 2, 33, head_size, causal};
        const Values q = eighths(shape.query_elements(), 18), k = eighths(shape.key_elements(), 19),
                     v = eighths(shape.key_elements(), 20),
                     gradient = eighths(shape.query_elements(), 21);
        const Buffer query = upload_bf16(q), key = upload_bf16(k), value = upload_bf16(v),
                     above = upload_bf16(gradient);
        const Buffer output = upload(Values(q.size())), dq = upload(Values(q.size())),
                     dk = upload(Values(k.size())), dv = upload(Values(v.size()));
        const cudaStream_t stream = checker.stream.get();
        attention_forward(shape, query.as<Bf16>(), key.as<Bf16>(), value.as<Bf16>(),
                          output.as<float>(), stream);
        attention_backward(shape, query.as<Bf16>(), key.as<Bf16>(), value.as<Bf16>(),
                           output.as<float>(), above.as<Bf16>(), dq.as<float>(), dk.as<float>(),
                           dv.as<float>(), stream);
        checker.stream.wait();
        const AttentionOutput wanted = plain_attention(shape, q, k, v, gradient);
        constexpr double absolute = 1e-4;
        return std::max({worst(download<float>(output), wanted.output, 1e-4, absolute),
                         worst(download<float>(dq), wanted.query_gradient, 1e-3, absolute),
                         worst(download<float>(dk), wanted.key_gradient, 1e-3, absolute),
                         worst(download<float>(dv), wanted.value_gradient, 1e-3, absolute)});
      });
    }
  }
}

}  // namespace

std::vector<Verdict> check_kernels(const std::function<void(const Verdict&)>& told) {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  const DeviceFacts facts = device_facts(device);
  const bool has_fp8 = 10 * facts.major + facts.minor >= 89;
  Checker checker(told);
  check_rows(checker);
  check_elements(checker);
  check_adam(checker);
  check_embedding(checker);
  check_attention(checker);
  checker.add("gemm grouped bf16", [&] { return grouped_error(checker.stream); });
  check_products(checker, has_fp8);
  return checker.verdicts;
}

}  // namespace kernels::cuda
