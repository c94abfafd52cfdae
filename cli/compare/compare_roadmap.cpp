// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_roadmap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/pages/roadmap_report.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/roadmap_text.hpp"
#include "sim/roadmap/roadmap_result.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kPairs = 5;
constexpr double kWorthSaying = 0.005;  // of the ln of a gain

// What limits an outcome, and where on the workload's axes it is.
std::string why(const sim::Outcome& outcome, const std::string& metric) {
  if (!outcome.found) {
    return outcome.reason;
  }
  std::string text = limit_text(outcome.estimate, metric);
  if (!outcome.place.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", outcome.place);
  }
  return text;
}

void print_options(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  TextTable all({"option", "portfolio", "90 %", "replayed", "tokens/J", "tokens/$", "replay"});
  for (const sim::OptionResult& o : result.options) {
    all.add({o.name, gain_text(o.portfolio.value), interval_text(o.portfolio),
             gain_text(o.replayed), gain_text(o.tok_per_j), gain_text(o.tok_per_usd),
             replay_text(o, result.base)});
  }
  say("{}", all.text());
  for (const std::string& note : price_notes(result)) {
    say("{}\n", note);
  }
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const sim::Metric& metric = *sim::find_metric(roadmap.workloads[w].metric);
    const auto value = [&](const sim::Outcome& outcome) {
      return outcome.found ? display(metric.value(outcome.estimate), metric.unit) : "-";
    };
    say("\n{} (weight {:g})\n", roadmap.workloads[w].name, roadmap.workloads[w].weight);
    TextTable table(
        {"option", std::string(metric.label), "gain", "90 %", "replayed", "replay", "limited by"});
    table.add({"none", value(result.base.outcomes[w]), "", "", "",
               replay_text(result.base.outcomes[w]),
               why(result.base.outcomes[w], roadmap.workloads[w].metric)});
    for (const sim::OptionResult& o : result.options) {
      table.add({o.name, value(o.outcomes[w]), gain_text(o.gains[w].value),
                 interval_text(o.gains[w]), gain_text(o.replayed_gains[w]),
                 replay_text(o.outcomes[w]), why(o.outcomes[w], roadmap.workloads[w].metric)});
    }
    say("{}", table.text());
  }
}

void print_features(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  if (!result.no_features.empty()) {
    say("features cannot be combined: {}\n", result.no_features);
    return;
  }
  TextTable table({"feature", "alone", "on top of all others", "share of the gain of all"});
  std::vector<std::size_t> by_share(result.features.size());
  for (std::size_t i = 0; i < by_share.size(); ++i) {
    by_share[i] = i;
  }
  std::stable_sort(by_share.begin(), by_share.end(), [&](std::size_t a, std::size_t b) {
    return result.features[a].share > result.features[b].share;
  });
  for (const std::size_t i : by_share) {
    const sim::FeatureResult& f = result.features[i];
    table.add({f.name, gain_text(f.alone), gain_text(f.last),
               std::isfinite(f.share) ? fmt::format("{:.1f}%", 100.0 * f.share) : "-"});
  }
  say("{}\n{}\n", table.text(),
      result.funded.empty() ? "no feature gains alone: none is to fund"
                            : fmt::format("fund in this order, {}:", order_text(roadmap.by)));
  for (std::size_t i = 0; i < result.funded.size(); ++i) {
    const sim::FeatureResult& f = result.features[result.order[i]];
    say("  {}. {}: {} together ({}){}\n", i + 1, f.name,
        gain_text(result.funded[i].portfolio.value), replayed_text(result.funded[i], result.base),
        takes_text(roadmap.by, f.takes));
  }
  std::size_t said = 0;
  for (const sim::FeaturePair& pair : result.pairs) {
    if (said < kPairs && std::abs(std::log(pair.gain)) > kWorthSaying) {
      say("{}  {} and {} {}: {}\n",
          said == 0 ? "\npairs that bring more or less than the product of their gains:\n" : "",
          result.features[pair.first].name, result.features[pair.second].name,
          pair.gain > 1.0 ? "help each other" : "do the same work", gain_text(pair.gain));
      ++said;
    }
  }
}

void print_text(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  if (!roadmap.question.empty()) {
    say("{}\n\n", roadmap.question);
  }
  if (!result.options.empty()) {
    print_options(roadmap, result);
  }
  if (!roadmap.features.empty()) {
    say("{}", result.options.empty() ? "" : "\n");
    print_features(roadmap, result);
  }
  std::vector<std::string> notes = portfolio_notes(roadmap, result);
  const std::vector<std::string> of_replays = replay_notes(roadmap, result);
  notes.insert(notes.end(), of_replays.begin(), of_replays.end());
  say("{}{}{}", notes.empty() ? "" : "\n", fmt::join(notes, "\n"), notes.empty() ? "" : "\n");
}

}  // namespace

int compare_roadmap(const base::Node& document, const CompareRoadmapOptions& options) {
  const sim::Roadmap roadmap = sim::read_roadmap(document);
  const sim::RoadmapResult result = [&] {
    sim::ReplayProgress points;
    const Progress progress(points.done, points.total, "points replayed", false);
    return sim::run_roadmap(roadmap, {0, !options.no_replay, nullptr, &points});
  }();
  if (options.json) {
    print_json(roadmap_json(roadmap, result));
  } else {
    print_text(roadmap, result);
  }
  if (!options.csv.empty()) {
    write_roadmap_csv(roadmap, result, options.csv);
  }
  if (!options.report.empty()) {
    write_report(roadmap, result, base::to_yaml(document), options.report);
  }
  const auto runs_all = [](const sim::OptionResult& o) {
    return std::all_of(o.outcomes.begin(), o.outcomes.end(),
                       [](const sim::Outcome& outcome) { return outcome.found; });
  };
  const bool infeasible = !result.no_features.empty() || !runs_all(result.base) ||
                          !std::all_of(result.options.begin(), result.options.end(), runs_all);
  return options.strict && infeasible ? kInfeasible : kDone;
}

}  // namespace roofcast::cli
