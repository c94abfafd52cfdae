// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/statistics/quantile.hpp"
#include "calibrate/servers/serving_rows.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/validate/peer_comparison.hpp"
#include "cli/validate/validate_speculation.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

// Predictions of one quantity each, beside what was measured.
struct ServingErrors {
  std::vector<calibrate::Pair> tpot;
  std::vector<calibrate::Pair> ttft;
  void add(const calibrate::MeasuredServer& measured, const calibrate::ServerForecast& predicted) {
    if (!measured.one_token()) {
      tpot.push_back(pair(measured.tpot_ms, predicted.tpot_ms, predicted.tpot_spread));
    }
    ttft.push_back(pair(measured.ttft_ms, predicted.ttft_ms, predicted.ttft_spread));
  }

 private:
  static calibrate::Pair pair(double measured, double predicted, models::Spread spread) {
    return {measured, predicted, predicted * (1.0 - spread.below),
            predicted * (1.0 + spread.above)};
  }
};

constexpr calibrate::Pair kNoPair{NAN, NAN};
constexpr std::size_t kFewest = 20;  // rows from which quantiles of 5 % mean something

// The errors of each stack with one pool (false) and with two.
using StackErrors = std::map<std::string, std::map<bool, ServingErrors>>;

void print_errors(const ServingErrors& errors, std::string_view indent) {
  for (const auto& [metric, pairs] : {std::pair{"ttft", &errors.ttft}, {"tpot", &errors.tpot}}) {
    std::vector<double> ratios;
    for (const calibrate::Pair& pair : *pairs) {
      ratios.push_back(pair.measured / pair.predicted);
    }
    say("{}{}: {{rows: {}, median: {:.3f}, low: {:.3f}, high: {:.3f}}}\n", indent, metric,
        pairs->size(), calibrate::summarise(*pairs).median,
        std::min(1.0, base::next_quantile(ratios, 0.05)),
        std::max(1.0, base::next_quantile(ratios, 0.95)));
  }
}

// What the stacks' files say of their errors: from the configurations that are not held back.
void print_stack_errors(const StackErrors& by_stack) {
  for (const auto& [stack, errors] : by_stack) {
    say("\nerrors:  # {}\n", stack);
    for (const auto& [two_pools, of] : errors) {
      if (of.tpot.size() >= kFewest) {
        say("{}", two_pools ? "  two_pools:\n" : "");
        print_errors(of, two_pools ? "    " : "  ");
      }
    }
  }
}

std::vector<std::string> cells(std::vector<std::string> row, const ServingErrors& errors) {
  row.push_back(fmt::format("{}", errors.ttft.size()));
  for (const auto* pairs : {&errors.tpot, &errors.ttft}) {
    for (std::string& cell : error_cells(calibrate::summarise(*pairs))) {
      row.push_back(std::move(cell));
    }
  }
  return row;
}

std::vector<std::string> header(std::vector<std::string> first) {
  for (const char* column : {"rows", "tpot mape", "median", "p90", "bias", "in 90%", "ttft mape",
                             "median", "p90", "bias", "in 90%"}) {
    first.emplace_back(column);
  }
  return first;
}

nlohmann::ordered_json json_of(const ServingErrors& errors) {
  return {{"tpot", error_json(calibrate::summarise(errors.tpot))},
          {"ttft", error_json(calibrate::summarise(errors.ttft))}};
}

}  // namespace

