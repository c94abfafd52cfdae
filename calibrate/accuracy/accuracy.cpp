// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics/quantile.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "calibrate/platforms/measurements.hpp"

namespace roofcast::calibrate {
namespace {

std::size_t size_of(double seconds) {
  std::size_t size = 0;
  for (const double most : {1e-5, 1e-4, 1e-3}) {
    size += seconds >= most ? 1 : 0;
  }
  return size;
}

KindAccuracy judge(const std::string& kind, const base::CsvTable& table, ChipPlatforms& own,
                   ChipPlatforms& transferred) {
  const OperatorRows rows(kind, table);
  KindAccuracy result;
  result.kind = kind;
  result.rows = table.rows();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const MeasuredOperator row = rows.row(i);
    const sim::Platform* platform = platform_of(row, kind, own);
    const std::string reason = platform == nullptr
                                   ? "no system with " + row.chip + " in the catalog"
                                   : reason_against(row, platform->machine);
    if (!reason.empty()) {
      ++result.refused[reason];
      continue;
    }
    const auto pair_of = [&](const sim::Platform& p) {
      const double value = predicted(row, p.machine);
      const Interval within = interval(value, kind, p.system.calibration);
      return Pair{measured(row), value, within.low, within.high};
    };
    Judged& group = result.by_chip_and_stack[{row.chip, row.stack}];
    const bool fitted = row.measured_w == 0.0;
    if (!fitted || held_back(draw_of(rows.shape(i)))) {
      const Pair pair = pair_of(*platform);
      result.all.own.push_back(pair);
      group.own.push_back(pair);
      result.own_by_size[size_of(row.measured_s)].push_back(pair);
    }
    const Pair pair = pair_of(*platform_of(row, kind, transferred));
    result.all.transferred.push_back(pair);
    group.transferred.push_back(pair);
  }
  return result;
}

}  // namespace

std::string_view size_name(std::size_t size) {
  constexpr std::array<std::string_view, kSizes> kNames = {"< 10 us", "10-100 us", "0.1-1 ms",
                                                           "> 1 ms"};
  return kNames[size];
}

std::vector<KindAccuracy> accuracy(const std::filesystem::path& tables) {
  ChipPlatforms own;
  ChipPlatforms transferred("", hardware::Measured::others);
  std::vector<KindAccuracy> kinds;
  for (const std::string& kind : operator_kinds()) {
    if (const auto file = find_table(tables, kind)) {
      kinds.push_back(judge(kind, base::read_csv(*file), own, transferred));
    }
  }
  if (kinds.empty()) {
    throw base::InputError(
        fmt::format("error: {} has no table of measured operators\n", tables.string()));
  }
  return kinds;
}

namespace {

// measured / predicted at 200 quantiles of each chip, so that all chips count alike: most rows are of chips whose
// nearest relative is their twin.
std::vector<double> ratios_of_chips(const KindAccuracy& kind) {
  constexpr int kQuantiles = 200;
  std::map<std::string, std::vector<double>> by_chip;
  for (const auto& [key, judged] : kind.by_chip_and_stack) {
    for (const Pair& pair : judged.transferred) {
      by_chip[key.first].push_back(pair.measured / pair.predicted);
    }
  }
  std::vector<double> ratios;
  for (auto& [chip, all] : by_chip) {
    std::sort(all.begin(), all.end());
    for (int i = 0; i < kQuantiles; ++i) {
      const double position = (i + 0.5) / kQuantiles * static_cast<double>(all.size());
      ratios.push_back(all[static_cast<std::size_t>(position)]);
    }
  }
  return ratios;
}

}  // namespace

std::string transferred_errors(const std::vector<KindAccuracy>& kinds) {
  std::string text = "errors:\n";
  for (const KindAccuracy& k : kinds) {
    const ErrorSummary e = summarise(k.all.transferred);
    // Nine in ten of all rows, and of the chips' rows with all chips alike.
    const std::vector<double> ratios = ratios_of_chips(k);
    std::vector<double> rows;
    for (const Pair& pair : k.all.transferred) {
      rows.push_back(pair.measured / pair.predicted);
    }
    text += error_item({k.kind, 0, 0, static_cast<std::int64_t>(e.rows), e.median, e.p90, e.bias,
                        std::min(base::quantile(ratios, 0.05), base::quantile(rows, 0.05)),
                        std::max(base::quantile(ratios, 0.95), base::quantile(rows, 0.95))}) +
            "\n";
  }
  return text;
}

}  // namespace roofcast::calibrate
