// SPDX-License-Identifier: Apache-2.0
//
// Rows of gemm_power.csv of the same weights on the same chip and stack, with the next fewer and the next more rows of
// activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/csv/csv.hpp"

namespace roofcast::calibrate {

struct PowerRun {
  std::int64_t m = 0;
  double seconds = 0.0;
  double watts = 0.0;
};

class PowerNeighbours {
 public:
  PowerNeighbours() = default;
  explicit PowerNeighbours(const base::CsvTable& table);  // CsvError when a column is missing
  // At most two; none of a table without them.
  std::vector<PowerRun> of(std::size_t row) const;

 private:
  struct Place {
    std::size_t layer = 0;
    PowerRun run;
  };
  std::vector<Place> places_;       // of each row
  std::vector<std::size_t> order_;  // rows by layer, then by m
  std::vector<std::size_t> rank_;   // of each row in that order
};

}  // namespace roofcast::calibrate
