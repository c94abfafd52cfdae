// SPDX-License-Identifier: Apache-2.0
#include "cli/provenance/report_parts.hpp"

#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "cli/tables/attainment_rows.hpp"
#include "cli/tables/report_rows.hpp"

namespace roofcast::cli {
namespace {

// Of rows that were read one by one, those that what a page says is found by.
class NeededRows {
 public:
  NeededRows(const sim::ResultTable& table, const std::string& series)
      : table_(table), attained_(table) {
    for (const sim::ResultColumn* column : attained_.columns()) {
      columns_.push_back(column->name());
    }
    has_series_ = table.find(series) != nullptr;
    if (has_series_) {
      columns_.push_back(series);
    }
    has_provenance_ = table.find("provenance") != nullptr;
    if (has_provenance_) {
      columns_.emplace_back("provenance");
    }
  }

  const std::vector<std::string>& columns() const { return columns_; }

  void take(std::size_t row, std::span<const std::string_view> cells) {
    if (has_provenance_ && provenances_.emplace(cells.back()).second) {
      rows_.insert(row);
    }
    if (!table_.meets(row)) {
      return;
    }
    numbers_.clear();
    for (std::size_t i = 0; i < attained_.columns().size(); ++i) {
      numbers_.push_back(
          base::parse_number(cells[i]).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    attained_.take(row, has_series_ ? std::string(cells[numbers_.size()]) : "", numbers_);
  }

  std::vector<std::size_t> rows() const {
    std::set<std::size_t> all = rows_;
    for (const std::size_t row : attained_.rows()) {
      all.insert(row);
    }
    for (const std::size_t row : sampled_rows(table_)) {
      all.insert(row);
    }
    return {all.begin(), all.end()};
  }

 private:
  const sim::ResultTable& table_;
  AttainmentRows attained_;
  bool has_series_ = false;
  bool has_provenance_ = false;
  std::vector<std::string> columns_;
  std::vector<double> numbers_;
  std::set<std::string, std::less<>> provenances_;
  std::set<std::size_t> rows_;  // the first one of each provenance
};

}  // namespace

std::vector<std::size_t> fetch_rows_to_show(const sim::SweepPoints& points,
                                            const PartsOnDisk& parts, sim::ResultTable& table) {
  const std::string series = series_of(table, shown(table, points.sweep()));
  NeededRows needed(table, series);
  parts.parts.each(
      parts.folders, needed.columns(),
      [&](std::size_t row, std::span<const std::string_view> cells) { needed.take(row, cells); });
  parts.parts.fetch(parts.folders, needed.rows(), table);
  std::vector<std::size_t> on_page = rows_to_show(table, series, {});
  parts.parts.fetch(parts.folders, on_page, table);
  return on_page;
}

}  // namespace roofcast::cli
