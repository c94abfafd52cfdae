// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_measured.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

std::vector<MeasuredComparison> compare(const CompareMeasuredOptions& options,
                                        const std::string& log) {
  using calibrate::LogFormat;
  const LogFormat format = calibrate::format_of(log);
  std::vector<MeasuredComparison> all;
  switch (format) {
    case LogFormat::client_json:
    case LogFormat::client_text:
    case LogFormat::trtllm_bench:
      for (const calibrate::ServingLog& one : calibrate::read_serving_logs(log, format)) {
        all.push_back(compare_serving(options, one));
      }
      break;
    case LogFormat::nccl_tests:
      all.push_back(compare_collectives(options, calibrate::read_collective_log(log)));
      break;
    case LogFormat::training:
      all.push_back(compare_training(options, calibrate::read_training_log(log)));
      break;
    case LogFormat::kernel_summary:
    case LogFormat::kernel_list:
    case LogFormat::kernel_counters:
    case LogFormat::kernel_trace:
      all.push_back(compare_kernels(options, calibrate::read_kernel_profile(log, format)));
      break;
  }
  all.front().said.insert(all.front().said.begin(),
                          fmt::format("{}: {}", log, calibrate::name(format)));
  return all;
}

void print_text(const MeasuredComparison& comparison) {
  for (const std::string& sentence : comparison.said) {
    say("{}\n", sentence);
  }
  say("{}\n\n{}", comparison.scenario, comparison.table);
  for (const std::string& note : comparison.notes) {
    say("{}\n", note);
  }
}

nlohmann::ordered_json json_of(const std::vector<MeasuredComparison>& comparisons) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const MeasuredComparison& comparison : comparisons) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& row : comparison.rows) {
      nlohmann::ordered_json object;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double* number = std::get_if<double>(&row[i]);
        nlohmann::ordered_json& cell = object[comparison.columns[i]];
        if (number == nullptr) {
          cell = std::get<std::string>(row[i]);
        } else if (std::isfinite(*number)) {
          cell = *number;
        }
      }
      rows.push_back(std::move(object));
    }
    json.push_back({{"log", comparison.log},
                    {"scenario", comparison.scenario},
                    {"said", comparison.said},
                    {"rows", std::move(rows)},
                    {"notes", comparison.notes}});
  }
  nlohmann::ordered_json whole;
  whole["logs"] = std::move(json);
  return whole;
}

void write_csv(const std::vector<MeasuredComparison>& comparisons, const std::string& file) {
  std::vector<std::string> columns = {"log"};
  columns.insert(columns.end(), comparisons.front().columns.begin(),
                 comparisons.front().columns.end());
  base::CsvWriter csv(std::filesystem::path(file), columns);
  for (const MeasuredComparison& comparison : comparisons) {
    for (const auto& row : comparison.rows) {
      csv.append(comparison.log);
      for (const MeasuredComparison::Cell& cell : row) {
        std::visit([&](const auto& value) { csv.append(value); }, cell);
      }
      csv.end_row();
    }
  }
  csv.close();
}

}  // namespace

std::string ratio_text(double forecast, double measured) {
  const double ratio = forecast / measured;
  return std::isfinite(ratio) ? fmt::format("{:.3g}", ratio) : "-";
}

std::string inside(double measured, double low, double high) {
  return !std::isfinite(low) || !std::isfinite(high) ? ""
         : measured < low                            ? "below"
         : measured > high                           ? "above"
                                                     : "yes";
}

void refuse_contradictions(const CompareMeasuredOptions& options,
                           const std::vector<std::string>& contradictions,
                           MeasuredComparison& comparison) {
  if (options.anyway || contradictions.empty()) {
    comparison.said.insert(comparison.said.end(), contradictions.begin(), contradictions.end());
    return;
  }
  base::Problems problems;
  for (const std::string& contradiction : contradictions) {
    problems.add_text(fmt::format("{}: error: {}\n", comparison.log, contradiction));
  }
  problems.add_text("--set PATH=VALUE changes the scenario; --anyway compares nevertheless\n");
  problems.throw_if_any();
}

int compare_measured(const CompareMeasuredOptions& options) {
  std::vector<MeasuredComparison> comparisons;
  for (const std::string& log : options.logs) {
    for (MeasuredComparison& comparison : compare(options, log)) {
      if (!options.csv.empty() && !comparisons.empty() &&
          comparisons.front().columns != comparison.columns) {
        throw base::InputError(fmt::format("error: --csv: {} and {} do not go into one table\n",
                                           comparisons.front().log, log));
      }
      comparisons.push_back(std::move(comparison));
    }
  }
  bool compared = true;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    compared = compared && comparisons[i].runs && comparisons[i].matches;
    if (options.format == "text") {
      say("{}", i > 0 ? "\n" : "");
      print_text(comparisons[i]);
    }
  }
  if (options.format == "json") {
    print_json(json_of(comparisons));
  }
  if (!options.csv.empty()) {
    write_csv(comparisons, options.csv);
    if (options.format == "text") {
      say("\nCSV     {}\n", options.csv);
    }
  }
  return options.strict && !compared ? kInfeasible : kDone;
}

}  // namespace roofcast::cli
