// SPDX-License-Identifier: Apache-2.0
#include "cli/validate/peer_comparison.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

PeerComparison::PeerComparison(const std::string& file, std::vector<std::string> key_columns,
                               std::vector<std::string> predicted_columns)
    : key_columns_(std::move(key_columns)) {
  if (file.empty()) {
    return;
  }
  table_ = base::read_csv(file);
  for (std::string& column : predicted_columns) {
    Quantity quantity;
    quantity.place = table_.column(column);
    quantity.column = std::move(column);
    quantities_.push_back(std::move(quantity));
  }
  std::vector<std::size_t> places;
  for (const std::string& column : key_columns_) {
    places.push_back(table_.column(column));
  }
  for (std::size_t row = 0; row < table_.rows(); ++row) {
    std::vector<std::string> key;
    for (const std::size_t place : places) {
      key.emplace_back(table_.cell(row, place));
    }
    const auto [first, fresh] = rows_.try_emplace(joined(key), row);
    if (!fresh) {
      throw base::InputError(fmt::format("{}:{}: error: {} is that of line {}\n", table_.name(),
                                         row + 2, first->first, first->second + 2));
    }
    for (const Quantity& quantity : quantities_) {
      prediction(row, quantity.place);
    }
  }
}

// id "a", or run "r", request_id "a"
std::string PeerComparison::joined(const std::vector<std::string>& key) const {
  std::string text;
  for (std::size_t i = 0; i < key.size(); ++i) {
    text += fmt::format("{}{} \"{}\"", i > 0 ? ", " : "", key_columns_[i], key[i]);
  }
  return text;
}

double PeerComparison::prediction(std::size_t row, std::size_t column) const {
  const std::string_view cell = table_.cell(row, column);
  if (cell.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto value = base::parse_number(cell);
  if (!value || !(*value > 0.0) || !std::isfinite(*value)) {
    throw base::InputError(
        fmt::format("{}:{}: error: {}: a number above 0 is expected, not \"{}\"\n", table_.name(),
                    row + 2, table_.columns()[column], cell));
  }
  return *value;
}

std::string PeerComparison::reason_of(std::size_t row) const {
  const auto column = table_.find_column("reason");
  const std::string_view text = column ? table_.cell(row, *column) : std::string_view();
  return text.empty() ? "not predicted there" : fmt::format("not predicted there: {}", text);
}

void PeerComparison::add(const std::vector<std::string>& key,
                         const std::vector<calibrate::Pair>& ours, const std::string& reason) {
  if (quantities_.empty()) {
    return;
  }
  const std::string name = joined(key);
  if (!seen_.emplace(name, true).second) {
    throw base::InputError(fmt::format("error: --against: two measured rows have the {}\n", name));
  }
  const auto found = rows_.find(name);
  if (found == rows_.end()) {
    ++left_out_["not among the rows there"];
    return;
  }
  bool predicted_here = false;
  bool predicted_there = false;
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    Quantity& quantity = quantities_[i];
    const calibrate::Pair& our = ours[i];
    const calibrate::Pair their{our.measured, prediction(found->second, quantity.place)};
    predicted_here = predicted_here || our.predicted > 0.0;
    predicted_there = predicted_there || their.predicted > 0.0;
    if (!(our.predicted > 0.0) || !(their.predicted > 0.0)) {
      continue;
    }
    const auto error = [](const calibrate::Pair& pair) {
      return std::abs(pair.predicted - pair.measured);
    };
    quantity.nearer += error(our) < error(their) ? 1 : 0;
    quantity.equal += error(our) == error(their) ? 1 : 0;
    quantity.ours.push_back(our);
    quantity.theirs.push_back(their);
  }
  if (!predicted_here) {
    ++left_out_[fmt::format("not predicted here: {}", reason)];
  } else if (!predicted_there) {
    ++left_out_[reason_of(found->second)];
  }
}

std::string PeerComparison::text() const {
  if (quantities_.empty()) {
    return {};
  }
  std::size_t common = 0;
  TextTable table({"against " + table_.name(), "rows", "median", "its median", "p90", "its p90",
                   "bias", "its bias", "nearer", "equal"});
  for (const Quantity& quantity : quantities_) {
    const calibrate::ErrorSummary ours = calibrate::summarise(quantity.ours);
    const calibrate::ErrorSummary theirs = calibrate::summarise(quantity.theirs);
    common += ours.rows;
    const auto rows = static_cast<double>(ours.rows);
    std::vector<std::string> cells = {quantity.column, fmt::format("{}", ours.rows)};
    for (const double value : {ours.median, theirs.median, ours.p90, theirs.p90, ours.bias,
                               theirs.bias, static_cast<double>(quantity.nearer) / rows,
                               static_cast<double>(quantity.equal) / rows}) {
      cells.push_back(calibrate::percent(value));
    }
    table.add(std::move(cells));
  }
  std::map<std::string, std::size_t> left_out = left_out_;
  for (const auto& [key, row] : rows_) {
    left_out["not among the rows here"] += seen_.contains(key) ? 0 : 1;
  }
  TextTable reasons({"not compared, because", "rows"});
  std::size_t uncompared = 0;
  for (const auto& [reason, count] : left_out) {
    if (count > 0) {
      reasons.add({reason, fmt::format("{}", count)});
      uncompared += count;
    }
  }
  if (common == 0) {
    throw base::InputError(fmt::format("{}: error: no row that is predicted in both\n{}",
                                       table_.name(), uncompared > 0 ? reasons.text() : ""));
  }
  return table.text() + "\n" + (uncompared > 0 ? reasons.text() + "\n" : "");
}

}  // namespace roofcast::cli
