// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/document/renamed.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/provenance/parts_folder.hpp"
#include "cli/tables/front_rows.hpp"
#include "cli/tables/front_table.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/decide/front.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kTableRows = 40;

struct ParetoOptions {
  std::string results;
  std::vector<std::string> maximize;
  std::vector<std::string> minimize;
  std::vector<std::string> where;
  std::vector<std::string> epsilon;
  std::vector<std::string> reference;
  std::vector<std::string> by;
  std::string against;
  std::string csv;
  bool json = false;
};

struct Question {
  FrontGoal goal;
  std::vector<sim::Tolerance> epsilon;  // one an objective, or none
  std::vector<double> reference;        // of hypervolumes; NaN: the worst of the rows that compete
};

// "COLUMN=TEXT" of an option, as the objective's number and the text.
std::pair<std::size_t, std::string> of_objective(const FrontGoal& goal, const std::string& option,
                                                 const std::string& text) {
  const auto equals = text.find('=');
  const std::string column = text.substr(0, equals);
  const auto at = std::find(goal.objectives.begin(), goal.objectives.end(), column);
  if (equals == std::string::npos || at == goal.objectives.end()) {
    throw base::InputError(fmt::format("error: {} {}: expects COLUMN=VALUE of one of {}\n", option,
                                       text, fmt::join(goal.objectives, ", ")));
  }
  return {static_cast<std::size_t>(at - goal.objectives.begin()), text.substr(equals + 1)};
}

Question question_of(const ParetoOptions& options) {
  if (options.maximize.empty() && options.minimize.empty()) {
    throw base::InputError("error: name at least one column with --maximize or --minimize\n");
  }
  if (!options.by.empty() && !options.against.empty()) {
    throw base::InputError("error: --against compares one front with one; leave out --by\n");
  }
  if (options.json && !options.against.empty()) {
    throw base::InputError("error: --against is text: leave out --json\n");
  }
  Question q;
  FrontGoal& goal = q.goal;
  goal.objectives = options.maximize;
  goal.objectives.insert(goal.objectives.end(), options.minimize.begin(), options.minimize.end());
  for (std::string& objective : goal.objectives) {
    objective =
        sim::find_metric(objective) == nullptr ? objective : base::noted_name({}, objective);
  }
  goal.directions.assign(options.maximize.size(), sim::Direction::maximize);
  goal.directions.resize(goal.objectives.size(), sim::Direction::minimize);
  goal.by = options.by;
  base::Problems problems;
  for (const std::string& text : options.where) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--where", text, {}});
    if (auto condition = sim::parse_comparison(text, {source, {}}, problems, "")) {
      goal.where.push_back(std::move(*condition));
    }
  }
  problems.throw_if_any();
  if (!options.epsilon.empty()) {
    q.epsilon.resize(goal.objectives.size());
  }
  for (const std::string& text : options.epsilon) {
    const auto [objective, amount] = of_objective(goal, "--epsilon", text);
    const auto tolerance = sim::parse_tolerance(amount);
    if (!tolerance) {
      throw base::InputError(fmt::format(
          "error: --epsilon {}: expects a share such as 1%, or an amount in the column's unit\n",
          text));
    }
    q.epsilon[objective] = *tolerance;
  }
  q.reference.assign(goal.objectives.size(), std::nan(""));
  for (const std::string& text : options.reference) {
    const auto [objective, amount] = of_objective(goal, "--reference", text);
    const auto value = base::parse_number(amount);
    if (!value || !std::isfinite(*value)) {
      throw base::InputError(fmt::format("error: --reference {}: expects a number\n", text));
    }
    q.reference[objective] = *value;
  }
  return q;
}

std::string point_text(const FrontGoal& goal, std::span<const double> values) {
  std::string text;
  for (std::size_t j = 0; j < goal.objectives.size(); ++j) {
    text += fmt::format("{}{} {}", j == 0 ? "" : ", ", column_label(goal.objectives[j]),
                        column_value(goal.objectives[j], values[j]));
  }
  return text;
}

// The box that hypervolumes are shares of: from the best of the values to the reference.
sim::Extent box_of(const Question& q, std::span<const double> values) {
  sim::Extent box = sim::extent(values, q.goal.directions);
  for (std::size_t j = 0; j < q.reference.size(); ++j) {
    if (!std::isnan(q.reference[j])) {
      const bool up = q.goal.directions[j] == sim::Direction::maximize;
      if (up ? q.reference[j] >= box.best[j] : q.reference[j] <= box.best[j]) {
        throw base::InputError(fmt::format("error: --reference {}={}: no row is better\n",
                                           q.goal.objectives[j], q.reference[j]));
      }
      box.worst[j] = q.reference[j];
    }
  }
  return box;
}

