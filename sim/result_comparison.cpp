// SPDX-License-Identifier: Apache-2.0
#include "sim/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "base/fnv.hpp"

namespace roofcast::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The key of a row, read where it stands.
struct Key {
  const base::CsvTable* table;
  const std::vector<std::size_t>* columns;
  std::size_t row;

  std::string_view part(std::size_t i) const { return table->cell(row, (*columns)[i]); }
};

bool equal_cells(std::string_view a, std::string_view b) {
  if (a == b) {
    return true;
  }
  const auto x = base::parse_number(a);
  return x && x == base::parse_number(b);
}

struct HashKey {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = base::kFnvStart;
    for (std::size_t i = 0; i < key.columns->size(); ++i) {
      const std::string_view cell = key.part(i);
      const auto number = base::parse_number(cell);
      // + 0.0: the two zeros are equal.
      hash = number ? base::fnv(hash, std::bit_cast<std::uint64_t>(*number + 0.0))
                    : base::fnv(hash, cell);
      hash ^= hash >> 32U;
    }
    return hash;
  }
};

struct EqualKeys {
  bool operator()(const Key& a, const Key& b) const {
    for (std::size_t i = 0; i < a.columns->size(); ++i) {
      if (!equal_cells(a.part(i), b.part(i))) {
        return false;
      }
    }
    return true;
  }
};

using Keys = std::unordered_set<Key, HashKey, EqualKeys>;

std::vector<std::size_t> positions(const base::CsvTable& table,
                                   const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    columns.push_back(table.column(name));
  }
  return columns;
}

Keys keys_of(const base::CsvTable& table, const std::vector<std::size_t>& columns) {
  Keys keys;
  keys.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto [other, is_new] = keys.insert({&table, &columns, row});
    if (!is_new) {
      std::string key;
      for (const std::size_t column : columns) {
        key += fmt::format("{}{}={}", key.empty() ? "" : ", ", table.columns()[column],
                           table.cell(row, column));
      }
      throw base::CsvError(fmt::format(
          "{}: error: rows {} and {} have one key{}{}; name the columns that tell rows apart",
          table.name(), other->row + 1, row + 1, key.empty() ? "" : ", ", key));
    }
  }
  return keys;
}

// Whether a row counts, where its table says.
std::optional<bool> feasible(const base::CsvTable& table, std::size_t row,
                             const std::vector<std::size_t>& verdicts) {
  if (verdicts.empty()) {
    return std::nullopt;
  }
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [&](std::size_t column) { return table.cell(row, column) == "true"; });
}

std::vector<std::size_t> verdicts_of(const base::CsvTable& table) {
  std::vector<std::size_t> columns;
  for (const char* verdict : {"fits", "meets"}) {
    if (const auto column = table.find_column(verdict)) {
      columns.push_back(*column);
    }
  }
  return columns;
}

double movement(double before, double after) {
  if (before == after) {
    return 0.0;
  }
  return std::isfinite(before) ? (after - before) / std::abs(before)
                               : (after > before ? kInfinity : -kInfinity);
}

// One metric of one row; same when neither table has a number.
struct Move {
  Change change = Change::same;
  double moved = 0.0;
};

Move move_of(const ComparedMetric& metric, std::optional<double> before,
             std::optional<double> after) {
  if (!before || !after) {
    return before ? Move{Change::loss, kInfinity} : after ? Move{Change::gain, kInfinity} : Move{};
  }
  const double moved = movement(*before, *after);
  if (moved == 0.0) {
    return {};
  }
  const double size = metric.tolerance.relative ? std::abs(moved) : std::abs(*after - *before);
  if (size <= metric.tolerance.value) {
    return {Change::drift, moved};
  }
  const bool up = moved > 0.0;
  return {up == (metric.direction == Direction::maximize) ? Change::gain : Change::loss, moved};
}

