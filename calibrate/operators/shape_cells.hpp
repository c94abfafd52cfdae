// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv/csv.hpp"

namespace roofcast::calibrate {

// Whether the cells of a row are the shape of an operator. The columns are looked up once; those that no shape has are
// not looked at.
class ShapeCells {
 public:
  explicit ShapeCells(const base::CsvTable& table);
  // "moe_ep_size is not a whole number from 1 to 100000000"; empty when nothing is wrong.
  std::string wrong(std::size_t row) const;

 private:
  struct Checked {
    std::size_t column;
    double least, most;
  };
  double number(std::size_t row, std::optional<std::size_t> column) const;

  const base::CsvTable& table_;
  std::vector<Checked> checked_;
  std::vector<std::pair<std::size_t, std::vector<std::string_view>>>
      words_;  // that columns may have
  std::optional<std::size_t> experts_, chosen_, ranks_, heads_, kv_heads_;
};

}  // namespace roofcast::calibrate
