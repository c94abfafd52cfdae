// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "sim/result/condition.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

// What a metric needs in the scenario; empty if it needs nothing.
std::string_view needs(const sim::Metric& metric) {
  return metric.of_answers      ? "the section accuracy"
         : metric.of_run        ? "the section run"
         : metric.of_training   ? "the section training"
         : metric.of_agents     ? "traffic.agents"
         : metric.of_objectives ? "traffic.objectives"
         : metric.of_arrivals   ? "traffic.arrivals"
         : metric.of_prices     ? "the section prices, or a price of the system"
                                : "";
}

// Label and text of each line, in the order of printing.
std::vector<std::pair<std::string, std::string>> facts(const sim::Metric& metric) {
  std::string interval;
  for (const sim::Metric& bound : sim::metrics()) {
    if (bound.bounds == metric.name) {
      interval += fmt::format("{}{}", interval.empty() ? "" : ", ", bound.name);
    }
  }
  return {{"name", std::string(metric.name)},
          {"label", std::string(metric.label)},
          {"meaning", std::string(metric.description)},
          {"unit", std::string(metric.unit.empty() ? "none: a number or a share" : metric.unit)},
          {"formula", std::string(metric.formula)},
          {"better", std::string(sim::name(metric.better))},
          {"needs", std::string(needs(metric))},
          {"interval", interval},
          {"end of", std::string(metric.bounds)},
          {"right for", std::string(metric.validity)}};
}

std::vector<std::pair<std::string, std::string>> facts_of(const std::string& name) {
  for (const sim::TextMetric& text : sim::text_metrics()) {
    if (text.name == name) {
      return {{"name", name},
              {"label", std::string(text.label)},
              {"meaning", std::string(text.description)}};
    }
  }
  const sim::Metric* metric = sim::find_metric(name);
  if (metric == nullptr) {
    metric = sim::find_metric(sim::with_unit(name));
  }
  if (metric == nullptr) {
    throw base::InputError(fmt::format("error: {}\n", sim::unknown_metric(name)));
  }
  return facts(*metric);
}

}  // namespace

void add_explain(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "explain",
      "Explains a metric: formula, unit, and where it is right\n"
      "`roofcast list metrics` names all. The start of a name is enough where only one metric "
      "has it: ttft_p95. Kernels have a command of their own, `roofcast "
      "kernel`, and `roofcast estimate --explain` shows the operators of a scenario.");
  auto metrics = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  command->add_option("metric", *metrics, "names of metrics")->type_name(kMetric)->required();
  command->add_json(*json);
  command->footer(examples(
      {"roofcast explain cost_usd_per_mtok", "roofcast explain ttft_mean_s tpot_mean_s --json"}));
  command->callback([&chosen, metrics, json] {
    chosen = [metrics, json] {
      nlohmann::ordered_json answer = json_answer();
      for (const std::string& name : *metrics) {
        const auto lines = facts_of(name);
        TextTable table({lines.front().second, ""});
        nlohmann::ordered_json object;
        for (const auto& [what, text] : lines) {
          if (!text.empty()) {
            std::string key = what;
            std::replace(key.begin(), key.end(), ' ', '_');
            object[key] = text;
          }
          if (!text.empty() && what != "name") {
            table.add({"  " + what, text});
          }
        }
        answer["metrics"].push_back(std::move(object));
        if (!*json) {
          say("{}{}", name == metrics->front() ? "" : "\n", table.text());
        }
      }
      if (*json) {
        print_json(answer);
      }
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