void summarise(MetricChange& change, std::vector<double>& moves, Direction direction) {
  if (moves.empty()) {
    change.median = change.worst = change.best = std::nan("");
    return;
  }
  std::sort(moves.begin(), moves.end());
  const std::size_t middle = moves.size() / 2;
  change.median = moves.size() % 2 == 1 ? moves[middle] : (moves[middle - 1] + moves[middle]) / 2.0;
  change.worst = direction == Direction::maximize ? moves.front() : moves.back();
  change.best = direction == Direction::maximize ? moves.back() : moves.front();
}

}  // namespace

std::optional<Tolerance> parse_tolerance(std::string_view text) {
  Tolerance tolerance{.value = 0.0, .relative = text.ends_with('%')};
  if (tolerance.relative) {
    text.remove_suffix(1);
  }
  const auto value = base::parse_number(text);
  if (!value || !std::isfinite(*value) || *value < 0.0) {
    return std::nullopt;
  }
  tolerance.value = tolerance.relative ? *value / 100.0 : *value;
  return tolerance;
}

std::string_view name(Change change) {
  constexpr std::string_view kNames[kChanges] = {
      "missing", "became infeasible", "loss", "became feasible", "gain", "drift", "same", "new"};
  return kNames[static_cast<std::size_t>(change)];
}

bool is_lost(Change change) { return change <= Change::loss; }

std::size_t ResultComparison::count(Change change) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.change == change; }));
}

ResultComparison compare_results(const base::CsvTable& old_results,
                                 const base::CsvTable& new_results,
                                 const std::vector<std::string>& key,
                                 const std::vector<ComparedMetric>& metrics) {
  std::vector<std::string> names;
  for (const ComparedMetric& metric : metrics) {
    names.push_back(metric.column);
  }
  const auto old_key = positions(old_results, key);
  const auto new_key = positions(new_results, key);
  const auto old_columns = positions(old_results, names);
  const auto new_columns = positions(new_results, names);
  const auto old_verdicts = verdicts_of(old_results);
  const auto new_verdicts = verdicts_of(new_results);
  keys_of(old_results, old_key);  // each key once
  const Keys new_rows = keys_of(new_results, new_key);

  ResultComparison result;
  result.metrics.resize(metrics.size());
  result.rows.reserve(old_results.rows());
  std::vector<std::vector<double>> moves(metrics.size());
  std::vector<bool> found(new_results.rows(), false);
  for (std::size_t row = 0; row < old_results.rows(); ++row) {
    const auto match = new_rows.find({&old_results, &old_key, row});
    if (match == new_rows.end()) {
      result.rows.push_back({.old_row = row, .change = Change::missing});
      continue;
    }
    ComparedRow compared{.old_row = row, .new_row = match->row};
    found[match->row] = true;
    const auto was = feasible(old_results, row, old_verdicts);
    const auto is = feasible(new_results, match->row, new_verdicts);
    const bool turned = was && is && *was != *is;
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const auto before = base::parse_number(old_results.cell(row, old_columns[m]));
      const auto after = base::parse_number(new_results.cell(match->row, new_columns[m]));
      if (turned && !(before && after)) {
        continue;  // the verdict says it
      }
      const Move move = move_of(metrics[m], before, after);
      MetricChange& sum = result.metrics[m];
      sum.compared += before || after ? 1 : 0;
      sum.gains += move.change == Change::gain ? 1 : 0;
      sum.losses += move.change == Change::loss ? 1 : 0;
      sum.drifts += move.change == Change::drift ? 1 : 0;
      if (before && after) {
        moves[m].push_back(move.moved);
      }
      if (move.change < compared.change ||
          (move.change == compared.change && std::abs(move.moved) > std::abs(compared.moved))) {
        compared.change = move.change;
        compared.metric = m;
        compared.moved = move.moved;
      }
    }
    if (turned) {
      compared.change =
          std::min(compared.change, *is ? Change::became_feasible : Change::became_infeasible);
    }
    result.rows.push_back(compared);
  }
  for (std::size_t row = 0; row < new_results.rows(); ++row) {
    if (!found[row]) {
      result.rows.push_back({.new_row = row, .change = Change::added});
    }
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    summarise(result.metrics[m], moves[m], metrics[m].direction);
  }
  return result;
}

}  // namespace roofcast::sim
