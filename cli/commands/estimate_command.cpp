// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/document/text_file.hpp"
#include "cli/answers/estimate_warnings.hpp"
#include "cli/answers/speculated.hpp"
#include "cli/catalog/larger_systems.hpp"
#include "cli/check/numerics_text.hpp"
#include "cli/pages/pipeline_chart.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/question/manifest_options.hpp"
#include "cli/question/scenario_options.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/explain.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/training_text.hpp"
#include "sim/class_attainment.hpp"
#include "sim/confirm/believed.hpp"
#include "sim/confirm/doubt.hpp"
#include "sim/confirm/full_iterations.hpp"
#include "sim/confirm/verdict.hpp"
#include "sim/estimate.hpp"
#include "sim/numerics/numerics.hpp"
#include "sim/recommend/training_mappings.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/training/training.hpp"

namespace roofcast::cli {
namespace {

constexpr double kMostTokens = 2e7;  // of the answers of a replay; less than half a second

struct EstimateOptions {
  ScenarioOptions said;
  ManifestFile manifest;
  std::string format = "text";
  bool explain = false;
  bool before = false;
  std::string timeline;
  bool strict = false;
  bool no_replay = false;
  std::string as_if_unmeasured;
};

std::string bound_of(const sim::ServingEstimate& e, std::string_view metric) {
  // Of all replicas it says what that of one GPU says.
  return metric == "throughput_tok_per_s" ? std::string() : limit_text(e, metric);
}

// Of each metric that something limits: what, and the shares of its time.
nlohmann::ordered_json limits_json(const sim::ServingEstimate& e) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const char* metric :
       {"ttft_mean_s", "tpot_mean_s", "throughput_tok_per_s_per_gpu", "step_s"}) {
    const sim::Limited limited = e.fits() ? sim::limited(e, metric) : sim::Limited{};
    if (!limited.by.empty()) {
      nlohmann::ordered_json shares = nlohmann::ordered_json::object();
      for (const models::Share& share : limited.shares) {
        shares[std::string(models::name(share.cause))] = share.share;
      }
      json[metric] = {{"by", limited.by}, {"shares", std::move(shares)}};
    }
  }
  return json;
}

// One replay of the scenario, for the values that it has of its own.
sim::Replayed replay(const EstimateOptions& options, const sim::StreamedScenario& s,
                     const sim::ServingEstimate& e) {
  if (options.no_replay) {
    sim::Replayed none;
    none.why_not = "--no-replay";
    return none;
  }
  sim::ReplayPlan plan;
  plan.most_tokens = kMostTokens;
  for (const sim::CheckedMetric& compared : sim::kChecked) {
    plan.targets.push_back(sim::find_metric(compared.name));
  }
  sim::ReplaySpace space;
  return sim::replay(sim::view(s.scenario), s.stream, e, plan, space);
}

// Attainment by class, as JSON has it.
nlohmann::ordered_json classes_json(const sim::ScenarioView& s, const sim::ServingEstimate& e,
                                    const std::vector<double>& shares) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < shares.size() && sim::has_classes(s); ++i) {
    const workloads::RequestClass& each = s.traffic->classes[i];
    json.push_back({{"name", each.name},
                    {"priority", each.priority},
                    {"attainment", shares[i]},
                    {"goodput", shares[i] * each.share * e.steady.requests_per_second}});
  }
  return json;
}

// Of each class: attainment and goodput, estimated and replayed. Empty without classes.
std::string classes_text(const sim::ScenarioView& s, const sim::ServingEstimate& e,
                         const sim::Replayed& replayed) {
  if (!sim::has_classes(s)) {
    return {};
  }
  sim::Workspace workspace;
  const std::vector<double> estimated = sim::class_attainment(s, workspace);
  TextTable table({"class", "attainment", "goodput", replayed.done() ? "replayed" : ""});
  const workloads::RequestClasses& classes = s.traffic->classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const double share = estimated.empty() ? std::nan("") : estimated[i];
    table.add({classes[i].name, display(share, ""),
               display(share * classes[i].share * e.steady.requests_per_second, "1/s"),
               replayed.done() ? display(replayed.class_attainment[i], "") : std::string()});
  }
  const std::string_view gap = sim::class_gap(s);
  return fmt::format("\n{}{}", table.text(),
                     gap.empty() ? "" : fmt::format("No estimate by class: {}\n", gap));
}

