// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "calibrate/error_summary.hpp"
#include "calibrate/serving_rows.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"

namespace roofcast::cli {
namespace {

using calibrate::ErrorSummary;
using calibrate::Pair;

struct Options {
  std::string kind;
  std::string data;
  std::string out;
  std::vector<std::string> where;
};

// Predictions of one quantity each, beside what was measured.
struct Errors {
  std::vector<Pair> tpot;
  std::vector<Pair> ttft;
  void add(const calibrate::MeasuredServer& measured, const calibrate::ServerForecast& predicted) {
    tpot.push_back({measured.tpot_ms, predicted.tpot_ms});
    ttft.push_back({measured.ttft_ms, predicted.ttft_ms});
  }
};

// Rows whose cell equals a value.
struct Filter {
  std::size_t column;
  std::string value;
};

std::vector<Filter> filters(const base::CsvTable& table, const std::vector<std::string>& where) {
  std::vector<Filter> result;
  for (const std::string& condition : where) {
    const auto equals = condition.find('=');
    if (equals == std::string::npos) {
      throw base::InputError(fmt::format(
          "error: --where {}: expects COLUMN=VALUE, for example backend=vllm\n", condition));
    }
    result.push_back({table.column(condition.substr(0, equals)), condition.substr(equals + 1)});
  }
  return result;
}

// The input's columns and the forecast's, every row of the input that was asked for.
class ErrorsFile {
 public:
  ErrorsFile(const std::string& file, const base::CsvTable& table) : table_(table) {
    if (file.empty()) {
      return;
    }
    std::vector<std::string> columns = table.columns();
    for (const char* column : {"predicted_tpot_ms", "predicted_ttft_ms", "provenance", "reason"}) {
      columns.emplace_back(column);
    }
    csv_ = std::make_unique<base::CsvWriter>(std::filesystem::path(file), columns);
  }
  void add(std::size_t row, const calibrate::ServerForecast& predicted) {
    if (csv_ == nullptr) {
      return;
    }
    for (std::size_t column = 0; column < table_.columns().size(); ++column) {
      csv_->append(table_.cell(row, column));
    }
    csv_->append(predicted.predicted() ? predicted.tpot_ms : NAN);
    csv_->append(predicted.predicted() ? predicted.ttft_ms : NAN);
    csv_->append(predicted.predicted() ? predicted.provenance : "");
    csv_->append(predicted.explanation);
    csv_->end_row();
  }
  void close() {
    if (csv_ != nullptr) {
      csv_->close();
    }
  }

 private:
  const base::CsvTable& table_;
  std::unique_ptr<base::CsvWriter> csv_;
};

std::vector<std::string> cells(std::vector<std::string> row, const Errors& errors) {
  const ErrorSummary tpot = calibrate::summarise(errors.tpot);
  const ErrorSummary ttft = calibrate::summarise(errors.ttft);
  row.push_back(fmt::format("{}", tpot.rows));
  for (const ErrorSummary& e : {tpot, ttft}) {
    for (const double value : {e.mape, e.median, e.p90, e.bias}) {
      row.push_back(calibrate::percent(value));
    }
  }
  return row;
}

std::vector<std::string> header(std::vector<std::string> first) {
  for (const char* column :
       {"rows", "tpot mape", "median", "p90", "bias", "ttft mape", "median", "p90", "bias"}) {
    first.emplace_back(column);
  }
  return first;
}

int validate_serving(const Options& options) {
  const base::CsvTable table = base::read_csv(options.data);
  const std::vector<Filter> conditions = filters(table, options.where);
  calibrate::ServingRows rows(table);
  ErrorsFile out(options.out, table);
  sim::Workspace workspace;
  Errors all;
  std::map<bool, Errors> by_speculation;
  std::map<std::tuple<std::string, std::string, std::string>, Errors> groups;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t skipped = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!std::all_of(conditions.begin(), conditions.end(),
                     [&](const Filter& f) { return table.cell(row, f.column) == f.value; })) {
      continue;
    }
    const calibrate::MeasuredServer measured = rows.row(row);
    const calibrate::ServerForecast predicted = calibrate::forecast(measured, workspace);
    out.add(row, predicted);
    if (!predicted.predicted()) {
      ++skipped;
      ++skipped_by_reason[predicted.reason];
      continue;
    }
    all.add(measured, predicted);
    by_speculation[measured.may_speculate].add(measured, predicted);
    groups[{measured.model, measured.chip, measured.stack}].add(measured, predicted);
  }
  out.close();

  if (!groups.empty()) {
    TextTable table_of_groups(header({"model", "chip", "stack"}));
    for (const auto& [key, errors] : groups) {
      const auto& [model, chip, stack] = key;
      table_of_groups.add(cells({model, chip, stack}, errors));
    }
    fmt::print("{}\n", table_of_groups.text());
    TextTable parts(header({"rows that"}));
    for (const auto& [speculates, errors] : by_speculation) {
      parts.add(cells({speculates ? "may speculate (mtp-suspect)" : "do not speculate"}, errors));
    }
    fmt::print("{}\n", parts.text());
  }
  if (skipped > 0) {
    TextTable reasons({"not predicted, because", "rows"});
    for (const auto& [reason, count] : skipped_by_reason) {
      reasons.add({reason, fmt::format("{}", count)});
    }
    fmt::print("{}\n", reasons.text());
  }
  fmt::print("{}\n{}\n", calibrate::summary_line("tpot", calibrate::summarise(all.tpot), skipped),
             calibrate::summary_line("ttft", calibrate::summarise(all.ttft), skipped));
  return kDone;
}

}  // namespace

void add_calibrate(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("calibrate", "How well forecasts agree with measurements");
  command->require_subcommand(1);
  auto* validate = command->add_subcommand(
      "validate",
      "Predicts every row of a table of measurements and tells the errors\n"
      "  roofcast calibrate validate serving serving_silicon.csv --out errors.csv\n"
      "  roofcast calibrate validate serving serving_silicon.csv --where backend=vllm");
  auto options = std::make_shared<Options>();
  validate->add_option("kind", options->kind, "what was measured: serving")
      ->required()
      ->check(CLI::IsMember({"serving"}));
  validate->add_option("data", options->data, "the table, .csv or .csv.gz")->required();
  validate->add_option("--out", options->out, "every row with its prediction, as CSV");
  validate->add_option("--where", options->where, "only rows with this text in this column")
      ->type_name("COLUMN=VALUE")
      ->take_all();
  validate->callback(
      [&chosen, options] { chosen = [options] { return validate_serving(*options); }; });
}

}  // namespace roofcast::cli
