// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "calibrate/accuracy/agreement.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

using calibrate::Agreement;
using calibrate::kRandomKinds;
using sim::kChecked;

void write_rows(const std::string& file, const std::vector<Agreement>& rows) {
  std::vector<std::string> columns = {"number", "kind"};
  for (const auto& [metric, tolerance] : kChecked) {
    columns.push_back(fmt::format("estimated_{}", metric));
    columns.push_back(fmt::format("simulated_{}", metric));
  }
  columns.insert(columns.end(), {"doubt", "impossible", "reason", "scenario"});
  base::CsvWriter csv(std::filesystem::path(file), columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    csv.append(i);
    csv.append(kRandomKinds[rows[i].kind].name);
    for (std::size_t metric = 0; metric < kChecked.size(); ++metric) {
      csv.append(rows[i].estimated[metric]);
      csv.append(rows[i].simulated[metric]);
    }
    csv.append(rows[i].doubt);
    csv.append(fmt::format("{}", fmt::join(rows[i].impossible, "; ")));
    csv.append(rows[i].reason);
    csv.append(rows[i].yaml);
    csv.end_row();
  }
  csv.close();
}

nlohmann::ordered_json json_of(const std::vector<Agreement>& rows, bool simulated) {
  nlohmann::ordered_json json = {{"scenarios", rows.size()}, {"refused", 0}};
  std::size_t refused = 0;
  json["impossible"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    refused += rows[i].reason.empty() ? 0U : 1U;
    if (!rows[i].impossible.empty()) {
      json["impossible"].push_back(
          {{"number", i}, {"why", rows[i].impossible}, {"scenario", rows[i].yaml}});
    }
  }
  json["refused"] = refused;
  for (std::size_t metric = 0; simulated && metric < kChecked.size(); ++metric) {
    const calibrate::AgreementSummary s = calibrate::summarise(rows, metric);
    json["metrics"][std::string(kChecked[metric].name)] = {
        {"tolerance", kChecked[metric].tolerance},
        {"simulated", s.scenarios},
        {"agree_share", s.share},
        {"error_median", s.median},
        {"error_p10", s.low},
        {"error_p90", s.high},
        {"off_by_2", s.far},
        {"unmarked", s.unmarked},
        {"marked", s.doubted}};
  }
  return json;
}

std::string agreement_table(const std::vector<Agreement>& rows) {
  TextTable table({"metric", "within", "scenarios", "n", "agree", "median error", "10 %", "90 %",
                   "off by 2", "unmarked", "marked"});
  const auto percent = [](double share, int digits) {
    return std::isnan(share) ? "-" : fmt::format("{:.{}f} %", 100.0 * share, digits);
  };
  for (std::size_t metric = 0; metric < kChecked.size(); ++metric) {
    const auto add = [&](std::string_view name, std::optional<std::size_t> kind) {
      const calibrate::AgreementSummary s = calibrate::summarise(rows, metric, kind);
      if (s.scenarios == 0) {
        return;
      }
      table.add({std::string(kChecked[metric].name), percent(kChecked[metric].tolerance, 0),
                 std::string(name), fmt::format("{}", s.scenarios), percent(s.share, 0),
                 percent(s.median, 1), percent(s.low, 1), percent(s.high, 1),
                 fmt::format("{}", s.far), fmt::format("{}", s.unmarked),
                 fmt::format("{}", s.doubted)});
    };
    for (std::size_t kind = 0; kind < std::size(kRandomKinds); ++kind) {
      add(kRandomKinds[kind].name, kind);
    }
    add("all", {});
  }
  return table.text();
}

void print_impossible(const std::vector<Agreement>& rows) {
  constexpr std::size_t kPrinted = 5;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].impossible.empty() && ++count <= kPrinted) {
      fmt::print("\n# Scenario {} is impossible: {}\n{}", i, fmt::join(rows[i].impossible, "; "),
                 rows[i].yaml);
    }
  }
  const auto refused = std::count_if(rows.begin(), rows.end(),
                                     [](const Agreement& row) { return !row.reason.empty(); });
  fmt::print("\nestimates: scenarios={} refused={} impossible={}\n", rows.size(), refused, count);
}

}  // namespace

int validate_simulation(const ValidationOptions& options) {
  calibrate::AgreementRun run;
  if (options.seed) {
    run.seed = *options.seed;
  }
  if (options.scenarios) {
    run.scenarios = *options.scenarios;
  }
  run.threads = options.threads;
  run.simulates = !options.check_only;
  std::atomic<std::size_t> done = 0;
  const std::atomic<std::size_t> total = run.scenarios;
  const std::vector<Agreement> rows = [&] {
    const Progress progress(done, total, "scenarios", false);
    return calibrate::agreements(run, &done);
  }();
  if (!options.out.empty()) {
    write_rows(options.out, rows);
  }
  if (options.json != nullptr) {
    *options.json = json_of(rows, run.simulates);
    return kDone;
  }
  if (run.simulates) {
    fmt::print("{}", agreement_table(rows));
  }
  print_impossible(rows);
  return kDone;
}

}  // namespace roofcast::cli
