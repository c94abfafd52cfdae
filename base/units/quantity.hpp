// SPDX-License-Identifier: Apache-2.0
//
// Physical quantities at the cost of a double.
//
// A Quantity holds one double in SI base units. Its dimension is part of its type, so a formula with the wrong
// dimension does not compile. To put a number in or take one out, name the unit:
//
//   base::BytesPerSecond w = 3.35 * base::tera * base::byte / base::second;
//   double ms = t / base::millisecond;                 // a ratio of equal dimensions is a double
//
// The relational operators are written out: gcc 12 turns a defaulted <=> into branches.
#pragma once

#include <cmath>
#include <limits>

namespace roofcast::base {

// Exponents of the five base dimensions. Each is a template of its own, so that a compiler's message reads
// "Quantity<Time<-1>, Data<1>, …>" and not a row of bare numbers.
template <int Exponent>
struct Time {};
template <int Exponent>
struct Data {};
template <int Exponent>
struct Work {};
template <int Exponent>
struct Energy {};
template <int Exponent>
struct Money {};

template <class TimeExponent, class DataExponent, class WorkExponent, class EnergyExponent,
          class MoneyExponent>
class Quantity;

template <int T, int D, int W, int E, int M>
class Quantity<Time<T>, Data<D>, Work<W>, Energy<E>, Money<M>> {
 public:
  constexpr Quantity() = default;
  // The value in SI base units (s, B, FLOP, J, USD). Prefer `number * unit` and `quantity / unit`.
  static constexpr Quantity from_si(double value) {
    Quantity q;
    q.value_ = value;
    return q;
  }
  constexpr double si() const { return value_; }

  static constexpr Quantity infinity() { return from_si(std::numeric_limits<double>::infinity()); }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return from_si(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return from_si(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double b) { return from_si(a.value_ * b); }
  friend constexpr Quantity operator*(double a, Quantity b) { return from_si(a * b.value_); }
  friend constexpr Quantity operator/(Quantity a, double b) { return from_si(a.value_ / b); }
  constexpr Quantity operator-() const { return from_si(-value_); }
  constexpr Quantity& operator+=(Quantity b) { return *this = *this + b; }
  constexpr Quantity& operator-=(Quantity b) { return *this = *this - b; }
  constexpr Quantity& operator*=(double b) { return *this = *this * b; }
  constexpr Quantity& operator/=(double b) { return *this = *this / b; }

  friend constexpr bool operator==(Quantity, Quantity) = default;
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value_ >= b.value_; }

 private:
  double value_ = 0.0;
};

template <int T, int D, int W, int E, int M>
using QuantityOf = Quantity<Time<T>, Data<D>, Work<W>, Energy<E>, Money<M>>;

// Products and quotients; equal dimensions divide to a plain double.
template <int T1, int D1, int W1, int E1, int M1, int T2, int D2, int W2, int E2, int M2>
constexpr auto operator*(QuantityOf<T1, D1, W1, E1, M1> a, QuantityOf<T2, D2, W2, E2, M2> b) {
  if constexpr (T1 + T2 == 0 && D1 + D2 == 0 && W1 + W2 == 0 && E1 + E2 == 0 && M1 + M2 == 0) {
    return a.si() * b.si();
  } else {
    return QuantityOf<T1 + T2, D1 + D2, W1 + W2, E1 + E2, M1 + M2>::from_si(a.si() * b.si());
  }
}
template <int T1, int D1, int W1, int E1, int M1, int T2, int D2, int W2, int E2, int M2>
constexpr auto operator/(QuantityOf<T1, D1, W1, E1, M1> a, QuantityOf<T2, D2, W2, E2, M2> b) {
  if constexpr (T1 == T2 && D1 == D2 && W1 == W2 && E1 == E2 && M1 == M2) {
    return a.si() / b.si();
  } else {
    return QuantityOf<T1 - T2, D1 - D2, W1 - W2, E1 - E2, M1 - M2>::from_si(a.si() / b.si());
  }
}
template <int T, int D, int W, int E, int M>
constexpr auto operator/(double a, QuantityOf<T, D, W, E, M> b) {
  return QuantityOf<-T, -D, -W, -E, -M>::from_si(a / b.si());
}

template <int T, int D, int W, int E, int M>
constexpr QuantityOf<T, D, W, E, M> max(QuantityOf<T, D, W, E, M> a, QuantityOf<T, D, W, E, M> b) {
  return a > b ? a : b;
}
template <int T, int D, int W, int E, int M>
constexpr QuantityOf<T, D, W, E, M> min(QuantityOf<T, D, W, E, M> a, QuantityOf<T, D, W, E, M> b) {
  return a < b ? a : b;
}

using Seconds = QuantityOf<1, 0, 0, 0, 0>;
using Bytes = QuantityOf<0, 1, 0, 0, 0>;
using Flops = QuantityOf<0, 0, 1, 0, 0>;  // floating-point operations, a count; the rate is below
using Joules = QuantityOf<0, 0, 0, 1, 0>;
using Dollars = QuantityOf<0, 0, 0, 0, 1>;
using Hertz = QuantityOf<-1, 0, 0, 0, 0>;
using BytesPerSecond = QuantityOf<-1, 1, 0, 0, 0>;
using FlopsPerSecond = QuantityOf<-1, 0, 1, 0, 0>;
using FlopsPerByte = QuantityOf<0, -1, 1, 0, 0>;
using JoulesPerByte = QuantityOf<0, -1, 0, 1, 0>;
using JoulesPerFlop = QuantityOf<0, 0, -1, 1, 0>;
using Watts = QuantityOf<-1, 0, 0, 1, 0>;
using DollarsPerSecond = QuantityOf<-1, 0, 0, 0, 1>;

inline constexpr double kilo = 1e3;
inline constexpr double mega = 1e6;
inline constexpr double giga = 1e9;
inline constexpr double tera = 1e12;
inline constexpr double kibi = 1024.0;
inline constexpr double mebi = kibi * kibi;
inline constexpr double gibi = mebi * kibi;

inline constexpr Seconds second = Seconds::from_si(1.0);
inline constexpr Seconds millisecond = Seconds::from_si(1e-3);
inline constexpr Seconds microsecond = Seconds::from_si(1e-6);
inline constexpr Seconds nanosecond = Seconds::from_si(1e-9);
inline constexpr Seconds hour = Seconds::from_si(3600.0);
inline constexpr Bytes byte = Bytes::from_si(1.0);
inline constexpr Bytes gibibyte = Bytes::from_si(gibi);
inline constexpr Flops flop = Flops::from_si(1.0);
inline constexpr Joules joule = Joules::from_si(1.0);
inline constexpr Watts watt = Watts::from_si(1.0);
inline constexpr Hertz hertz = Hertz::from_si(1.0);
inline constexpr Dollars dollar = Dollars::from_si(1.0);

static_assert(sizeof(Seconds) == sizeof(double));
static_assert(2.0 * byte / (4.0 * byte / second) == 0.5 * second);

}  // namespace roofcast::base
