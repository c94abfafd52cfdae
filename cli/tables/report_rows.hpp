// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a result its page has (cli/pages/report.hpp).
//
// All of a small table. Of a large one the front and the rows to keep, then what the attainment curves are made of, then what meets
// the constraints, then the rest; the class that no longer fits whole is thinned evenly.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/tables/result_csv.hpp"
#include "sim/decide/result_table.hpp"

namespace roofcast::cli {

// The column whose values have a curve each: the system, or the first axis.
std::string series_of(const sim::ResultTable& table, const ShownColumns& columns);

// Rows whose cells tell how long a row of the page is, and so how many it has.
std::vector<std::size_t> sampled_rows(const sim::ResultTable& table);

// In the table's order.
std::vector<std::size_t> rows_to_show(const sim::ResultTable& table, const std::string& series,
                                      const std::set<std::size_t>& kept);

}  // namespace roofcast::cli