void print_replay(const sim::ServingEstimate& e, std::string_view doubt,
                  const sim::Replayed& replayed) {
  if (!replayed.done()) {
    say("Estimated only, not replayed: {}\n", replayed.why_not);
    if (!doubt.empty()) {
      say("The estimate may be far off: {}\n", doubt);
    }
    return;
  }
  if (!replayed.is_steady()) {
    say("Replayed in the simulator: {}\n", replayed.not_steady());
    return;
  }
  std::string off;
  for (const sim::Disagreement& d : sim::disagreements(e, replayed)) {
    off += fmt::format("{}{} is {:.3g} times the estimate", off.empty() ? "" : ", ",
                       d.metric->label, d.ratio);
  }
  std::string unsure;
  for (const sim::Disagreement& d : sim::undecided(e, replayed)) {
    unsure += fmt::format("{}{} is {:.3g} times the estimate, with a standard error of {:.2g} %",
                          unsure.empty() ? "" : "; ", d.metric->label, d.ratio, 100.0 * d.error);
  }
  say("Replayed in the simulator: {} requests, {}\n",
      display(static_cast<double>(replayed.requests), ""),
      !off.empty()
          ? fmt::format("where {}. Take the replayed values; the intervals are around them", off)
      : unsure.empty() ? "which agree with the estimate"
                       : "too few to tell whether they agree with the estimate");
  if (!unsure.empty()) {
    say("Not sure: {}\n", unsure);
  }
  if (off.empty() && !unsure.empty() && !doubt.empty()) {
    say("The estimate may be far off: {}\n", doubt);
  }
}

// "42 to 43.1 ms": the unit of both stands once.
std::string interval_text(std::string low, const std::string& high) {
  const auto unit = high.find(' ');
  if (unit != std::string::npos && low.ends_with(high.substr(unit))) {
    low.resize(low.size() - (high.size() - unit));
  }
  return fmt::format("{} to {}", low, high);
}

// The scenario without what --set changes, and its estimate.
struct Before {
  sim::Scenario scenario;
  sim::ServingEstimate estimate;

  std::string cell(const sim::Metric& metric, const std::string& unit) const {
    return display(estimate.fits() ? metric.value(estimate) : std::nan(""), unit);
  }
  // "-11.3 %"
  std::string change(const sim::Metric& metric, const sim::ServingEstimate& now) const {
    const double ratio =
        estimate.fits() ? metric.value(now) / metric.value(estimate) : std::nan("");
    return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100.0 * (ratio - 1.0)) : std::string();
  }
};

std::unique_ptr<Before> before(const EstimateOptions& options) {
  if (!options.before) {
    return nullptr;
  }
  if (options.said.set.empty()) {
    throw base::InputError("error: --before shows what --set changes: give one\n");
  }
  ScenarioOptions said = options.said;
  said.set.clear();
  said.save.clear();
  said.notes = false;
  base::Node document = described_scenario(said, "estimate");
  set_as_if_unmeasured(document, options.as_if_unmeasured);
  auto unchanged = std::make_unique<Before>();
  unchanged->scenario = sim::read_streamed_scenario(document).scenario;
  sim::Workspace workspace;
  unchanged->estimate = sim::estimate(sim::view(unchanged->scenario), workspace);
  return unchanged;
}

