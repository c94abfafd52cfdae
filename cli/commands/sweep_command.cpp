// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>

#include "base/document/output_file.hpp"
#include "base/document/text_file.hpp"
#include "cli/pages/report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/front_table.hpp"
#include "cli/tables/result_csv.hpp"
#include "sim/confirm/replayed_rows.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kTableRows = 24;

struct Options {
  std::string sweep;
  std::string csv;
  std::string report;
  unsigned threads = 0;
  bool simulate = false;
  bool no_replay = false;
  bool quiet = false;
  std::string as_if_unmeasured;
};

// What the replays found, in a sentence or two.
std::string replay_text(const sim::ReplayedRows& r, bool all) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const char* what, const std::string& note) {
    if (count > 0) {
      parts.push_back(
          fmt::format("{} {}{}", count, what, note.empty() ? "" : fmt::format(" ({})", note)));
    }
  };
  add(r.confirmed, "confirmed", "");
  add(r.broken, all ? "broken" : "broken and left out", r.broken_note);
  add(r.estimated, "estimated only", r.estimated_note);
  return parts.empty() ? ""
                       : fmt::format("{}: {}\n", all ? "replayed" : "recommended rows, replayed",
                                     fmt::join(parts, ", "));
}

int run_sweep_command(const Options& options) {
  base::Node document = base::load_document(options.sweep);
  if (document.find("axes") == nullptr && document.find("traffic") != nullptr) {
    throw base::InputError(
        fmt::format("error: {0} is one scenario: roofcast estimate {0}\n", options.sweep));
  }
  // An axis of one value: it is set after an axis that chooses the system.
  if (base::Node* axes = document.find("axes");
      axes != nullptr && !options.as_if_unmeasured.empty()) {
    base::Node& values = (*axes)["system.as_if_unmeasured"];
    values.kind = base::Node::Kind::sequence;
    values.place = axes->place;
    values.items = {base::scalar_node(options.as_if_unmeasured, axes->place)};
  }
  const sim::SweepPoints points(sim::read_sweep(document));
  const sim::Sweep& sweep = points.sweep();
  // Opened before the sweep runs: a path that cannot be written is reported before the work, not after it.
  if (options.simulate && options.no_replay) {
    throw base::InputError("error: --simulate or --no-replay, not both\n");
  }
  std::vector<std::string> columns = sim::result_columns(sweep);
  for (std::string& column : sim::replay_columns(points, !options.no_replay)) {
    columns.push_back(std::move(column));
  }
  base::CsvWriter csv(std::filesystem::path(options.csv), columns);
  base::check_output(sweep_file_beside(options.csv));
  std::atomic<std::size_t> done{0};
  const std::atomic<std::size_t> total{points.size()};
  const auto start = std::chrono::steady_clock::now();
  sim::ResultTable table = [&] {
    const Progress progress(done, total, "points", options.quiet);
    return sim::run_sweep(points, options.threads, &done);
  }();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!options.simulate) {
    sim::refuse_without_value(points, table);
  }
  const sim::ReplayedRows replayed = [&] {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", options.quiet);
    const sim::ReplayedRowsOptions how{options.threads, !options.no_replay, nullptr, &rows};
    return options.simulate ? sim::replay_all(points, table, how)
                            : sim::replay_recommended(points, table, how);
  }();
  if (options.simulate) {
    sim::refuse_without_value(points, table);
  }
  const std::chrono::duration<double> with_replays = std::chrono::steady_clock::now() - start;
  write_results(table, options.threads, csv);
  const std::string text = sweep_text(document, sweep);
  base::write_text(sweep_file_beside(options.csv), text);
  const sim::ResultColumn& rank = table.column("pareto_rank");
  const sim::ResultColumn& reason = table.column("reason");
  std::vector<std::size_t> front;
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (table.is_on_front(i)) {
      front.push_back(i);
    } else if (table.meets(i) && rank.is_empty(i)) {
      left_out.push_back(i);
    }
  }
  if (!sweep.question.empty()) {
    fmt::print("{}\n\n", sweep.question);
  }
  fmt::print("{} points, {} meet every constraint, {} on the Pareto front\n", points.size(),
             table.meeting(), front.size());
  fmt::print("{}", replay_text(replayed, options.simulate));
  if (!left_out.empty()) {
    fmt::print("{} of those that do are left out of the front; the first is {}\n", left_out.size(),
               reason.text(left_out.front()));
  }
  std::vector<std::string> objectives = sweep.pareto.maximize;
  objectives.insert(objectives.end(), sweep.pareto.minimize.begin(), sweep.pareto.minimize.end());
  if (front.empty()) {
    fmt::print("No point meets every constraint; the first row says: {}\n", reason.text(0));
  } else {
    fmt::print("\n{}", front_table(table, front, objectives, kTableRows));
    if (front.size() > kTableRows) {
      fmt::print("({} of {} shown, spread over the front)\n", kTableRows, front.size());
    }
    std::vector<std::string> axes;
    std::size_t groups = 1;
    for (const std::size_t axis : sweep.group_axes()) {
      axes.push_back(sweep.axes[axis].name);
      groups *= sweep.axes[axis].values.size();
    }
    if (groups > 1 && groups <= kTableRows) {
      fmt::print("\n{}", best_table(table, axes, objectives));
    }
  }
  fmt::print("\nCSV     {}\n", options.csv);
  if (!options.report.empty()) {
    write_report(table, &points, text, options.report);
    fmt::print("Report  {}\n", options.report);
  }
  if (!options.quiet) {
    fmt::print(stderr, "{} points in {:.2f} s, {} replays in {:.2f} s\n", points.size(),
               elapsed.count(), replayed.confirmed + replayed.broken,
               with_replays.count() - elapsed.count());
  }
  return kDone;
}

}  // namespace

