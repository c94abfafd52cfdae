// SPDX-License-Identifier: Apache-2.0
//
// Rows of a result that decide what is attained under a limit: for each value of a column, each latency and
// each limit of it, the row that meets every constraint with the most throughput per GPU.
//
// Latencies are the metrics in seconds of which less is better, and the upper ends of their 90 % intervals.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/decide/result_table.hpp"

namespace roofcast::cli {

// Found row by row: what a row has of `columns` is told, and not kept.
class AttainmentRows {
 public:
  // Latency -> (throughput, row); both rise.
  using Steps = std::map<double, std::pair<double, std::size_t>>;

  explicit AttainmentRows(const sim::ResultTable& table);

  // The throughput, then the latencies; none where the table has no throughput_tok_per_s_per_gpu.
  const std::vector<const sim::ResultColumn*>& columns() const { return columns_; }
  // A row that meets every constraint, its value of the column of curves, and its numbers of `columns`.
  void take(std::size_t row, const std::string& series, std::span<const double> numbers);
  std::vector<std::size_t> rows() const;  // in the table's order, each once

 private:
  std::vector<const sim::ResultColumn*> columns_;
  std::map<std::string, std::vector<Steps>> by_series_;
};

// In the table's order, each once; none where the table has no throughput_tok_per_s_per_gpu. `series` is a
// column of the table, or empty for one curve of all rows.
std::vector<std::size_t> attainment_rows(const sim::ResultTable& table, const std::string& series);

}  // namespace roofcast::cli