void print_text(const sim::Scenario& s, const sim::ServingEstimate& e,
                const sim::Replayed& replayed, const Before* unchanged) {
  say("{}{}\n{}\n\n", title(s),
      s.serving.replicas > 1 ? fmt::format(" · {} replicas", s.serving.replicas) : "",
      load_text(s));
  if (!e.fits()) {
    const std::string systems = larger_systems(s, e);
    say("does not run: {}{}{}\n", sim::reason(e), systems.empty() ? "" : "; ", systems);
    return;
  }
  std::vector<std::string> header = {"metric", "estimate", replayed.done() ? "replayed" : "",
                                     "90 % interval", "limited by"};
  if (unchanged != nullptr) {
    header.insert(header.begin() + 2, "change");
    header.insert(header.begin() + 1, "without --set");
  }
  TextTable table(header);
  const bool prompted = !s.training.trains() || s.post_training.enabled();
  const bool disagrees = !sim::disagreements(e, replayed).empty();
  for (const sim::Metric& metric : sim::metrics()) {
    const auto words = [&](std::string_view text) {
      return prompted ? std::string(text) : without_prompts(text);
    };
    const std::string unit = words(metric.unit);
    const bool unknown =
        (metric.of_answers || metric.of_agents || metric.of_prices || metric.of_objectives ||
         metric.of_arrivals || s.training.trains() || metric.of_training) &&
        std::isnan(metric.value(e));
    const bool at_full_clocks = metric.of_clocks && !(metric.value(e) < 1.0);
    if (metric.bounds.empty() && !unknown && !metric.of_causes && !at_full_clocks) {
      const auto [low, high] = sim::believed_interval(metric, e, replayed, disagrees);
      std::vector<std::string> cells = {
          words(metric.label), display(metric.value(e), unit),
          replayed.done() && sim::is_simulated(metric)
              ? display(metric.value(replayed.estimate), unit)
              : std::string(),
          std::isnan(low) ? std::string() : interval_text(display(low, unit), display(high, unit)),
          bound_of(e, metric.name)};
      if (unchanged != nullptr) {
        cells.insert(cells.begin() + 2, unchanged->change(metric, e));
        cells.insert(cells.begin() + 1, unchanged->cell(metric, unit));
      }
      table.add(std::move(cells));
    }
  }
  if (unchanged != nullptr && !unchanged->estimate.fits()) {
    say("Without --set it does not run: {}\n\n", sim::reason(unchanged->estimate));
  }
  say("{}{}{}{}\nParameters: {} ({})\n", table.text(), classes_text(sim::view(s), e, replayed),
      training_text(s, e), cost_text(s, e), s.platform.system.calibration.name,
      hardware::provenance_text(e.provenance, s.platform.system.calibration));
  if (!s.training.trains()) {
    print_replay(e, sim::doubt_of(sim::view(s), e), replayed);
  }
  for (const std::string& warning : warnings_of(s, e)) {
    say("warning: {}\n", warning);
  }
  if (const std::string_view gap = sim::reason(e.score.gap); !gap.empty()) {
    say("No score: {}\n", gap);
  }
}

nlohmann::ordered_json json_of(const sim::Scenario& s, const sim::ServingEstimate& e) {
  nlohmann::ordered_json json = json_answer();
  json["units"] = metric_units();
  json["scenario"] = title(s);
  json["load"] = load_text(s);
  json["fits"] = e.fits();
  json["reason"] = sim::reason(e);
  for (const sim::Metric& metric : sim::metrics()) {
    json[std::string(metric.name)] = e.fits() ? metric.value(e) : NAN;  // null where not finite
  }
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.of_parents && e.parent_figures == nullptr) {
      continue;
    }
    json[std::string(text.name)] = e.fits() ? std::string(text.value(e)) : std::string();
  }
  json["limited_by"] = limits_json(e);
  json["full_iterations"] = sim::full_iterations(sim::view(s), e);
  json["beyond_context"] = e.beyond_context;
  return json;
}