// Nothing where an exact hypervolume would take too long: many points in many objectives.
std::optional<double> share_of(const Question& q, const sim::Extent& box,
                               std::span<const double> front) {
  const std::size_t d = q.goal.objectives.size();
  const std::size_t most = d <= 3 ? front.size() : d == 4 ? 5000 : d == 5 ? 1000 : 200;
  return front.size() / d > most
             ? std::nullopt
             : std::optional(sim::dominated_share(front, q.goal.directions, box.best, box.worst));
}

std::string share_text(std::optional<double> share) {
  return !share               ? "too many points; --epsilon makes fewer"
         : std::isnan(*share) ? "-"
                              : fmt::format("{:.4g}", *share);
}

// One line for each front: how many rows, its share of the box and its knee.
std::string fronts_table(const Question& q, const FrontRows& rows,
                         const std::vector<std::size_t>& front, const sim::Extent& box) {
  const std::size_t groups = std::max<std::size_t>(rows.names.size(), 1);
  std::vector<std::vector<std::size_t>> members(groups);
  for (const std::size_t row : front) {
    members[rows.groups.empty() ? 0 : rows.groups[row]].push_back(row);
  }
  std::vector<std::string> header = {"points", "hypervolume"};
  for (const std::string& column : q.goal.objectives) {
    header.push_back(fmt::format("knee: {}", column_label(column)));
  }
  if (!q.goal.by.empty()) {
    header.insert(header.begin(), fmt::format("{}", fmt::join(q.goal.by, ", ")));
  }
  TextTable text(header);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::vector<double> values = values_of(rows, members[group]);
    std::vector<std::string> cells = {fmt::format("{}", members[group].size()),
                                      share_text(share_of(q, box, values))};
    const std::size_t knee = sim::knee(values, q.goal.directions);
    for (std::size_t j = 0; j < rows.objectives; ++j) {
      cells.push_back(knee == sim::kNowhere
                          ? "-"
                          : column_value(q.goal.objectives[j], values[knee * rows.objectives + j]));
    }
    if (!q.goal.by.empty()) {
      cells.insert(cells.begin(), rows.names[group]);
    }
    text.add(std::move(cells));
  }
  return text.text();
}

std::string factor_text(double factor) { return fmt::format("x{:.4g}", factor); }

// What moved between the fronts of two files, as text.
std::string moved_text(const Question& q, const std::string& old_name,
                       const std::vector<double>& old_front, const std::vector<double>& new_front,
                       const sim::Extent& box) {
  const sim::FrontMove move = sim::compare_fronts(old_front, new_front, q.goal.directions);
  std::string text = fmt::format("Against {}, {} points on its front\n", old_name,
                                 old_front.size() / q.goal.objectives.size());
  const auto after = share_of(q, box, new_front);
  const auto before = share_of(q, box, old_front);
  text += fmt::format("hypervolume {}, was {}", share_text(after), share_text(before));
  text += after && before && *before > 0.0 ? fmt::format(": {}\n", factor_text(*after / *before))
                                           : "\n";
  const auto print = [&](std::string_view whose, const sim::FrontMove::Outcome& f) {
    text += fmt::format("{} points: {} beaten, {} equalled, {} not reached by the other front\n",
                        whose, f.beaten, f.equalled, f.unmatched);
  };
  print("old", move.old_points);
  print("new", move.new_points);
  TextTable shifts({"at equal others", "old points", "median", "least", "most"});
  for (std::size_t j = 0; j < q.goal.objectives.size(); ++j) {
    const std::vector<double>& factors = move.shifts[j];
    if (!factors.empty()) {
      shifts.add({std::string(column_label(q.goal.objectives[j])),
                  fmt::format("{}", factors.size()), factor_text(factors[factors.size() / 2]),
                  factor_text(factors.front()), factor_text(factors.back())});
    }
  }
  return text + "\n" + shifts.text();
}

void write_ranked(const base::CsvTable& table, const std::string& file) {
  base::CsvWriter csv(std::filesystem::path(file), table.columns());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < table.columns().size(); ++c) {
      // The rank of the sweep's own objectives would be out of place here.
      table.columns()[c] == "pareto_rank" ? csv.append(1) : csv.append(table.cell(row, c));
    }
    csv.end_row();
  }
  csv.close();
}

