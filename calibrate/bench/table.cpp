// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/csv/csv.hpp"
#include "base/statistics/quantile.hpp"
#include "calibrate/platforms/error_summary.hpp"

namespace roofcast::bench {

Spread spread_of(const std::vector<double>& samples) {
  return {base::quantile(samples, 0.5), base::quantile(samples, 0.1), base::quantile(samples, 0.9),
          static_cast<std::int64_t>(samples.size())};
}

Cells cells_of(const Spread& spread, double unit) {
  return {spread.median * unit, spread.p10 * unit, spread.p90 * unit, spread.samples};
}

Table::Table(const std::filesystem::path& directory, const Layout& layout, Subject subject)
    : layout_(layout),
      subject_(std::move(subject)),
      file_(directory / (std::string(layout.name) + ".csv"), std::ios::binary),
      csv_(std::make_unique<base::CsvWriter>(file_, layout.columns())) {
  csv_->flush();
}

Table::~Table() = default;

void Table::measured(const Cells& shape, const Cells& results) { write(shape, results, ""); }

void Table::failed(const Cells& shape, std::string_view reason) {
  write(shape, Cells(layout_.results.size(), std::nan("")), reason);
}

void Table::write(const Cells& shape, const Cells& results, std::string_view reason) {
  if (shape.size() != layout_.shape.size() || results.size() != layout_.results.size()) {
    throw std::logic_error("a row does not fit the table " + std::string(layout_.name));
  }
  csv_->append(std::string_view(subject_.chip));
  csv_->append(kStack);
  csv_->append(std::string_view(subject_.version));
  for (const Cells* cells : {&shape, &results}) {
    for (const Cell& cell : *cells) {
      if (const auto* text = std::get_if<std::string>(&cell)) {
        csv_->append(std::string_view(*text));
      } else if (const auto* number = std::get_if<double>(&cell)) {
        csv_->append(std::isnan(*number) ? std::string() : fmt::format("{:.6g}", *number));
      } else {
        csv_->append(std::get<std::int64_t>(cell));
      }
    }
  }
  csv_->append(reason);
  csv_->end_row();
  csv_->flush();
}

}  // namespace roofcast::bench
