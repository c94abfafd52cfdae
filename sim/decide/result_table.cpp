// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv/csv.hpp"
#include "base/document/renamed.hpp"
#include "base/nearest.hpp"
#include "base/trimmed.hpp"

namespace roofcast::sim {

const Metric* replayed_metric(std::string_view column) {
  constexpr std::string_view kReplayed = "replayed_";
  return column.starts_with(kReplayed) ? find_metric(column.substr(kReplayed.size())) : nullptr;
}

const Metric* class_metric(std::string_view column) {
  const std::size_t end = column.find('_');
  const Metric* metric =
      end == std::string_view::npos ? nullptr : find_metric(column.substr(0, end));
  return metric != nullptr && metric->of_objectives && find_metric(column) == nullptr ? metric
                                                                                      : nullptr;
}

void TextCodes::resize(std::size_t rows) {
  if (is_wide_) {
    wide_.resize(rows);
  } else {
    narrow_.resize(rows);
  }
}

void TextCodes::make_room_for(std::uint32_t code) {
  if (!is_wide_ && code > std::numeric_limits<std::uint8_t>::max()) {
    is_wide_ = true;
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
  }
}

ResultColumn::ResultColumn(std::string name)
    : name_(std::move(name)),
      metric_(find_metric(name_)),
      derived_(replayed_metric(name_) != nullptr || class_metric(name_) != nullptr),
      whole_(name_ == "point" || name_ == "pareto_rank"),
      is_rank_(name_ == "pareto_rank") {
  code_of("");
}

double ResultColumn::parsed(std::size_t row) const {
  return base::parse_number(base::trimmed(text(row))).value_or(std::nan(""));
}

bool ResultColumn::is_empty(std::size_t row) const {
  return has_numbers() ? std::isnan(number(row)) : code(row) == 0;
}

std::string ResultColumn::cell(std::size_t row) const {
  if (is_empty(row)) {
    return {};
  }
  return !has_numbers() ? text(row)
         : whole_       ? fmt::format("{:.0f}", number(row))
                        : fmt::format("{}", number(row));
}

void ResultColumn::resize(std::size_t rows) {
  rows_ = rows;
  if (thin_) {
    return;
  }
  if (!has_numbers()) {
    codes_.resize(rows);
  } else if (!is_blank()) {
    fill();
  }
}

void ResultColumn::fill() {
  if (thin_) {
    return;
  }
  if (is_rank_) {
    ranks_.resize(rows_);
  } else {
    numbers_.resize(rows_, kNone);
  }
}

// Ranks start at 1; a file may say anything.
void ResultColumn::set_rank(std::size_t row, double number) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  ranks_[row] = number >= 1.0 && number <= kMost ? static_cast<std::uint32_t>(number) : 0;
}

void ResultColumn::make_thin() { thin_ = true; }

double ResultColumn::thin_number(std::size_t row) const {
  const auto known = thin_numbers_.find(row);
  return known == thin_numbers_.end() ? kNone : known->second;
}

std::uint32_t ResultColumn::thin_code(std::size_t row) const {
  const auto known = thin_codes_.find(row);
  return known == thin_codes_.end() ? 0 : known->second;
}

bool ResultColumn::has_room(std::size_t row, double number) {
  if (thin_ && std::isnan(number)) {
    thin_numbers_.erase(row);
  } else if (thin_) {
    thin_numbers_[row] = number;
  } else if (!std::isnan(number)) {
    fill();
  }
  return !is_blank() && !thin_;
}

std::uint32_t ResultColumn::code_of(std::string_view text) {
  if (const auto known = code_of_.find(text); known != code_of_.end()) {
    return known->second;
  }
  const auto code = static_cast<std::uint32_t>(texts_.size());
  codes_.make_room_for(code);
  code_of_.emplace(texts_.emplace_back(text), code);
  return code;
}

ResultTable::ResultTable(std::string name, const std::vector<std::string>& columns)
    : name_(std::move(name)) {
  for (const std::string& column : columns) {
    const std::string_view now = base::current_name(column);
    if (!index_.emplace(now, columns_.size()).second) {
      throw base::InputError(
          fmt::format("{}: error: two columns are called \"{}\"\n", name_, column));
    }
    if (now != column) {
      base::note_renamed_column(name_, column);
    }
    columns_.emplace_back(std::string(now));
  }
  fits_ = index_of("fits");
  meets_ = index_of("meets");
  rank_ = index_of("pareto_rank");
}

void ResultTable::resize(std::size_t rows) {
  rows_ = rows;
  for (ResultColumn& column : columns_) {
    column.resize(rows);
  }
}

void ResultTable::add_column(const std::string& column, bool whole) {
  const bool thin = !whole && std::any_of(columns_.begin(), columns_.end(),
                                          [](const ResultColumn& each) { return each.is_thin(); });
  index_.emplace(column, columns_.size());
  columns_.emplace_back(column);
  if (thin) {
    columns_.back().make_thin();
  }
  columns_.back().resize(rows_);
}

std::size_t ResultTable::index_of(std::string_view column) const {
  const auto at = index_.find(column);
  return at != index_.end() ? at->second : columns_.size();
}

std::vector<std::string> ResultTable::names() const {
  std::vector<std::string> names;
  for (const ResultColumn& column : columns_) {
    names.push_back(column.name());
  }
  return names;
}

const ResultColumn* ResultTable::find(std::string_view column) const {
  const std::size_t index = index_of(column);
  return index < columns_.size() ? &columns_[index] : nullptr;
}

const ResultColumn& ResultTable::column(std::string_view column) const {
  if (const ResultColumn* found = find(column)) {
    return *found;
  }
  std::vector<std::string> names;
  for (const ResultColumn& each : columns_) {
    names.push_back(each.name());
  }
  const auto near = base::nearest_name(column, names);
  throw base::InputError(fmt::format("{}: error: no column \"{}\"{}", name_, column,
                                     near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

ResultColumn& ResultTable::column(std::string_view column) {
  return const_cast<ResultColumn&>(std::as_const(*this).column(column));
}

bool ResultTable::is_on_front(std::size_t row) const {
  return rank_ < columns_.size() && columns_[rank_].number(row) == 1.0;
}

std::size_t ResultTable::meeting() const {
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    count += meets(row) ? 1U : 0U;
  }
  return count;
}

bool holds(const Condition& condition, const ResultTable& table, std::size_t row) {
  return condition.metric.empty() ? table.fits(row)
                                  : holds(condition, table.column(condition.metric).number(row));
}

}  // namespace roofcast::sim
