// SPDX-License-Identifier: Apache-2.0
//
// An estimate's metrics as cells of a CSV row, in the order of sim/result/metrics.hpp, and as people read them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "models/operators/anatomy.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {

// `parents`: with the column of figures of the chip before (sim/result/parent_figures.hpp).
void add_metric_columns(std::vector<std::string>& columns, bool parents);
// Empty cells where the estimate does not fit.
void append_metrics(base::CsvWriter& csv, const sim::ServingEstimate& estimate, bool parents);

// What limits a metric (sim/result/causes.hpp): the word, and with its share of the time, "HBM (38 %)", or with that of what
// is waited for, "waiting (for tensor 45 %)". Empty where nothing is told of it.
std::string_view limit_of(const sim::ServingEstimate& estimate, std::string_view metric);
std::string limit_text(const sim::ServingEstimate& estimate, std::string_view metric);
// "HBM 38 %, launch 25 %, …"; empty where the shares are not known.
std::string shares_text(std::span<const models::Share> shares);

// A label or a unit of a metric where nothing is prompted: "Cost" of "Cost with prompts", "USD/Mtok" of "USD/Mtok output".
std::string without_prompts(std::string_view text);
// Whether prompts are served: trainings have none, unless they generate what they learn from.
bool has_prompts(const sim::ServingEstimate& estimate);
// What people read of a metric.
struct MetricWords {
  std::string label;
  std::string unit;
};
MetricWords words_of(const sim::Metric& metric, bool prompts);

// A metric's label, and a value in its unit; of other columns the column and the number.
std::string_view column_label(std::string_view column);
std::string column_value(std::string_view column, double value);

}  // namespace roofcast::cli
