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
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

using calibrate::Agreement;
using calibrate::kBetterHardware;
using calibrate::kLaws;
using calibrate::kRandomKinds;
using calibrate::kWorse;
using calibrate::Law;
using sim::kChecked;

void write_rows(const std::string& file, const std::vector<Agreement>& rows) {
  std::vector<std::string> columns = {"number", "kind"};
  for (const auto& [metric, tolerance] : kChecked) {
    columns.push_back(fmt::format("estimated_{}", metric));
    columns.push_back(fmt::format("simulated_{}", metric));
  }
  const bool betters = !rows.empty() && !rows.front().with_better.empty();
  for (std::size_t i = 0; betters && i < std::size(kBetterHardware); ++i) {
    columns.push_back(fmt::format("lost_{}", kBetterHardware[i]));
    columns.push_back(fmt::format("slower_{}", kBetterHardware[i]));
    columns.push_back(fmt::format("law_{}", kBetterHardware[i]));
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
    for (const calibrate::WithBetter& with : rows[i].with_better) {
      csv.append(with.lost);
      csv.append(with.slower);
      csv.append(kLaws[static_cast<std::size_t>(with.law)]);
    }
    csv.append(rows[i].doubt);
    csv.append(fmt::format("{}", fmt::join(rows[i].impossible, "; ")));
    csv.append(rows[i].reason);
    csv.append(rows[i].yaml);
    csv.end_row();
  }
  csv.close();
}

// What one change of the hardware makes worse.
struct WorseRows {
  std::size_t scenarios = 0;
  std::size_t lost = 0;
  std::size_t slower = 0;
  double most_lost = 0.0;
  double most_slower = 0.0;
  std::size_t laws[std::size(kLaws)] = {};
  std::size_t of(Law law) const { return laws[static_cast<std::size_t>(law)]; }
};
WorseRows worse_rows(const std::vector<Agreement>& rows, std::size_t change) {
  WorseRows worse;
  for (const Agreement& row : rows) {
    if (row.with_better.empty()) {
      continue;
    }
    const calibrate::WithBetter& with = row.with_better[change];
    if (!std::isnan(with.slower)) {
      ++worse.scenarios;
      worse.lost += with.lost > kWorse ? 1U : 0U;
      worse.slower += with.slower > kWorse ? 1U : 0U;
      ++worse.laws[static_cast<std::size_t>(with.law)];
      worse.most_lost = std::max(worse.most_lost, with.lost);
      worse.most_slower = std::max(worse.most_slower, with.slower);
    }
  }
  return worse;
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
  for (std::size_t i = 0; !simulated && i < std::size(kBetterHardware); ++i) {
    const WorseRows worse = worse_rows(rows, i);
    json["better_hardware"][std::string(kBetterHardware[i])] = {
        {"scenarios", worse.scenarios},          {"lost", worse.lost},
        {"most_lost", worse.most_lost},          {"slower", worse.slower},
        {"most_slower", worse.most_slower},      {"sample", worse.of(Law::sample)},
        {"confirmed", worse.of(Law::confirmed)}, {"undecided", worse.of(Law::undecided)},
        {"marked", worse.of(Law::marked)},       {"contradicted", worse.of(Law::contradicted)}};
  }
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
      say("\n# Scenario {} is impossible: {}\n{}", i, fmt::join(rows[i].impossible, "; "),
          rows[i].yaml);
    }
  }
  const auto refused = std::count_if(rows.begin(), rows.end(),
                                     [](const Agreement& row) { return !row.reason.empty(); });
  say("\nestimates: scenarios={} refused={} impossible={}\n", rows.size(), refused, count);
}

std::string worse_table(const std::vector<Agreement>& rows) {
  TextTable table({"better hardware", "scenarios", "serve 1 % less", "most", "1 % slower", "most",
                   "sample", "confirmed", "undecided", "marked", "contradicted"});
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100.0 * share); };
  for (std::size_t i = 0; i < std::size(kBetterHardware); ++i) {
    const WorseRows worse = worse_rows(rows, i);
    table.add(
        {std::string(kBetterHardware[i]), fmt::format("{}", worse.scenarios),
         fmt::format("{}", worse.lost), percent(worse.most_lost), fmt::format("{}", worse.slower),
         percent(worse.most_slower), fmt::format("{}", worse.of(Law::sample)),
         fmt::format("{}", worse.of(Law::confirmed)), fmt::format("{}", worse.of(Law::undecided)),
         fmt::format("{}", worse.of(Law::marked)), fmt::format("{}", worse.of(Law::contradicted))});
  }
  return table.text();
}

std::size_t contradicted(const std::vector<Agreement>& rows) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::size(kBetterHardware); ++i) {
    count += worse_rows(rows, i).of(Law::contradicted);
  }
  return count;
}

// What was simulated, and the scenarios that the simulator contradicts.
void print_worse(const std::vector<Agreement>& rows) {
  constexpr std::size_t kPrinted = 3;
  const auto percent = [](double share) {
    return std::isnan(share) ? "n/a" : fmt::format("{:+.1f} %", 100.0 * share);
  };
  TextTable simulated(
      {"scenario", "better hardware", "slower", "longer sample", "simulated", "error", ""});
  std::string scenarios;
  std::size_t printed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].with_better.size(); ++k) {
      const calibrate::WithBetter& with = rows[i].with_better[k];
      if (std::isnan(with.simulated)) {
        continue;
      }
      simulated.add({fmt::format("{}", i), std::string(kBetterHardware[k]), percent(with.slower),
                     percent(with.longer), percent(with.simulated), percent(with.error),
                     std::string(kLaws[static_cast<std::size_t>(with.law)])});
      if (with.law == Law::contradicted && printed++ < kPrinted) {
        scenarios +=
            fmt::format("\n# Scenario {}, with {}: serves {} less, {} slower\n{}", i,
                        kBetterHardware[k], percent(with.lost), percent(with.slower), rows[i].yaml);
      }
    }
  }
  say("\n{}\n{}{}better hardware: {} estimates are contradicted by the simulator\n",
      worse_table(rows), simulated.text(), scenarios, contradicted(rows));
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
  run.betters = options.check_only;
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
    return contradicted(rows) > 0 ? kInfeasible : kDone;
  }
  if (run.simulates) {
    say("{}", agreement_table(rows));
  }
  print_impossible(rows);
  if (run.betters) {
    print_worse(rows);
  }
  return contradicted(rows) > 0 ? kInfeasible : kDone;
}

}  // namespace roofcast::cli
