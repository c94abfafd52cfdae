// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_roadmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.hpp"
#include "cli/commands.hpp"
#include "cli/metric_cells.hpp"
#include "cli/roadmap_report.hpp"
#include "cli/text_table.hpp"
#include "sim/roadmap.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kPairs = 5;
constexpr double kWorthSaying = 0.005;  // of the ln of a gain

// What limits an outcome, and where on the workload's axes it is.
std::string why(const sim::Outcome& outcome, const std::string& metric) {
  if (!outcome.found) {
    return outcome.reason;
  }
  std::string text(limit_of(outcome.estimate, metric));
  if (!outcome.place.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", outcome.place);
  }
  return text;
}

void print_options(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  TextTable all({"option", "portfolio", "90 %", "tokens/J", "tokens/$"});
  for (const sim::OptionResult& o : result.options) {
    all.add({o.name, gain_text(o.portfolio.value), interval_text(o.portfolio),
             gain_text(o.tok_per_j), gain_text(o.tok_per_usd)});
  }
  fmt::print("{}", all.text());
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const sim::Metric& metric = *sim::find_metric(roadmap.workloads[w].metric);
    const auto value = [&](const sim::Outcome& outcome) {
      return outcome.found ? display(metric.value(outcome.estimate), metric.unit) : "-";
    };
    fmt::print("\n{} (weight {:g})\n", roadmap.workloads[w].name, roadmap.workloads[w].weight);
    TextTable table({"option", std::string(metric.label), "gain", "90 %", "limited by"});
    table.add({"none", value(result.base.outcomes[w]), "", "",
               why(result.base.outcomes[w], roadmap.workloads[w].metric)});
    for (const sim::OptionResult& o : result.options) {
      table.add({o.name, value(o.outcomes[w]), gain_text(o.gains[w].value),
                 interval_text(o.gains[w]), why(o.outcomes[w], roadmap.workloads[w].metric)});
    }
    fmt::print("{}", table.text());
  }
}

void print_features(const sim::RoadmapResult& result) {
  if (!result.no_features.empty()) {
    fmt::print("features cannot be combined: {}\n", result.no_features);
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
  fmt::print("{}\nfund in this order, each the best next one:\n", table.text());
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    fmt::print("  {}. {}: {} together\n", i + 1, result.features[result.order[i]].name,
               gain_text(result.together[i]));
  }
  std::size_t said = 0;
  for (const sim::FeaturePair& pair : result.pairs) {
    if (said < kPairs && std::abs(std::log(pair.gain)) > kWorthSaying) {
      fmt::print(
          "{}  {} and {} {}: {}\n",
          said == 0 ? "\npairs that bring more or less than the product of their gains:\n" : "",
          result.features[pair.first].name, result.features[pair.second].name,
          pair.gain > 1.0 ? "help each other" : "do the same work", gain_text(pair.gain));
      ++said;
    }
  }
}

}  // namespace

std::string gain_text(double gain) { return std::isnan(gain) ? "-" : fmt::format("x{:.3g}", gain); }

std::string interval_text(const sim::Gain& gain) {
  return std::isnan(gain.interval.low)
             ? "-"
             : fmt::format("x{:.3g} to x{:.3g}", gain.interval.low, gain.interval.high);
}

std::string gain_text(const sim::Gain& gain) {
  return std::isnan(gain.interval.low)
             ? gain_text(gain.value)
             : fmt::format("{} ({})", gain_text(gain.value), interval_text(gain));
}

void write_roadmap_csv(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                       const std::string& file) {
  base::CsvWriter csv(
      std::filesystem::path(file),
      {"part", "name", "workload", "metric", "value", "gain", "low90_gain", "high90_gain",
       "tok_per_j_gain", "tok_per_usd_gain", "gain_on_top", "share_of_gain", "place_in_order",
       "gain_in_order", "limited_by", "at", "reason"});
  const auto option = [&](const sim::OptionResult& o, const char* part) {
    for (std::size_t w = 0; w <= roadmap.workloads.size(); ++w) {
      const bool all = w == roadmap.workloads.size();
      const sim::Metric* metric = all ? nullptr : sim::find_metric(roadmap.workloads[w].metric);
      const sim::Outcome* outcome = all ? nullptr : &o.outcomes[w];
      const sim::Gain& gain = all ? o.portfolio : o.gains[w];
      const bool found = !all && outcome->found;
      csv.append(part);
      csv.append(o.name);
      csv.append(all ? std::string_view("portfolio") : roadmap.workloads[w].name);
      csv.append(all ? std::string_view() : metric->name);
      csv.append(found ? metric->value(outcome->estimate) : std::nan(""));
      csv.append(gain.value);
      csv.append(gain.interval.low);
      csv.append(gain.interval.high);
      csv.append(all ? o.tok_per_j : std::nan(""));
      csv.append(all ? o.tok_per_usd : std::nan(""));
      for (int empty = 0; empty < 4; ++empty) {
        csv.append("");
      }
      csv.append(found ? limit_of(outcome->estimate, metric->name) : std::string_view());
      csv.append(all ? std::string_view() : outcome->place);
      csv.append(all ? std::string_view() : outcome->reason);
      csv.end_row();
    }
  };
  option(result.base, "base");
  for (const sim::OptionResult& o : result.options) {
    option(o, "option");
  }
  for (std::size_t i = 0; i < result.features.size(); ++i) {
    const sim::FeatureResult& f = result.features[i];
    const auto place = std::find(result.order.begin(), result.order.end(), i);
    csv.append("feature");
    csv.append(f.name);
    csv.append("portfolio");
    csv.append("");
    csv.append("");
    csv.append(f.alone);
    for (int empty = 0; empty < 4; ++empty) {
      csv.append("");
    }
    csv.append(f.last);
    csv.append(f.share);
    csv.append(place - result.order.begin() + 1);
    csv.append(result.together[static_cast<std::size_t>(place - result.order.begin())]);
    csv.append("");
    csv.append("");
    csv.append("");
    csv.end_row();
  }
  if (!result.no_features.empty()) {
    csv.append("features");
    for (int empty = 0; empty < 15; ++empty) {
      csv.append("");
    }
    csv.append(result.no_features);
    csv.end_row();
  }
  csv.close();
}

int compare_roadmap(const base::Node& document, const std::string& csv, const std::string& report,
                    bool strict) {
  const sim::Roadmap roadmap = sim::read_roadmap(document);
  const sim::RoadmapResult result = sim::run_roadmap(roadmap);
  if (!roadmap.question.empty()) {
    fmt::print("{}\n\n", roadmap.question);
  }
  if (!result.options.empty()) {
    print_options(roadmap, result);
  }
  if (!roadmap.features.empty()) {
    fmt::print("{}", result.options.empty() ? "" : "\n");
    print_features(result);
  }
  if (!csv.empty()) {
    write_roadmap_csv(roadmap, result, csv);
  }
  if (!report.empty()) {
    write_report(roadmap, result, base::to_yaml(document), report);
  }
  bool infeasible = !result.no_features.empty();
  for (const sim::OptionResult& o : result.options) {
    infeasible = infeasible || std::isnan(o.portfolio.value);
  }
  return strict && infeasible ? kInfeasible : kDone;
}

}  // namespace roofcast::cli