int validate_serving(const ValidationOptions& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const RowFilter filter(table, options.where);
  calibrate::ServingRows rows(table, options.calibration, options.unmeasured());
  ErrorsFile out(options.out, table,
                 {"predicted_tpot_ms", "low90_tpot_ms", "high90_tpot_ms", "predicted_ttft_ms",
                  "low90_ttft_ms", "high90_ttft_ms"});
  PeerComparison peer(options.against, {"id"}, {"predicted_ttft_ms", "predicted_tpot_ms"});
  const std::size_t id = options.against.empty() ? 0 : table.column("id");
  sim::Workspace workspace;
  ServingErrors all;
  std::map<std::string_view, ServingErrors> parts;
  StackErrors given_by_stack;
  std::map<std::tuple<std::string, std::string, std::string>, ServingErrors> groups;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  SpeculationErrors speculation;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!filter.keeps(row)) {
      continue;
    }
    const calibrate::MeasuredServer measured = rows.row(row);
    const calibrate::ServerForecast predicted = calibrate::forecast(measured, workspace);
    peer.add({std::string(table.cell(row, id))},
             {{measured.ttft_ms, predicted.ttft_ms}, {measured.tpot_ms, predicted.tpot_ms}},
             predicted.reason);
    if (!predicted.predicted()) {
      out.add(row, std::vector<double>(6, NAN), "", predicted.explanation);
      ++skipped;
      ++skipped_by_reason[predicted.reason];
      continue;
    }
    all.add(measured, predicted);
    const calibrate::Pair tpot = measured.one_token() ? kNoPair : all.tpot.back();
    const calibrate::Pair& ttft = all.ttft.back();
    out.add(row, {tpot.predicted, tpot.low, tpot.high, ttft.predicted, ttft.low, ttft.high},
            predicted.provenance, "");
    if (measured.pools) {
      parts[measured.may_speculate                  ? "are disaggregated and may speculate"
            : measured.serving.speculation.drafts() ? "are disaggregated and speculate"
                                                    : "are disaggregated, do not speculate"]
          .add(measured, predicted);
      for (const auto& [listed, part] :
           {std::pair{measured.listed_workers, "have listed workers (published_runs)"},
            {measured.listed_speculation, "are told by the list to speculate or not"}}) {
        if (listed) {
          parts[part].add(measured, predicted);
        }
      }
      groups[{measured.model, measured.chip, measured.stack + ", two pools"}].add(measured,
                                                                                  predicted);
      if (!measured.may_speculate) {
        parts[measured.held_back ? "are disaggregated and held back"
                                 : "are disaggregated, set the intervals"]
            .add(measured, predicted);
        if (!measured.held_back) {
          given_by_stack[measured.stack][true].add(measured, predicted);
        }
      }
      continue;
    }
    if (measured.may_speculate) {
      speculation.add(measured, predicted, workspace);
    }
    parts["are aggregated"].add(measured, predicted);
    parts[measured.may_speculate                  ? "may speculate (mtp-suspect)"
          : measured.serving.speculation.drafts() ? "speculate"
                                                  : "do not speculate"]
        .add(measured, predicted);
    parts[measured.began_cold  ? "began cold, do not set the intervals"
          : measured.held_back ? "are held back, do not set the intervals"
                               : "set the intervals"]
        .add(measured, predicted);
    if (!measured.held_back && !measured.began_cold) {
      given_by_stack[measured.stack][false].add(measured, predicted);
    }
    groups[{measured.model, measured.chip, measured.stack}].add(measured, predicted);
  }
  out.close();
  if (options.json != nullptr) {
    nlohmann::ordered_json& json = *options.json;
    json["all"] = json_of(all);
    json["not_predicted"] = skipped_by_reason;
    for (const auto& [key, errors] : groups) {
      const auto& [model, chip, stack] = key;
      json["groups"].push_back(
          {{"model", model}, {"chip", chip}, {"stack", stack}, {"errors", json_of(errors)}});
    }
    for (const auto& [part, errors] : parts) {
      json["rows_that"][std::string(part)] = json_of(errors);
    }
    json["against"] = peer.text();
    return kDone;
  }

  if (!groups.empty()) {
    TextTable table_of_groups(header({"model", "chip", "stack"}));
    for (const auto& [key, errors] : groups) {
      const auto& [model, chip, stack] = key;
      table_of_groups.add(cells({model, chip, stack}, errors));
    }
    say("{}\n", table_of_groups.text());
    TextTable table_of_parts(header({"rows that"}));
    for (const auto& [part, errors] : parts) {
      table_of_parts.add(cells({std::string(part)}, errors));
    }
    say("{}\n", table_of_parts.text());
    say("{}", speculation.text());
    print_stack_errors(given_by_stack);
  }
  say("{}{}", skipped_table(skipped_by_reason), peer.text());
  say("{}\n{}\n", calibrate::summary_line("tpot", calibrate::summarise(all.tpot), skipped),
      calibrate::summary_line("ttft", calibrate::summarise(all.ttft), skipped));
  return kDone;
}

}  // namespace roofcast::cli
