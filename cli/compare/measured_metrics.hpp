// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a log beside those of the estimate, for the logs of servers and of trainings.
#pragma once

#include <vector>

#include "calibrate/logs/serving_log.hpp"
#include "cli/compare/compare_measured.hpp"
#include "sim/result/serving_estimate.hpp"

namespace roofcast::cli {

// The columns, rows and table of the comparison. The forecast is NaN where the scenario does not run.
void lay_beside(const std::vector<calibrate::MeasuredMetric>& log,
                const sim::ServingEstimate& estimate, MeasuredComparison& comparison);

}  // namespace roofcast::cli
