// SPDX-License-Identifier: Apache-2.0
#include "base/csv/shortest_number.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/decimal.hpp"
#include "base/statistics/random.hpp"
#include "tests/catch.hpp"

namespace roofcast::unit_base_shortest_number {

namespace {

std::string text_of(double value) {
  std::array<char, base::kLongestNumber> text;
  return {text.data(), base::write_shortest(value, text.data())};
}

}  // namespace

TEST_CASE("Numbers are written as the shortest text that reads back equal", "[unit]") {
  std::vector<double> values = {0.0,    -0.0,  1.0,    -1.0,   0.5,     0.1,      1e-4,  9.999e-5,
                                9999.5, 1e15,  1e16,   1e22,   1e23,    2.5e-9,   1e300, 5e-324,
                                0.3,    -0.25, 1234.5, 123.45, 0.00123, 1.0 / 3.0};
  for (const double value : std::vector<double>(values)) {
    values.push_back(std::nextafter(value, 1e308));
    values.push_back(std::nextafter(value, -1e308));
  }
  values.push_back(std::numeric_limits<double>::infinity());
  base::Random random(1, "numbers");
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::pow(10.0, 24.0 * random.uniform() - 6.0);
    const double scale = std::pow(10.0, 3.0 - std::floor(std::log10(value)));
    values.insert(values.end(), {value, std::round(value), std::round(value * scale) / scale});
  }
  std::size_t wrong = 0;
  for (const double value : values) {
    wrong += text_of(value) == fmt::format("{}", value) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("The first place of a number is that of its first digit", "[unit]") {
  for (int place = -30; place <= 30; ++place) {
    CAPTURE(place);
    const double power = std::pow(10.0, place);
    CHECK(base::first_place(1.5 * power) == place);
    CHECK(base::first_place(9.99 * power) == place);
  }
  CHECK(base::first_place(1000.0) == 3);
  CHECK(base::first_place(999.0) == 2);
}

}  // namespace roofcast::unit_base_shortest_number
