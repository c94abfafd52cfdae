// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/metric_cells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/tables/text_table.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::cli {
namespace {

constexpr double kLeastShare = 0.005;  // of a cause that a line names

}  // namespace

void add_metric_columns(std::vector<std::string>& columns, bool parents) {
  for (const sim::Metric& metric : sim::metrics()) {
    columns.emplace_back(metric.name);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (!text.of_parents || parents) {
      columns.emplace_back(text.name);
    }
  }
}

void append_metrics(base::CsvWriter& csv, const sim::ServingEstimate& estimate, bool parents) {
  for (const sim::Metric& metric : sim::metrics()) {
    csv.append(estimate.fits() ? metric.value(estimate) : NAN);
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.of_parents && !parents) {
      continue;
    }
    csv.append(estimate.fits() ? text.value(estimate) : std::string_view());
  }
}

std::string_view limit_of(const sim::ServingEstimate& estimate, std::string_view metric) {
  return sim::limited(estimate, metric).by;
}

std::string limit_text(const sim::ServingEstimate& estimate, std::string_view metric) {
  const sim::Limited limited = sim::limited(estimate, metric);
  if (limited.share > 0.0) {
    return fmt::format("{} ({:.0f} %)", limited.by, 100.0 * limited.share);
  }
  if (!limited.shares.empty()) {
    const models::Share& most = limited.shares.front();
    return fmt::format("{} (for {} {:.0f} %)", limited.by, models::name(most.cause),
                       100.0 * most.share);
  }
  return std::string(limited.by);
}

std::string shares_text(std::span<const models::Share> shares) {
  std::string text;
  for (const models::Share& share : shares) {
    if (share.share >= kLeastShare) {
      text += fmt::format("{}{} {:.1f}%", text.empty() ? "" : ", ", models::name(share.cause),
                          100.0 * share.share);
    }
  }
  return text;
}

std::string without_prompts(std::string_view text) {
  constexpr std::string_view kWith = " with prompts";
  constexpr std::string_view kOutput = " output";
  text.remove_suffix(text.ends_with(kOutput) ? kOutput.size() : 0);
  std::string words(text);
  if (const auto at = words.find(kWith); at != std::string::npos) {
    words.erase(at, kWith.size());
  }
  return words;
}

bool has_prompts(const sim::ServingEstimate& estimate) {
  return estimate.workflow == nullptr || estimate.workflow->post_training.has_value();
}

MetricWords words_of(const sim::Metric& metric, bool prompts) {
  return prompts ? MetricWords{std::string(metric.label), std::string(metric.unit)}
                 : MetricWords{without_prompts(metric.label), without_prompts(metric.unit)};
}

std::string_view column_label(std::string_view column) {
  const sim::Metric* metric = sim::find_metric(column);
  return metric != nullptr ? metric->label : column;
}

std::string column_value(std::string_view column, double value) {
  const sim::Metric* metric = sim::find_metric(column);
  return display(value, metric != nullptr ? metric->unit : "");
}

}  // namespace roofcast::cli
