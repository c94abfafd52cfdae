// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/variance_shares.hpp"

#include <algorithm>
#include <cmath>

#include "base/no_number.hpp"

namespace roofcast::sim {
namespace {

constexpr std::size_t kFirstRows = 128;
constexpr std::size_t kMostEstimates = 20'000;
constexpr double kWanted = 0.05;  // half-width of an index
using base::kNoNumber;

double widest(const base::SobolIndices& indices) {
  double most = 0.0;
  for (const auto* all : {&indices.first, &indices.total}) {
    for (const base::SobolIndex& each : *all) {
      most = std::isnan(each.half_width90) ? most : std::max(most, each.half_width90);
    }
  }
  return most;
}

// Of A and B of each row, which are samples of the ranges.
void describe(std::span<const double> values, std::size_t width, MetricVariance& out) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % width < 2 && std::isfinite(values[i])) {
      sorted.push_back(values[i]);
      out.mean += values[i];
    }
  }
  if (sorted.empty()) {
    out.mean = out.low90 = out.high90 = kNoNumber;
    return;
  }
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](double q) {
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  };
  out.mean /= static_cast<double>(sorted.size());
  out.low90 = quantile(0.05);
  out.high90 = quantile(0.95);
}

}  // namespace

std::string value_at(const KnobRange& range, double u) {
  if (!range.listed.empty()) {
    const auto n = static_cast<double>(range.listed.size());
    return range.listed[static_cast<std::size_t>(std::min(n - 1.0, std::floor(u * n)))];
  }
  const double end = range.whole ? range.high + 1.0 : range.high;
  const double value = range.low > 0.0 ? range.low * std::pow(end / range.low, u)
                                       : range.low + u * (end - range.low);
  return range.text(range.whole ? std::clamp(std::floor(value), range.low, range.high) : value);
}

VarianceShares variance_shares(const OverriddenScenario& scenario,
                               std::span<const KnobRange> ranges,
                               std::span<const Metric* const> metrics, VarianceOptions options) {
  const base::SaltelliDesign design(ranges.size(), options.seed);
  const std::size_t width = design.points_per_row();
  const std::size_t most = options.rows > 0 ? options.rows : kMostEstimates / width;
  std::vector<std::vector<double>> values(metrics.size());
  VarianceShares out;
  bool enough = false;
  for (std::size_t rows = options.rows > 0 ? options.rows : std::min(kFirstRows, most); !enough;
       rows = std::min(2 * rows, most)) {
    std::vector<Settings> settings;
    for (std::size_t r = out.rows; r < rows; ++r) {
      for (const std::vector<double>& point : design.row(r)) {
        Settings& each = settings.emplace_back();
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          each.push_back(ranges[i].path + "=" + value_at(ranges[i], point[i]));
        }
      }
    }
    for (const OverriddenEstimate& each : scenario.estimates(settings)) {
      if (!each.refusal.empty()) {
        throw base::InputError(each.refusal);
      }
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        values[m].push_back(each.estimate.fits() ? metrics[m]->value(each.estimate) : kNoNumber);
      }
    }
    out.rows = rows;
    out.of.clear();
    enough = true;
    for (const std::vector<double>& each : values) {
      MetricVariance& metric = out.of.emplace_back();
      metric.indices = base::sobol_indices(each, ranges.size());
      describe(each, width, metric);
      enough = enough && widest(metric.indices) <= kWanted;
    }
    enough = enough || rows >= most;
  }
  out.estimates = out.rows * width;
  for (const MetricVariance& each : out.of) {
    out.rows_left_out = std::max(out.rows_left_out, out.rows - each.indices.rows);
  }
  return out;
}

}  // namespace roofcast::sim
