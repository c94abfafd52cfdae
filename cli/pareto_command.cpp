// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/csv.hpp"
#include "cli/commands.hpp"
#include "cli/front_table.hpp"
#include "cli/usage.hpp"
#include "sim/pareto.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kTableRows = 40;

struct Options {
  std::string results;
  std::vector<std::string> maximize;
  std::vector<std::string> minimize;
  std::string by;
  std::string csv;
};

void write_rows(const base::CsvTable& table, const std::vector<std::size_t>& rows,
                const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file), table.columns());
  for (const std::size_t row : rows) {
    for (std::size_t c = 0; c < table.columns().size(); ++c) {
      // The rank of the sweep's own objectives would be out of place here.
      table.columns()[c] == "pareto_rank" ? csv.append(1) : csv.append(table.cell(row, c));
    }
    csv.end_row();
  }
  csv.close();
}

int run_pareto(const Options& options) {
  if (options.maximize.empty() && options.minimize.empty()) {
    throw base::InputError("error: name at least one column with --maximize or --minimize\n");
  }
  const base::CsvTable table = base::read_csv(options.results);
  std::vector<std::string> objectives = options.maximize;
  objectives.insert(objectives.end(), options.minimize.begin(), options.minimize.end());
  std::vector<sim::Direction> directions(options.maximize.size(), sim::Direction::maximize);
  directions.resize(objectives.size(), sim::Direction::minimize);
  std::vector<std::size_t> columns;
  for (const std::string& name : objectives) {
    columns.push_back(table.column(name));
  }
  const auto meets = table.find_column("meets");
  std::vector<double> values;
  values.reserve(table.rows() * columns.size());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const bool counts = !meets || table.cell(row, *meets) == "true";
    for (const std::size_t column : columns) {
      values.push_back(counts ? base::parse_number(table.cell(row, column)).value_or(NAN) : NAN);
    }
  }
  std::vector<std::uint32_t> groups;
  if (!options.by.empty()) {
    const std::size_t by = table.column(options.by);
    std::map<std::string_view, std::uint32_t> ids;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      groups.push_back(ids.try_emplace(table.cell(row, by), static_cast<std::uint32_t>(ids.size()))
                           .first->second);
    }
  }
  const auto ranks = sim::pareto_rank(values, directions, {.groups = groups, .max_rank = 1});
  std::vector<std::size_t> front;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (ranks[row] == 1) {
      front.push_back(row);
    }
  }
  fmt::print("{} of {} rows on the front\n", front.size(), table.rows());
  if (!front.empty()) {
    fmt::print("\n{}", front_table(table, front, objectives, kTableRows));
  }
  if (!options.csv.empty()) {
    write_rows(table, front, options.csv);
    fmt::print("\nCSV     {}\n", options.csv);
  }
  return kDone;
}

}  // namespace

void add_pareto(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("pareto",
                                     "The Pareto front of a result CSV for any of its columns\n"
                                     "Only rows that meet the sweep's constraints compete.");
  auto options = std::make_shared<Options>();
  command->add_option("results", options->results, "a CSV, also .gz")->type_name(kFile)->required();
  command->add_option("--maximize", options->maximize, "columns that are better when higher")
      ->type_name(kColumn);
  command->add_option("--minimize", options->minimize, "columns that are better when lower")
      ->type_name(kColumn);
  command->add_option("--by", options->by, "one front for each value of this column")
      ->type_name(kColumn);
  command->add_option("--csv", options->csv, "where the front's rows go")
      ->type_name(kFile)
      ->group("Output");
  command->footer(examples(
      {"roofcast pareto out.csv --maximize interactivity_tok_per_s_per_user --minimize gpus",
       "roofcast pareto out.csv --minimize ttft_p50_s cost_usd_per_mtok --by system "
       "--csv front.csv"}));
  command->callback([&chosen, options] { chosen = [options] { return run_pareto(*options); }; });
}

}  // namespace roofcast::cli
