// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/pages/report.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/cluster/scaling.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

struct ScaleOptions {
  std::string scenario;
  std::string gpus;
  std::vector<std::string> set;
  bool strong = false;
  std::string csv;
  std::string report;
  std::string format = "text";
  bool strict = false;
};

std::int64_t count_of(const std::string& text) {
  const double value = base::parse_number(text).value_or(0.0);
  if (!(value >= 1.0) || value > sim::kMostScaledGpus || value != std::floor(value)) {
    throw base::InputError(
        fmt::format("error: --gpus: \"{}\" is no whole number from 1 to {}; give a range A..B, "
                    "which doubles from A, or a list A,B,C\n",
                    text, sim::kMostScaledGpus));
  }
  return std::llround(value);
}

std::vector<std::int64_t> counts_of(const ScaleOptions& options, const base::Node& document) {
  if (options.gpus.empty()) {
    return sim::doubled_gpus(document);
  }
  std::vector<std::int64_t> counts;
  if (const auto dots = options.gpus.find(".."); dots != std::string::npos) {
    const std::int64_t last = count_of(options.gpus.substr(dots + 2));
    for (std::int64_t gpus = count_of(options.gpus.substr(0, dots)); gpus <= last; gpus *= 2) {
      counts.push_back(gpus);
    }
  } else {
    for (std::size_t from = 0; from <= options.gpus.size();) {
      const std::size_t to = std::min(options.gpus.find(',', from), options.gpus.size());
      counts.push_back(count_of(options.gpus.substr(from, to - from)));
      from = to + 1;
    }
  }
  if (counts.empty()) {
    throw base::InputError("error: --gpus: the range is upside down\n");
  }
  return counts;
}

// What is told of a count of GPUs: a metric, or what scaling adds to those.
struct Column {
  const char* name;
  const char* label;
  double (*added)(const sim::ScaledStep&) = nullptr;

  double value(const sim::ScaledStep& s) const {
    if (added != nullptr) {
      return added(s);
    }
    return s.estimate.fits() ? sim::find_metric(name)->value(s.estimate) : std::nan("");
  }
  std::string_view unit() const {
    return added != nullptr ? std::string_view() : sim::find_metric(name)->unit;
  }
};

// The first ones are those that a narrow terminal shows.
constexpr Column kColumns[] = {
    {"step_s", "step"},
    {"efficiency", "efficiency", [](const sim::ScaledStep& s) { return s.efficiency; }},
    {"run_efficiency", "with failures", [](const sim::ScaledStep& s) { return s.run_efficiency; }},
    {"run_s", "run"},
    {"run_usd", "cost of the run"},
    {"between_failures_s", "between failures"},
    {"interruptions", "interruptions"},
    {"effective_training_time", "effective time"},
    {"exposed_share", "exposed", [](const sim::ScaledStep& s) { return s.exposed; }},
    {"bubble_share", "bubble"},
    {"jitter_share", "slowest rank", [](const sim::ScaledStep& s) { return s.jitter; }},
    {"mfu", "MFU"},
    {"throughput_tok_per_s", "throughput"},
    {"run_p95_s", "run p95"},
};

// Of the share that is left in the end: with failures where there is a run.
std::string bar(const sim::ScaledStep& s) {
  const double left = std::isnan(s.run_efficiency) ? s.efficiency : s.run_efficiency;
  return std::isnan(left) ? std::string()
                          : std::string(static_cast<std::size_t>(std::lround(20.0 * left)), '#');
}

std::string text_of(const std::vector<sim::ScaledStep>& steps, const ScaleOptions& options,
                    const std::string& scenario_title) {
  std::vector<const Column*> shown;
  for (const Column& column : kColumns) {
    if (std::any_of(steps.begin(), steps.end(),
                    [&](const auto& s) { return std::isfinite(column.value(s)); })) {
      shown.push_back(&column);
    }
  }
  std::vector<std::string> header = {"GPUs", "of the first"};
  for (const Column* column : shown) {
    header.emplace_back(column->label);
  }
  TextTable table(header);
  std::string reasons;
  for (const sim::ScaledStep& s : steps) {
    std::vector<std::string> row = {display(static_cast<double>(s.gpus), ""), bar(s)};
    for (const Column* column : shown) {
      row.push_back(display(column->value(s), column->unit()));
    }
    table.add(row);
    if (!s.estimate.fits()) {
      reasons += fmt::format("{} GPUs: {}\n", row.front(), sim::reason(s.estimate));
    }
  }
  return fmt::format("{}\n{} scaling: {}\n\n{}{}", scenario_title,
                     options.strong ? "Strong" : "Weak",
                     options.strong ? "the global batch stays"
                                    : "the global batch grows with the data-parallel ranks",
                     table.text(), reasons.empty() ? reasons : "\ndoes not run:\n" + reasons);
}

