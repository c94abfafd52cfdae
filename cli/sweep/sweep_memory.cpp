// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/sweep_memory.hpp"

#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "base/units/unit_text.hpp"
#include "sim/decide/shown_columns.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {
namespace {

constexpr double kProgram = 64e6;
constexpr double kPage = 72e6;
constexpr double kNumber = 8.0;
constexpr double kRank = 4.0;
constexpr double kTexts = 4.0 + 3.0;  // reason; fits, meets, made_by
constexpr double kText = 4.0;         // an axis of the groups, or
constexpr double kShortText = 1.0;    // one of few values
constexpr std::size_t kFewValues = 256;

std::size_t objectives(const sim::Sweep& sweep) {
  return sweep.pareto.maximize.size() + sweep.pareto.minimize.size();
}

// sim/decide/pareto.hpp
double bytes_of_ranks(const sim::Sweep& sweep) {
  const auto count = static_cast<double>(objectives(sweep));
  return kRank + 8.0 + (count > 2.0 ? 20.0 + 24.0 * count : 0.0);
}

double bytes_in_memory(const sim::SweepPoints& points) {
  const auto columns = sim::shown_columns(points.sweep(), sim::result_columns(points));
  return kProgram +
         static_cast<double>(points.size()) *
             (kNumber * static_cast<double>(columns.size()) + bytes_of_ranks(points.sweep()));
}

double bytes_in_parts(const sim::SweepPoints& points) {
  const sim::Sweep& sweep = points.sweep();
  const auto numbers = static_cast<double>(objectives(sweep) + 1);  // and the cost
  double row = kNumber * numbers + kTexts + bytes_of_ranks(sweep);
  for (const std::size_t axis : sweep.group_axes()) {
    row += sweep.axes[axis].values.size() < kFewValues ? kShortText : kText;
  }
  return kProgram + static_cast<double>(points.size()) * row +
         kNumber * static_cast<double>(sim::PointGroups(points).count());
}

std::string megabytes(double bytes) { return fmt::format("{:.0f} MB", bytes / 1e6); }

}  // namespace

bool needs_parts(const std::string& memory, const sim::SweepPoints& points, bool simulate,
                 bool report) {
  if (memory.empty()) {
    return false;
  }
  const base::ParsedQuantity bound =
      base::parse_quantity(memory, base::dimension_of<base::Bytes>());
  if (!bound.ok() || bound.si <= 0.0) {
    throw base::InputError(
        fmt::format("error: --memory {}: {}\n", memory,
                    bound.ok() ? "expects a size, such as '512 MB'" : bound.error));
  }
  const double page = report ? kPage : 0.0;
  const double whole = bytes_in_memory(points) + page;
  const double least = simulate ? whole : bytes_in_parts(points) + page;
  if (least > bound.si) {
    throw base::InputError(
        fmt::format("error: --memory {}: {} points{} take up to {}{}\n", memory, points.size(),
                    report ? " and a page" : "", megabytes(least),
                    simulate ? " with --simulate, which needs every row" : ", also in parts"));
  }
  return whole > bound.si;
}

}  // namespace roofcast::cli