std::vector<std::size_t> every_row(std::size_t rows) {
  std::vector<std::size_t> all(rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

int run_pareto(const ParetoOptions& options) {
  note_asked();
  const Question q = question_of(options);
  ResultRows results(options.results);
  const FrontRows& rows = results.read(q.goal);
  const std::vector<std::size_t> front = front_of(rows, q.goal.directions);
  std::vector<std::size_t> shown_rows = front;
  if (!options.json) {
    say("{} of {} rows on the front\n", front.size(), rows.size());
  }
  if (!q.epsilon.empty()) {
    std::vector<std::uint32_t> groups;
    for (std::size_t i = 0; i < front.size() && !rows.groups.empty(); ++i) {
      groups.push_back(rows.groups[front[i]]);
    }
    shown_rows.clear();
    for (const std::size_t i :
         sim::epsilon_front(values_of(rows, front), q.goal.directions, q.epsilon, groups)) {
      shown_rows.push_back(front[i]);
    }
    if (!options.json) {
      say("{} of them stand for all within --epsilon\n", shown_rows.size());
    }
  }
  const base::CsvTable table = results.table(shown_rows);
  if (options.json) {
    nlohmann::ordered_json answer = json_answer();
    const sim::ResultTable shown = read_results(table);
    answer["rows"] = rows.size();
    answer["competing"] = rows.competing;
    answer["on_front"] = front.size();
    answer["front"] = front_json(shown, every_row(shown.rows()));
    print_json(answer);
  } else if (!front.empty()) {
    std::vector<double> competing = rows.values;
    FrontRows old_rows;
    std::vector<double> old_front;
    if (!options.against.empty()) {
      ResultRows old_results(options.against);
      old_rows = old_results.read(q.goal);
      old_front = values_of(old_rows, front_of(old_rows, q.goal.directions));
      competing.insert(competing.end(), old_rows.values.begin(), old_rows.values.end());
    }
    const sim::Extent box = box_of(q, competing);
    say("\n{}",
        front_table(read_results(table), every_row(table.rows()), q.goal.objectives, kTableRows));
    say("\n{}", fronts_table(q, rows, shown_rows, box));
    say("hypervolume: share of the box from the best of each, {}, to {}\n",
        point_text(q.goal, box.best), point_text(q.goal, box.worst));
    if (!options.against.empty()) {
      say("\n{}", moved_text(q, options.against, old_front, values_of(rows, front), box));
    }
  }
  if (!options.csv.empty()) {
    write_ranked(table, options.csv);
    if (!options.json) {
      say("\nCSV     {}\n", options.csv);
    }
  }
  return kDone;
}

}  // namespace

void add_pareto(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "pareto",
      "Finds the Pareto front of a result CSV, for any of its columns\n"
      "A row competes if it meets the sweep's constraints and every --where, and has finite "
      "values. The hypervolume "
      "of a front is the share of a box that the front dominates. The box lies between the "
      "best values and a reference; the default reference is the worst values of the rows that "
      "compete. The knee is the point with the least sum of objectives, each scaled from 0 "
      "(best on the front) to 1 (worst).");
  auto options = std::make_shared<ParetoOptions>();
  command
      ->add_option("results", options->results,
                   "a CSV file, which may be compressed (.gz, .zst), or a folder of all parts of a "
                   "sweep, OUT.csv.parts")
      ->type_name(kFile)
      ->required();
  command->add_option("--maximize", options->maximize, "columns that are better when higher")
      ->type_name(kColumn);
  command->add_option("--minimize", options->minimize, "columns that are better when lower")
      ->type_name(kColumn);
  command
      ->add_option("--by", options->by,
                   "find one front for each value of this column, or of several columns")
      ->type_name(kColumn);
  command
      ->add_option("--where", options->where,
                   "use only rows that meet this condition: fits, or a column and a bound such as "
                   "'ttft_p95_s <= 0.5'")
      ->type_name(kCondition)
      ->take_all();
  command
      ->add_option(
          "--epsilon", options->epsilon,
          "show a few points that represent all: none is worse by more than this, COLUMN=1%, or "
          "COLUMN=0.001 in its unit")
      ->type_name(kColumnValue)
      ->take_all();
  command
      ->add_option("--reference", options->reference,
                   "the reference of the hypervolume in this column")
      ->type_name(kColumnValue)
      ->take_all();
  command
      ->add_option("--against", options->against,
                   "an older CSV: shows what moved from its front to this one, and by how much")
      ->type_name(kFile);
  command->add_option("--csv", options->csv, "write the rows of the front to this file")->written();
  command->add_flag("--json", options->json, "print the front as JSON")->group("Output");
  command->footer(examples(
      {"roofcast pareto out.csv --maximize interactivity_tok_per_s_per_user --minimize gpus",
       "roofcast pareto out.csv --minimize ttft_p50_s cost_usd_per_mtok --by system "
       "--csv front.csv",
       "roofcast pareto out.csv --minimize ttft_p50_s cost_usd_per_mtok --where 'tpot_p95_s <= "
       "0.05' --epsilon ttft_p50_s=5% --epsilon cost_usd_per_mtok=2%",
       "roofcast pareto new.csv --against old.csv --minimize tpot_mean_s cost_usd_per_mtok"}));
  command->callback([&chosen, options] { chosen = [options] { return run_pareto(*options); }; });
}

}  // namespace roofcast::cli
