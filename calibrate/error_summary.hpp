// SPDX-License-Identifier: Apache-2.0
//
// How far predictions are from measurements: e = predicted / measured − 1, over many pairs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

struct Pair {
  double measured = 0.0;  // > 0
  double predicted = 0.0;
};

// The q-quantile (0 ≤ q ≤ 1) of values in any order: linear between order statistics at position
// q·(n−1) of the sorted values (R's type 7). NaN when there are none.
double quantile(std::vector<double> values, double q);

// Fractions; NaN when there are no pairs.
struct ErrorSummary {
  std::size_t rows = 0;
  double mape = 0.0;    // mean of |e|
  double median = 0.0;  // of |e|
  double p90 = 0.0;     // of |e|
  double bias = 0.0;    // median of e: positive when predictions are high
};
ErrorSummary summarise(std::span<const Pair> pairs);

// "12.3%"; "n/a" for NaN.
std::string percent(double fraction);

// "tpot: rows=28 skipped=0 mape=2.1% median=1.9% p90=4.0% bias=-0.3% coverage90=n/a". There are no
// prediction intervals yet, so nothing is known of their coverage.
std::string summary_line(std::string_view name, const ErrorSummary& errors, std::size_t skipped);

}  // namespace roofcast::calibrate