// What is assumed of counts of GPUs beyond those of the system.
std::string beyond_text(const std::vector<sim::ScaledStep>& steps, const hardware::System& system) {
  return steps.back().gpus <= system.chips
             ? std::string()
             : fmt::format(
                   "({} describes {} GPUs; more are taken to have the same fabric, without "
                   "another tier of switches)\n",
                   system.name, display(static_cast<double>(system.chips), ""));
}

nlohmann::ordered_json json_of(const std::vector<sim::ScaledStep>& steps,
                               const ScaleOptions& options, const sim::Scenario& scenario) {
  nlohmann::ordered_json json = {{"scenario", title(scenario)}};
  json["described_gpus"] = scenario.platform.system.chips;
  json["scaling"] = options.strong ? "strong" : "weak";
  json["steps"] = nlohmann::ordered_json::array();
  for (const sim::ScaledStep& s : steps) {
    nlohmann::ordered_json row = {{"gpus", s.gpus}, {"fits", s.estimate.fits()}};
    for (const Column& column : kColumns) {
      if (const double value = column.value(s); std::isfinite(value)) {
        row[column.name] = value;
      }
    }
    if (!s.estimate.fits()) {
      row["reason"] = sim::reason(s.estimate);
    }
    json["steps"].push_back(row);
  }
  return json;
}

void write_csv(const std::vector<sim::ScaledStep>& steps, const std::string& file) {
  std::vector<std::string> names = {"gpus"};
  for (const Column& column : kColumns) {
    names.emplace_back(column.name);
  }
  names.emplace_back("reason");
  base::CsvWriter csv(std::filesystem::path(file), names);
  for (const sim::ScaledStep& s : steps) {
    csv.append(s.gpus);
    for (const Column& column : kColumns) {
      csv.append(column.value(s));
    }
    csv.append(s.estimate.fits() ? std::string() : sim::reason(s.estimate));
    csv.end_row();
  }
  csv.close();
}

// What scaling loses in the steps, in the run, and to what.
std::vector<ReportCurves> curves_of(const std::vector<sim::ScaledStep>& steps) {
  std::vector<double> gpus;
  for (const sim::ScaledStep& s : steps) {
    gpus.push_back(static_cast<double>(s.gpus));
  }
  std::vector<ReportCurves> all;
  const auto add = [&](std::string heading, std::string caption, std::string y, bool is_share,
                       const std::vector<std::string_view>& columns) {
    ReportCurves curves{std::move(heading), std::move(caption), "GPUs", gpus,
                        std::move(y),       is_share,           true,   {}};
    for (const std::string_view name : columns) {
      const Column& column = *std::find_if(std::begin(kColumns), std::end(kColumns),
                                           [&](const Column& c) { return name == c.name; });
      ReportCurves::Line line{column.label, {}};
      for (const sim::ScaledStep& s : steps) {
        line.values.push_back(column.value(s));
      }
      if (std::any_of(line.values.begin(), line.values.end(),
                      [](double value) { return std::isfinite(value); })) {
        curves.lines.push_back(std::move(line));
      }
    }
    if (!curves.lines.empty()) {
      all.push_back(std::move(curves));
    }
  };
  add("Efficiency",
      "Throughput of a GPU over that on the first count that runs; with failures: what the run "
      "keeps of it.",
      "Share of the first", true, {"efficiency", "run_efficiency", "effective_training_time"});
  add("What a step waits for",
      "Shares of a step: exposed gradients and parameters, the bubble of the pipeline, and the "
      "slowest rank where the scenario has training.jitter.",
      "Share of the step", true, {"exposed_share", "bubble_share", "jitter_share"});
  add("Failures", "Unplanned stops of the whole run.", "Interruptions", false, {"interruptions"});
  return all;
}

