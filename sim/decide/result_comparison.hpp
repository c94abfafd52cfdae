// SPDX-License-Identifier: Apache-2.0
//
// Two tables of results, row by row: what got better, worse, or lost. Both are read once, at the same time; of a row are
// kept 128 bits of hash in place of its key, and the metrics.
//
// Rows belong together when the cells of every key column are equal, as numbers where both are
// numbers ("0.5" and "0.50"), else as text. A column in which one table has both "1" and "01" has names: there it is text
// alone. A metric moves by (new - old) / |old|; within its
// tolerance that is a drift, beyond it a gain or a loss by the metric's direction. A number that is
// no longer there is a loss, one that was not there a gain.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv_file.hpp"
#include "sim/decide/pareto.hpp"

namespace roofcast::sim {

// How far apart two values count as equal.
struct Tolerance {
  double value = 0.0;
  bool relative = true;  // a share of the old value; else in the column's unit
  bool operator==(const Tolerance&) const = default;
};
// "1%" or an amount, finite and not negative.
std::optional<Tolerance> parse_tolerance(std::string_view text);

struct ComparedMetric {
  std::string column;
  Direction direction = Direction::minimize;
  Tolerance tolerance;
};

// The worst that happened to a row, worst first.
enum class Change { missing, no_longer_meets, loss, now_meets, gain, drift, same, added };
inline constexpr std::size_t kChanges = 8;
std::string_view name(Change change);
// What a gate refuses.
bool is_lost(Change change);

inline constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

struct ComparedRow {
  std::size_t old_row = kNowhere;  // nowhere: added
  std::size_t new_row = kNowhere;  // nowhere: missing
  Change change = Change::same;
  std::size_t metric = kNowhere;  // that moved most, losses before gains; of rows found in both
  double moved = 0.0;             // by how much, relative; infinite from 0, to nothing or from it
};

struct MetricChange {
  std::size_t compared = 0;  // rows with a number in either
  std::size_t gains = 0;
  std::size_t losses = 0;
  std::size_t drifts = 0;
  double median = 0.0;  // relative movement of rows with a number in both; NaN when there are none
  double worst = 0.0;   // the most adverse
  double best = 0.0;
};

struct ResultComparison {
  std::vector<MetricChange> metrics;  // in the order asked for
  std::vector<std::vector<double>>
      old_values;  // of each metric, by row; NaN where there is no number
  std::vector<std::vector<double>> new_values;
  std::vector<ComparedRow> rows;  // those of the old table in its order, then what is added
  std::size_t count(Change change) const;
};

// A row meets when its cells `fits` and `meets`, where the table has them, say true. It
// no longer meets, or meets now, only where both tables say. Throws base::CsvError for a column that
// either table lacks, for two rows of one key, and for a cell that is neither empty nor a number or a verdict where its
// column has these.
ResultComparison compare_results(base::CsvFile& old_results, base::CsvFile& new_results,
                                 const std::vector<std::string>& key,
                                 const std::vector<ComparedMetric>& metrics);

}  // namespace roofcast::sim