nlohmann::ordered_json json_of(const sim::ServingEstimate& e, std::string_view doubt,
                               const sim::Replayed& replayed) {
  if (!replayed.done()) {
    return {{"why_not", replayed.why_not}, {"doubt", std::string(doubt)}};
  }
  nlohmann::ordered_json json = {{"requests", replayed.requests},
                                 {"disagrees", nlohmann::ordered_json::array()},
                                 {"not_steady", replayed.not_steady()}};
  for (const sim::Disagreement& d : sim::disagreements(e, replayed)) {
    json["disagrees"].push_back(std::string(d.metric->name));
  }
  for (const sim::Metric& metric : sim::metrics()) {
    if (metric.bounds.empty() && sim::is_simulated(metric)) {
      json[std::string(metric.name)] = metric.value(replayed.estimate);
    }
  }
  return json;
}

// The ends of the intervals, as the text has them.
void add_believed(const sim::ServingEstimate& e, const sim::Replayed& replayed,
                  nlohmann::ordered_json& json) {
  const bool disagrees = !sim::disagreements(e, replayed).empty();
  for (const sim::Metric& bound : sim::metrics()) {
    if (!bound.bounds.empty()) {
      const auto [low, high] =
          sim::believed_interval(*sim::find_metric(bound.bounds), e, replayed, disagrees);
      json[std::string(bound.name)] = bound.name.starts_with("low") ? low : high;
    }
  }
}

void print_csv(const sim::ScenarioView& s, const sim::ServingEstimate& e) {
  std::vector<std::string> columns = {"fits", "reason"};
  add_metric_columns(columns, e.parent_figures != nullptr);
  sim::Workspace workspace;
  const nlohmann::ordered_json classes =
      classes_json(s, e, e.fits() ? sim::class_attainment(s, workspace) : std::vector<double>());
  for (const auto& each : classes) {
    columns.push_back("attainment_" + each["name"].get<std::string>());
    columns.push_back("goodput_" + each["name"].get<std::string>());
  }
  base::CsvWriter csv(std::cout, columns);
  csv.append(e.fits() ? "true" : "false");
  csv.append(sim::reason(e));
  append_metrics(csv, e, e.parent_figures != nullptr);
  for (const auto& each : classes) {
    csv.append(each["attainment"].get<double>());
    csv.append(each["goodput"].get<double>());
  }
  csv.end_row();
  csv.close();
}

// Of an optimizer step with pipeline stages.
std::optional<sim::PipelineTimeline> timeline_of(const sim::ScenarioView& view,
                                                 const sim::ServingEstimate& e) {
  return view.training == nullptr || view.post_training != nullptr
             ? std::nullopt
             : sim::pipeline_of(view, e.workflow->training, sim::micro_batches(view).count);
}

void draw_timeline(const EstimateOptions& options, const sim::ScenarioView& view,
                   const sim::ServingEstimate& e) {
  const auto timeline = timeline_of(view, e);
  if (!timeline) {
    throw base::InputError(
        "error: --timeline: the scenario has no pipeline of an optimizer step that can be drawn: "
        "it needs two stages; interleaved chunks need micro-batches in multiples of the stages, "
        "dualpipe an even number of them and two a stage\n");
  }
  base::write_text(options.timeline,
                   pipeline_svg(*timeline, fmt::format("{} on {}, {}", view.model->name,
                                                       view.platform->system.name,
                                                       sim::mapping_name(*view.mapping))));
}

