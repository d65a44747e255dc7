// Physical quantities: one double that carries its unit in its type.
//
// Values are held in base units: seconds, bytes, floating-point operations. Products and
// quotients add and subtract exponents, so Bytes / BytesPerSecond is Seconds, and a formula
// that does not balance does not compile.
#pragma once

#include <compare>

namespace sim {

template <int Second, int Byte, int Flop>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double base_units) : value_(base_units) {}

  constexpr double value() const { return value_; }  // in base units

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return Quantity(value_ + other.value_); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(value_ - other.value_); }
  constexpr Quantity operator*(double factor) const { return Quantity(value_ * factor); }
  constexpr Quantity operator/(double factor) const { return Quantity(value_ / factor); }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  friend constexpr Quantity operator*(double factor, Quantity q) { return q * factor; }

 private:
  double value_ = 0;
};

template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator*(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  return Quantity<S1 + S2, B1 + B2, F1 + F2>(a.value() * b.value());
}

// A ratio of like quantities is a plain double.
template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator/(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  if constexpr (S1 == S2 && B1 == B2 && F1 == F2) {
    return a.value() / b.value();
  } else {
    return Quantity<S1 - S2, B1 - B2, F1 - F2>(a.value() / b.value());
  }
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;  // a count of operations; a speed is FlopsPerSecond
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using FlopsPerByte = Quantity<0, -1, 1>;  // arithmetic intensity

constexpr Seconds microseconds(double n) { return Seconds(n * 1e-6); }
constexpr Seconds milliseconds(double n) { return Seconds(n * 1e-3); }
constexpr Bytes gigabytes(double n) { return Bytes(n * 1e9); }
constexpr Bytes mebibytes(double n) { return Bytes(n * 1024 * 1024); }
constexpr Bytes gibibytes(double n) { return Bytes(n * 1024 * 1024 * 1024); }
constexpr BytesPerSecond gigabytes_per_second(double n) { return BytesPerSecond(n * 1e9); }
constexpr BytesPerSecond gigabits_per_second(double n) { return BytesPerSecond(n * 1e9 / 8); }
constexpr FlopsPerSecond teraflops_per_second(double n) { return FlopsPerSecond(n * 1e12); }

}  // namespace sim
