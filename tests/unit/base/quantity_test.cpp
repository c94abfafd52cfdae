// SPDX-License-Identifier: Apache-2.0
#include "base/units/quantity.hpp"

#include <cmath>
#include <type_traits>

#include "tests/catch.hpp"

namespace roofcast::unit_base_quantity {

namespace {

// What must not compile, asked as a question.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Equatable = requires(A a, B b) {
  a == b;
};

static_assert(Addable<base::Seconds, base::Seconds>);
static_assert(!Addable<base::Seconds, base::Bytes>);
static_assert(!Addable<base::Seconds, double>);
static_assert(!Comparable<base::Joules, base::Flops>);
static_assert(!Comparable<base::Seconds, double>);
static_assert(!Equatable<base::Watts, base::Joules>);
static_assert(!std::is_convertible_v<double, base::Seconds>);
static_assert(!std::is_constructible_v<base::Seconds, double>);
static_assert(!std::is_convertible_v<base::Seconds, double>);
static_assert(!std::is_assignable_v<base::Seconds&, base::Hertz>);

static_assert(std::is_same_v<decltype(base::byte / base::second), base::BytesPerSecond>);
static_assert(std::is_same_v<decltype(base::flop / base::second), base::FlopsPerSecond>);
static_assert(std::is_same_v<decltype(base::flop / base::byte), base::FlopsPerByte>);
static_assert(std::is_same_v<decltype(base::joule / base::second), base::Watts>);
static_assert(std::is_same_v<decltype(base::dollar / base::hour), base::DollarsPerSecond>);
static_assert(std::is_same_v<decltype(1.0 / base::second), base::Hertz>);
static_assert(std::is_same_v<decltype(base::second / base::millisecond), double>);
static_assert(std::is_same_v<decltype(base::hertz * base::second), double>);
static_assert(std::is_trivially_copyable_v<base::Seconds>);

}  // namespace

TEST_CASE("a quantity put in with a unit comes out with it unchanged", "[unit]") {
  for (const double value : {0.0, 1.0, 3.35, -2.5, 1e18}) {
    CHECK(value * base::second / base::second == value);
    CHECK(value * base::gibibyte / base::gibibyte == value);
    CHECK(value * base::hour / base::hour == Approx(value));
  }
}

TEST_CASE("the named units have their values in SI base units", "[unit]") {
  CHECK(base::second.si() == 1.0);
  CHECK(base::millisecond.si() == 1e-3);
  CHECK(base::microsecond.si() == 1e-6);
  CHECK(base::nanosecond.si() == 1e-9);
  CHECK(base::hour.si() == 3600.0);
  CHECK(base::byte.si() == 1.0);
  CHECK(base::gibibyte.si() == 1073741824.0);
  CHECK((base::kibi * base::byte).si() == 1024.0);
  CHECK((base::mebi * base::byte).si() == 1048576.0);
  CHECK((base::kilo * base::mega * base::giga * base::flop).si() == 1e18);
  CHECK((base::tera * base::flop).si() == 1e12);
  CHECK((base::watt * base::second).si() == base::joule.si());
  CHECK((base::hertz * base::second) == 1.0);
  CHECK(base::dollar.si() == 1.0);
}

TEST_CASE("sums, differences and multiples of quantities are those of their numbers", "[unit]") {
  auto time = 3.0 * base::second;
  CHECK((time + 2.0 * base::second).si() == 5.0);
  CHECK((time - 2.0 * base::second).si() == 1.0);
  CHECK((-time).si() == -3.0);
  CHECK((time * 2.0).si() == 6.0);
  CHECK((time / 2.0).si() == 1.5);
  time += 1.0 * base::second;
  CHECK(time.si() == 4.0);
  time -= 2.0 * base::second;
  CHECK(time.si() == 2.0);
  time *= 3.0;
  CHECK(time.si() == 6.0);
  time /= 4.0;
  CHECK(time.si() == 1.5);
  CHECK(base::Seconds{}.si() == 0.0);
}

TEST_CASE("a time is a size over a bandwidth, a power an energy over a time", "[unit]") {
  const base::Seconds time =
      80.0 * base::giga * base::byte / (2.0 * base::tera * base::byte / base::second);
  CHECK(time / base::millisecond == Approx(40.0));
  const base::Watts power = 1400.0 * base::joule / (2.0 * base::second);
  CHECK(power.si() == 700.0);
  const base::FlopsPerByte ridge =
      (989e12 * base::flop / base::second) / (3.35e12 * base::byte / base::second);
  CHECK(ridge.si() == Approx(989.0 / 3.35));
}

TEST_CASE("quantities are ordered like their numbers, and NaN like none", "[unit]") {
  const auto small = 1.0 * base::joule;
  const auto large = 2.0 * base::joule;
  CHECK(small < large);
  CHECK(large > small);
  CHECK(small <= small);
  CHECK(small >= small);
  CHECK(small == small);
  CHECK(small != large);
  CHECK(base::max(small, large) == large);
  CHECK(base::min(small, large) == small);
  CHECK(large < base::Joules::infinity());
  const auto none = base::Joules::from_si(std::nan(""));
  CHECK_FALSE(none < small);
  CHECK_FALSE(none >= small);
  CHECK_FALSE(none == none);
}

}  // namespace roofcast::unit_base_quantity