int run_estimate(const EstimateOptions& options) {
  check(options.manifest);
  if (options.before && options.format == "csv") {
    throw base::InputError("error: --before is of text and JSON: leave out --format csv\n");
  }
  base::Node document = described_scenario(options.said, "estimate");
  set_as_if_unmeasured(document, options.as_if_unmeasured);
  note_question("scenario", document);
  const sim::StreamedScenario streamed = sim::read_streamed_scenario(document);
  const sim::Scenario& scenario = streamed.scenario;
  sim::Workspace workspace;
  const sim::ScenarioView view = sim::view(scenario);
  sim::ServingEstimate e = sim::estimate(view, workspace);
  sim::tell_causes(view, e);
  const std::unique_ptr<Before> unchanged = before(options);
  if (options.format == "json") {
    nlohmann::ordered_json json = json_of(scenario, e);
    if (e.fits() && !scenario.training.trains()) {
      const sim::Replayed replayed = replay(options, streamed, e);
      json["replay"] = json_of(e, sim::doubt_of(view, e), replayed);
      add_believed(e, replayed, json);
      if (sim::has_classes(view)) {
        json["classes"] = classes_json(view, e, sim::class_attainment(view, workspace));
        json["no_classes"] = std::string(sim::class_gap(view));
        if (replayed.done()) {
          json["replay"]["classes"] =
              classes_json(view, replayed.estimate, replayed.class_attainment);
        }
      }
    }
    add_speculation(view, e, json);
    if (unchanged) {
      nlohmann::ordered_json& was = json["before"] =
          json_of(unchanged->scenario, unchanged->estimate);
      was.erase("roofcast");
      was.erase("units");
    }
    if (options.explain && e.fits()) {
      json["iterations"] = explain_json(view, e);
    }
    print_json(json);
  } else if (options.format == "csv") {
    options.explain&& e.fits() ? print_operators_csv(view, e) : print_csv(view, e);
  } else {
    print_text(scenario, e, replay(options, streamed, e), unchanged.get());
    if (e.fits()) {
      say("{}", std::isnan(e.economics.usd_per_second) ? "" : price_text(document));
      say("{}", numerics_note(sim::numerics(view)));
    }
    if (const auto gain = speculation(view, e)) {
      say("{}", speculation_text(scenario.serving.speculation, *gain));
    }
    if (options.explain && e.fits()) {
      say("{}", explain_text(view, e));
      if (const auto timeline = timeline_of(view, e)) {
        say("{}", pipeline_text(*timeline));
      }
    }
  }
  if (!options.timeline.empty() && e.fits()) {
    draw_timeline(options, view, e);
  }
  if (e.fits()) {
    write_manifest(options.manifest, scenario, "estimate");
  }
  return options.strict && !e.fits() ? kInfeasible : kDone;
}

}  // namespace

void add_estimate(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "estimate",
      "Forecasts one scenario: latency, throughput, memory, cost and their limits\n"
      "A knob is a dotted path into the scenario and into what it names. A value replaces the "
      "figure; x1.5 multiplies it. Completion in the shell knows the paths (`roofcast "
      "completion`). A scenario file is not needed: the options say a scenario, or what differs "
      "from the file.");
  auto options = std::make_shared<EstimateOptions>();
  add_scenario_file(*command, options->said);
  add_scenario_options(*command, options->said, Lists::no);
  add_set_and_save(*command, options->said, "write the scenario to this file");
  command->add_format(options->format, {"text", "json", "csv"});
  command
      ->add_flag(
          "--explain", options->explain,
          "also print the time of each operator, with FLOP, bytes, arithmetic intensity and bound")
      ->group("Output");
  command
      ->add_flag("--before", options->before,
                 "also print each figure without what --set changes, and the change")
      ->group("Output");
  command
      ->add_option("--timeline", options->timeline,
                   "draw the pipeline of a training step to this file, as SVG")
      ->written();
  add_manifest_options(*command, options->manifest);
  command->add_flag("--no-replay", options->no_replay,
                    "replay nothing: every value is estimated only");
  command
      ->add_option("--as-if-unmeasured", options->as_if_unmeasured,
                   "forecast as if the chip, or its whole architecture, had never been measured")
      ->one_of({"chip", "architecture"});
  command->add_flag("--strict", options->strict, "exit with 3 if the scenario does not fit");
  command->footer(examples(
      {"roofcast estimate --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 2000 --output 500 --clients 64",
       "roofcast show example llama-70b > mine.yaml", "roofcast estimate mine.yaml --explain",
       "roofcast estimate mine.yaml --set deployment.tensor_parallel=4 --format json",
       "roofcast estimate mine.yaml --set system=hgx_b200 --set system.chip.hbm.bandwidth=x1.5 "
       "--before"}));
  command->callback([&chosen, options] { chosen = [options] { return run_estimate(*options); }; });
}

}  // namespace roofcast::cli
