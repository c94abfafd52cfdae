// SPDX-License-Identifier: Apache-2.0
//
// How far predictions are from measurements: e = predicted / measured − 1, over many pairs.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

// Whether it can be measured or forecast: finite and above 0.
bool positive(double value);
// The reason of a forecast that is not.
inline constexpr const char* kNoForecast = "the forecast is not a positive number";

struct Pair {
  double measured = 0.0;  // > 0
  double predicted = 0.0;
  double low = std::numeric_limits<double>::quiet_NaN();  // 90 % interval; NaN: none
  double high = std::numeric_limits<double>::quiet_NaN();
};

// Fractions; NaN when there are no pairs.
struct ErrorSummary {
  std::size_t rows = 0;
  double mape = 0.0;        // mean of |e|
  double median = 0.0;      // of |e|
  double p90 = 0.0;         // of |e|
  double bias = 0.0;        // median of e: positive when predictions are high
  double coverage90 = 0.0;  // of the pairs with an interval, those within; NaN when there is none
};
ErrorSummary summarise(std::span<const Pair> pairs);

// "12.3%"; "n/a" for NaN.
std::string percent(double fraction);

// "tpot: rows=28 skipped=0 mape=2.1% median=1.9% p90=4.0% bias=-0.3% coverage90=91.2%"
std::string summary_line(std::string_view name, const ErrorSummary& errors, std::size_t skipped);

}  // namespace roofcast::calibrate
