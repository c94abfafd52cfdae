// SPDX-License-Identifier: Apache-2.0
//
// An estimate's metrics as cells of a CSV row, in the order of sim/metrics.hpp.
#pragma once

#include <string>
#include <vector>

#include "base/csv.hpp"
#include "sim/estimate.hpp"

namespace roofcast::cli {

void add_metric_columns(std::vector<std::string>& columns);
// Empty cells where the estimate does not fit.
void append_metrics(base::CsvWriter& csv, const sim::ServingEstimate& estimate);

}  // namespace roofcast::cli
