// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/result_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>

#include "base/fnv.hpp"
#include "base/no_number.hpp"
#include "base/threads.hpp"
#include "base/trimmed.hpp"

namespace roofcast::sim {
namespace {

using base::kInfinity;

struct Hash {
  std::uint64_t a = base::kFnvStart;
  std::uint64_t b = 0;
  bool operator==(const Hash&) const = default;

  void add(std::uint64_t value) {
    a = mixed(a ^ value);
    b = mixed(b + value * 0x9e3779b97f4a7c15ULL);
  }

 private:
  // The finalizer of SplitMix64.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return (x ^ (x >> 31U)) + 0x9e3779b97f4a7c15ULL;
  }
};

// Equal of cells that are equal: as text, or also as numbers and as true or false.
Hash hash_of(std::string_view cell, bool as_text) {
  Hash hash;
  const auto number = as_text ? std::nullopt : base::parse_number(base::trimmed(cell));
  const auto flag = as_text ? std::nullopt : base::parse_flag(base::trimmed(cell));
  hash.add(number ? 1U : flag ? 3U : 2U);
  if (number) {
    hash.add(std::bit_cast<std::uint64_t>(*number + 0.0));  // the two zeros are equal
    return hash;
  }
  if (flag) {
    hash.add(*flag ? 1U : 0U);
    return hash;
  }
  hash.add(cell.size());
  for (std::size_t at = 0; at < cell.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t part = 0;
    std::memcpy(&part, cell.data() + at, std::min(sizeof part, cell.size() - at));
    hash.add(part);
  }
  return hash;
}

// A key's cell, whose hash is that of the row before where it has not changed.
struct KeyCell {
  bool as_text = false;
  std::string text;
  Hash hash = hash_of("", false);

  const Hash& of(std::string_view cell) {
    if (cell != text) {
      text = cell;
      hash = hash_of(cell, as_text);
    }
    return hash;
  }
};

enum class Verdict : std::uint8_t { unknown, no, yes };

// What is kept of a table.
struct KeyedRows {
  std::vector<Hash> keys;
  std::vector<Verdict> meets;
  std::vector<std::vector<double>> values;  // by metric
  std::vector<std::uint32_t> slots;         // row + 1 of a key, by its hash; 0: none

  std::size_t slot_of(const Hash& key) const {
    std::size_t slot = key.b & (slots.size() - 1);
    while (slots[slot] != 0 && keys[slots[slot] - 1] != key) {
      slot = (slot + 1) & (slots.size() - 1);
    }
    return slot;
  }
  std::size_t find(const Hash& key) const {
    const std::uint32_t row = slots[slot_of(key)];
    return row == 0 ? kNowhere : row - 1;
  }
};

// Each key once. Returns the columns of the key in which two rows differ as text alone, where that makes their keys equal.
std::vector<std::size_t> index(KeyedRows& rows, base::CsvFile& file,
                               const std::vector<std::size_t>& columns) {
  rows.slots.assign(std::bit_ceil(2 * rows.keys.size() + 1), 0);
  for (std::size_t row = 0; row < rows.keys.size(); ++row) {
    std::uint32_t& slot = rows.slots[rows.slot_of(rows.keys[row])];
    if (slot != 0) {
      const base::CsvTable table = file.table({slot - 1, row});
      std::vector<std::size_t> differ;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (table.cell(0, columns[i]) != table.cell(1, columns[i])) {
          differ.push_back(i);
        }
      }
      if (!differ.empty()) {
        return differ;
      }
      std::string key;
      for (const std::size_t column : columns) {
        key += fmt::format("{}{}={}", key.empty() ? "" : ", ", table.columns()[column],
                           table.cell(0, column));
      }
      throw base::CsvError(fmt::format(
          "{}: error: rows {} and {} have one key{}{}; name the columns that tell rows apart",
          file.name(), slot, row + 1, key.empty() ? "" : ", ", key));
    }
    slot = static_cast<std::uint32_t>(row + 1);
  }
  return {};
}

// `as_text`: of each column of the key.
KeyedRows read_rows(base::CsvFile& file, const std::vector<std::string>& key,
                    const std::vector<bool>& as_text, const std::vector<ComparedMetric>& metrics) {
  std::vector<std::size_t> columns;  // of the key, of the metrics, of the verdicts
  for (const std::string& name : key) {
    columns.push_back(file.column(name));
  }
  for (const ComparedMetric& metric : metrics) {
    columns.push_back(file.column(metric.column));
  }
  for (const char* verdict : {"fits", "meets"}) {
    if (const auto column = file.find_column(verdict)) {
      columns.push_back(*column);
    }
  }
  KeyedRows rows;
  rows.values.resize(metrics.size());
  std::vector<KeyCell> cells_before;
  for (const bool text : as_text) {
    cells_before.push_back({text, "", hash_of("", text)});
  }
  const std::size_t verdicts = key.size() + metrics.size();
  file.read(columns, [&](std::span<const std::string_view> cells) {
    Hash hash;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const Hash& cell = cells_before[i].of(cells[i]);
      hash.add(cell.a);
      hash.add(cell.b);
    }
    rows.keys.push_back(hash);
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const std::size_t at = key.size() + m;
      rows.values[m].push_back(file.number(cells[at], columns[at]));
    }
    Verdict verdict = columns.size() > verdicts ? Verdict::yes : Verdict::unknown;
    for (std::size_t at = verdicts; at < columns.size(); ++at) {
      verdict = file.flag(cells[at], columns[at]).value_or(false) ? verdict : Verdict::no;
    }
    rows.meets.push_back(verdict);
  });
  return rows;
}

