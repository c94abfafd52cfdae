// SPDX-License-Identifier: Apache-2.0
#include "cli/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/document/problems.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

RowFilter::RowFilter(const base::CsvTable& table, const std::vector<std::string>& where)
    : table_(table) {
  for (const std::string& condition : where) {
    const auto equals = condition.find('=');
    if (equals == std::string::npos) {
      throw base::InputError(fmt::format(
          "error: --where {}: expects COLUMN=VALUE, for example backend=vllm\n", condition));
    }
    conditions_.emplace_back(table.column(condition.substr(0, equals)),
                             condition.substr(equals + 1));
  }
}

bool RowFilter::keeps(std::size_t row) const {
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const auto& c) { return table_.cell(row, c.first) == c.second; });
}

ErrorsFile::ErrorsFile(const std::string& file, const base::CsvTable& table,
                       const std::vector<std::string>& predicted_columns)
    : table_(table) {
  if (file.empty()) {
    return;
  }
  std::vector<std::string> columns = table.columns();
  columns.insert(columns.end(), predicted_columns.begin(), predicted_columns.end());
  columns.insert(columns.end(), {"provenance", "reason"});
  csv_ = std::make_unique<base::CsvWriter>(std::filesystem::path(file), columns);
}

void ErrorsFile::add(std::size_t row, const std::vector<double>& predicted,
                     const std::string& provenance, const std::string& reason) {
  if (csv_ == nullptr) {
    return;
  }
  for (std::size_t column = 0; column < table_.columns().size(); ++column) {
    csv_->append(table_.cell(row, column));
  }
  for (const double value : predicted) {
    csv_->append(value);
  }
  csv_->append(provenance);
  csv_->append(reason);
  csv_->end_row();
}

void ErrorsFile::close() {
  if (csv_ != nullptr) {
    csv_->close();
  }
}

nlohmann::ordered_json error_json(const calibrate::ErrorSummary& errors) {
  return {{"rows", errors.rows}, {"mape", errors.mape}, {"median", errors.median},
          {"p90", errors.p90},   {"bias", errors.bias}, {"coverage90", errors.coverage90}};
}

std::vector<std::string> error_cells(const calibrate::ErrorSummary& errors) {
  std::vector<std::string> cells;
  for (const double value :
       {errors.mape, errors.median, errors.p90, errors.bias, errors.coverage90}) {
    cells.push_back(calibrate::percent(value));
  }
  return cells;
}

std::string skipped_table(const std::map<std::string, std::size_t>& by_reason) {
  if (by_reason.empty()) {
    return {};
  }
  TextTable reasons({"not predicted, because", "rows"});
  for (const auto& [reason, count] : by_reason) {
    reasons.add({reason, fmt::format("{}", count)});
  }
  return reasons.text() + "\n";
}

}  // namespace roofcast::cli
