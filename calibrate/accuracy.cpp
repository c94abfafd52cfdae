// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy.hpp"

#include <algorithm>

#include "calibrate/chip_platforms.hpp"
#include "calibrate/held_back.hpp"
#include "calibrate/operator_rows.hpp"
#include "calibrate/predict.hpp"

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
    const std::string stack = has_kernels_of(kind, row.stack, "vllm") ? "vllm" : row.stack;
    const sim::Platform* platform = own.find(row.chip, stack);
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
    const Pair pair = pair_of(*transferred.find(row.chip, stack));
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
    for (const char* ending : {".csv", ".csv.gz"}) {
      const std::filesystem::path file = tables / (kind + ending);
      if (std::filesystem::exists(file)) {
        kinds.push_back(judge(kind, base::read_csv(file), own, transferred));
        break;
      }
    }
  }
  return kinds;
}

}  // namespace roofcast::calibrate