void add_sweep(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "sweep",
      "Forecasts every combination of the axes of a sweep: CSV, front, report\n"
      "A sweep has a base scenario, axes over any of its figures, constraints and objectives. "
      "The rows that it recommends, those of the front and the best of each group, are replayed "
      "in the simulator. A row that misses a constraint there is broken: it is left out, and the "
      "next is tried. "
      "OUT.sweep.yaml is written beside OUT.csv: the sweep, with its base included.");
  auto options = std::make_shared<Options>();
  command->add_option("sweep", options->sweep, "the YAML file of the sweep")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--csv", options->csv,
                   "write the rows to this file; compressed if it ends in .gz")
      ->type_name(kFile)
      ->group("Output")
      ->required();
  command->add_option("--report", options->report, "write a self-contained HTML report")
      ->type_name(kFile)
      ->group("Output");
  command->add_flag("--simulate", options->simulate,
                    "replay every row that fits; its metrics are the simulated ones");
  command->add_flag("--no-replay", options->no_replay, "replay nothing: rows are estimated only");
  command
      ->add_option(
          "--as-if-unmeasured", options->as_if_unmeasured,
          "forecast as if the chips, or their whole architectures, had never been measured")
      ->one_of({"chip", "architecture"});
  command->add_flag("--quiet", options->quiet, "print no progress and no timing")->group("Output");
  command->add_option("--threads", options->threads, "number of threads; 0: all cores")
      ->type_name(kNumber)
      ->capture_default_str();
  command->footer(examples({"roofcast show example llama-70b > llama-70b.yaml",
                            "roofcast show example llama70b_h200_hbm > hbm.yaml",
                            "roofcast sweep hbm.yaml --csv hbm.csv --report hbm.html",
                            "roofcast sweep hbm.yaml --csv hbm.csv.gz --threads 1 --quiet"}));
  command->callback(
      [&chosen, options] { chosen = [options] { return run_sweep_command(*options); }; });
}

}  // namespace roofcast::cli
