// SPDX-License-Identifier: Apache-2.0
//
// The tables that roofcast-bench writes: their files and columns. Where a kind of the public operator tables exists
// (calibrate/operators/operator_rows.hpp) a table has its shape columns, so that `roofcast calibrate validate` reads it.
//
// Every table begins with system, fw and fw_version and ends with reason: why a shape has no result. Units are in the
// columns' names. p10 and p90 are quantiles of the samples, latency_ms is their median.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roofcast::bench {

inline constexpr std::string_view kStack = "bench";  // fw

struct Layout {
  std::string_view name;  // of the file, without .csv
  std::vector<std::string_view> shape;
  std::vector<std::string_view> results;

  std::vector<std::string> columns() const;
};

const std::vector<Layout>& layouts();
const Layout& layout(std::string_view name);  // std::logic_error when there is none

}  // namespace roofcast::bench