// The counts as the bundles of a sweep, whose report has the charts.
void write_page(const std::vector<sim::ScaledStep>& steps, const base::Node& document,
                const ScaleOptions& options) {
  base::Node sweep;
  sweep["question"] =
      base::scalar_node(fmt::format("{} scaling to {} GPUs: what do more of them bring?",
                                    options.strong ? "Strong" : "Weak",
                                    display(static_cast<double>(steps.back().gpus), "")),
                        document.place);
  sweep["base"] = document;
  base::Node& bundles = sweep["axes"]["scale"];
  for (const sim::ScaledStep& s : steps) {
    base::Node& bundle = bundles[fmt::format("{} GPUs", s.gpus)];
    for (const char* path :
         {"system.chips", "deployment.data_parallel", "training.global_batch", "run.spare_hosts"}) {
      if (const base::Node* value = s.document.find_path(path)) {
        bundle[path] = *value;
      }
    }
  }
  const auto goal = [&](const char* way, const char* metric) {
    base::Node& list = sweep["pareto"][way];
    list.kind = base::Node::Kind::sequence;
    list.items.push_back(base::scalar_node(metric, document.place));
  };
  const bool has_run = std::any_of(steps.begin(), steps.end(),
                                   [](const auto& s) { return std::isfinite(s.run_efficiency); });
  goal(has_run ? "minimize" : "maximize", has_run ? "run_s" : "throughput_tok_per_s");
  goal(has_run ? "minimize" : "maximize", has_run ? "run_usd" : "throughput_tok_per_s_per_gpu");
  const sim::SweepPoints points(sim::read_sweep(sweep));
  write_report(sim::run_sweep(points, 1), &points, sweep_text(sweep, points.sweep()),
               options.report, curves_of(steps));
}

int run_scale(const ScaleOptions& options) {
  const base::Node document = scenario_document(options.scenario, options.set);
  note_question("scenario", document);
  const std::vector<sim::ScaledStep> steps =
      sim::scaled_steps(document, counts_of(options, document),
                        options.strong ? sim::Scaling::strong : sim::Scaling::weak);
  if (!options.csv.empty()) {
    write_csv(steps, options.csv);
  }
  if (!options.report.empty()) {
    write_page(steps, document, options);
  }
  const sim::Scenario scenario = sim::read_scenario(document);
  const hardware::System& system = scenario.platform.system;
  if (options.format == "json") {
    nlohmann::ordered_json json = json_of(steps, options, scenario);
    add_parents(sim::view(scenario), json);
    print_json(json);
  } else {
    say("{}{}{}", text_of(steps, options, title(scenario)), beyond_text(steps, system),
        parents_text(sim::view(scenario)));
  }
  const bool all =
      std::all_of(steps.begin(), steps.end(), [](const auto& s) { return s.estimate.fits(); });
  return options.strict && !all ? kInfeasible : kDone;
}

}  // namespace

void add_scale(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "scale",
      "Scales a training step and its run to more GPUs: efficiency, failures, days\n"
      "Data-parallel ranks are added; tensor, context, pipeline and expert parallelism stay. Weak "
      "scaling: the global batch grows with the ranks. Strong scaling: it stays. Spare hosts of a "
      "run grow with the GPUs. Efficiency is throughput per GPU over that of the first count that "
      "runs, with failures times the effective training time.");
  auto options = std::make_shared<ScaleOptions>();
  command->add_option("scenario", options->scenario, "the YAML file of a scenario that trains")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--gpus", options->gpus,
                   "counts of GPUs: a range A..B, which doubles from A, or a list A,B,C; default: "
                   "from those of the scenario to 131072")
      ->type_name(kText);
  command->add_flag("--strong", options->strong, "keep the global batch");
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_option("--csv", options->csv, "also write rows as CSV")->written();
  command->add_option("--report", options->report, "write a self-contained HTML report")->written();
  command->add_format(options->format, {"text", "json"});
  command->add_flag("--strict", options->strict, "exit with 3 if a count does not run");
  command->footer(examples({"roofcast show example llama-405b_run > run.yaml",
                            "roofcast scale run.yaml --report scaling.html",
                            "roofcast scale run.yaml --strong --gpus 2048..32768 --csv strong.csv",
                            "roofcast scale run.yaml --gpus 4096,16384 --set "
                            "run.failures.per_thousand_gpu_days.gpu=x0.5"}));
  command->callback([&chosen, options] { chosen = [options] { return run_scale(*options); }; });
}

}  // namespace roofcast::cli