std::vector<std::size_t> index(KeyedRows& rows, base::CsvFile& file,
                               const std::vector<std::string>& key) {
  std::vector<std::size_t> columns;
  for (const std::string& name : key) {
    columns.push_back(file.column(name));
  }
  return index(rows, file, columns);
}

// Both tables. A column of the key has names, not numbers, where one of the tables has a number in it in two ways: "1" and
// "01". What was taken for numbers is then read once more.
void read_tables(base::CsvFile* const (&files)[2], const std::vector<std::string>& key,
                 const std::vector<ComparedMetric>& metrics, KeyedRows (&tables)[2]) {
  std::vector<bool> as_text(key.size(), false);
  base::on_threads(2, [&](unsigned i) { tables[i] = read_rows(*files[i], key, as_text, metrics); });
  while (true) {
    std::vector<std::size_t> names[2];
    base::on_threads(2, [&](unsigned i) { names[i] = index(tables[i], *files[i], key); });
    if (names[0].empty() && names[1].empty()) {
      return;
    }
    for (const auto& columns : names) {
      for (const std::size_t column : columns) {
        as_text[column] = true;
      }
    }
    for (const base::CsvFile* file : files) {
      if (!std::filesystem::is_regular_file(file->name())) {
        throw base::CsvError(fmt::format(
            "{}: error: it is no file, and is read once: its keys have a number in two ways\n",
            file->name()));
      }
    }
    base::on_threads(2, [&](unsigned i) {
      base::CsvFile again(files[i]->name());  // a file is read once
      tables[i] = read_rows(again, key, as_text, metrics);
    });
  }
}

std::optional<double> number(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
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
  const auto [least, most] = std::minmax_element(moves.begin(), moves.end());
  change.worst = direction == Direction::maximize ? *least : *most;
  change.best = direction == Direction::maximize ? *most : *least;
  const auto middle = moves.begin() + static_cast<std::ptrdiff_t>(moves.size() / 2);
  std::nth_element(moves.begin(), middle, moves.end());
  change.median =
      moves.size() % 2 == 1 ? *middle : (*std::max_element(moves.begin(), middle) + *middle) / 2.0;
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
  constexpr std::string_view kNames[kChanges] = {"missing", "no longer meets", "loss", "now meets",
                                                 "gain",    "drift",           "same", "new"};
  return kNames[static_cast<std::size_t>(change)];
}

bool is_lost(Change change) { return change <= Change::loss; }

std::size_t ResultComparison::count(Change change) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.change == change; }));
}

ResultComparison compare_results(base::CsvFile& old_results, base::CsvFile& new_results,
                                 const std::vector<std::string>& key,
                                 const std::vector<ComparedMetric>& metrics) {
  base::CsvFile* files[] = {&old_results, &new_results};
  KeyedRows tables[2];
  read_tables(files, key, metrics, tables);
  const KeyedRows& before = tables[0];
  const KeyedRows& after = tables[1];

  ResultComparison result;
  result.metrics.resize(metrics.size());
  result.rows.resize(before.keys.size());
  std::vector<bool> found(after.keys.size(), false);
  for (std::size_t row = 0; row < before.keys.size(); ++row) {
    ComparedRow& compared = result.rows[row];
    compared.old_row = row;
    compared.new_row = after.find(before.keys[row]);
    if (compared.new_row == kNowhere) {
      compared.change = Change::missing;
    } else {
      found[compared.new_row] = true;
    }
  }
  const auto flipped = [&](const ComparedRow& row) {
    const Verdict was = before.meets[row.old_row];
    const Verdict is = after.meets[row.new_row];
    return was != Verdict::unknown && is != Verdict::unknown && was != is;
  };
  std::vector<double> moves;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    MetricChange& sum = result.metrics[m];
    moves.clear();
    for (ComparedRow& compared : result.rows) {
      if (compared.new_row == kNowhere) {
        continue;
      }
      const auto was = number(before.values[m][compared.old_row]);
      const auto is = number(after.values[m][compared.new_row]);
      if (!(was && is) && flipped(compared)) {
        continue;  // the verdict says it
      }
      const Move move = move_of(metrics[m], was, is);
      sum.compared += was || is ? 1 : 0;
      sum.gains += move.change == Change::gain ? 1 : 0;
      sum.losses += move.change == Change::loss ? 1 : 0;
      sum.drifts += move.change == Change::drift ? 1 : 0;
      if (was && is) {
        moves.push_back(move.moved);
      }
      if (move.change < compared.change ||
          (move.change == compared.change && std::abs(move.moved) > std::abs(compared.moved))) {
        compared.change = move.change;
        compared.metric = m;
        compared.moved = move.moved;
      }
    }
    summarise(sum, moves, metrics[m].direction);
  }
  for (ComparedRow& row : result.rows) {
    if (row.new_row != kNowhere && flipped(row)) {
      const bool is = after.meets[row.new_row] == Verdict::yes;
      row.change = std::min(row.change, is ? Change::now_meets : Change::no_longer_meets);
    }
  }
  for (std::size_t row = 0; row < after.keys.size(); ++row) {
    if (!found[row]) {
      result.rows.push_back({.new_row = row, .change = Change::added});
    }
  }
  result.old_values = std::move(tables[0].values);
  result.new_values = std::move(tables[1].values);
  return result;
}

}  // namespace roofcast::sim
