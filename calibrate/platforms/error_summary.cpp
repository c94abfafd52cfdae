// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/error_summary.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "base/statistics/quantile.hpp"

namespace roofcast::calibrate {

bool positive(double value) { return std::isfinite(value) && value > 0.0; }

ErrorSummary summarise(std::span<const Pair> pairs) {
  std::vector<double> errors;
  std::vector<double> magnitudes;
  std::size_t with_interval = 0;
  std::size_t within = 0;
  for (const Pair& pair : pairs) {
    with_interval += pair.low <= pair.high ? 1 : 0;
    within += pair.low <= pair.measured && pair.measured <= pair.high ? 1 : 0;
    errors.push_back(pair.predicted / pair.measured - 1.0);
    magnitudes.push_back(std::abs(errors.back()));
  }
  ErrorSummary summary;
  summary.rows = pairs.size();
  summary.mape = std::accumulate(magnitudes.begin(), magnitudes.end(), 0.0) /
                 static_cast<double>(magnitudes.size());
  summary.median = base::quantile(magnitudes, 0.5);
  summary.p90 = base::quantile(magnitudes, 0.9);
  summary.bias = base::quantile(errors, 0.5);
  summary.coverage90 = static_cast<double>(within) / static_cast<double>(with_interval);
  return summary;
}

std::string percent(double fraction) {
  return std::isnan(fraction) ? "n/a" : fmt::format("{:.1f}%", 100.0 * fraction);
}

std::string summary_line(std::string_view name, const ErrorSummary& e, std::size_t skipped) {
  return fmt::format("{}: rows={} skipped={} mape={} median={} p90={} bias={} coverage90={}", name,
                     e.rows, skipped, percent(e.mape), percent(e.median), percent(e.p90),
                     percent(e.bias), percent(e.coverage90));
}

}  // namespace roofcast::calibrate
