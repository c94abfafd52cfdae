// SPDX-License-Identifier: Apache-2.0
#include "cli/recommend/training_search_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/csv/csv.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "sim/result/metrics.hpp"
#include "sim/result/training_step.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;
using sim::TrainedRow;
using sim::TrainingSearch;

constexpr std::size_t kShown = 10;
constexpr const char* kShownMetrics[] = {"step_s", "mfu", "memory_b_per_gpu", "bubble_share"};

double value_of(const TrainedRow& row, std::string_view metric) {
  return sim::find_metric(metric)->value(row.estimate);
}

// What of a step the passes of the micro-batches are not, or wait for; the largest part.
std::string largest_loss(const sim::TrainingStep& t, const sim::TrainingChoice& choice) {
  const double count =
      (t.passes - t.alone) / (t.forward + t.backward + t.sends);  // with the trainer's slowdown
  const std::pair<const char*, double> losses[] = {
      {"bubble", t.bubble / t.time},
      {"exchanges with experts at the ends", t.alone / t.time},
      {"gradients", t.exchange / t.time},
      {"sends", count * (t.sends / t.time)},
      {"host", count * (t.waits / t.time)},
      {"optimizer", t.optimizer / t.time},
      {"recompute", choice.recompute.full ? count * (t.forward / t.time) : 0.0},
  };
  const auto* most =
      std::max_element(std::begin(losses), std::end(losses),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} {:.1f}%", most->first, 100.0 * most->second);
}

std::string settings_of(const sim::TrainingChoice& choice) {
  return fmt::format("{} · micro-batches of {}, {} chunk{}, recompute {}",
                     sim::mapping_name(choice.mapping), choice.micro_batch, choice.virtual_stages,
                     choice.virtual_stages == 1 ? "" : "s", sim::recompute_name(choice.recompute));
}

std::string candidate_of(const TrainingSearch& search, const TrainedRow& row) {
  const std::string& label = search.candidates[row.candidate].label;
  return label.empty() ? "" : label + ": ";
}

Json row_json(const TrainingSearch& search, const TrainedRow& row) {
  const sim::TrainingChoice& choice = row.choice;
  Json json;
  if (!search.candidates[row.candidate].label.empty()) {
    json["candidate"] = search.candidates[row.candidate].label;
  }
  json["mapping"] = sim::mapping_name(choice.mapping);
  json["micro_batch"] = choice.micro_batch;
  json["virtual_stages"] = choice.virtual_stages;
  json["layout"] = choice.layout.empty() ? Json() : Json(choice.layout);
  json["recompute"] = sim::recompute_name(choice.recompute);
  json["largest_loss"] = largest_loss(row.estimate.workflow->training, choice);
  for (const sim::Metric& metric : sim::metrics()) {
    if (const double value = metric.value(row.estimate); std::isfinite(value)) {
      json["metrics"][std::string(metric.name)] = value;
    }
  }
  if (row.estimate.parent_figures != nullptr) {
    json["parent_figures"] = *row.estimate.parent_figures;
  }
  return json;
}

}  // namespace

std::string training_search_title(const sim::TrainingQuestion& q, const TrainingSearch& search) {
  const sim::Scenario s = sim::read_scenario(search.candidates.front().document);
  std::vector<std::string> parts = {s.model.name};
  if (search.candidates.size() == 1) {
    parts.push_back(s.platform.system.name);
    parts.push_back(s.precision.id.empty() ? "custom precision" : s.precision.id);
  }
  parts.push_back(fmt::format("{} sequences of {} tokens", s.training.global_batch,
                              s.training.sequence_length));
  parts.push_back(fmt::format("{} GPU{}", q.gpus, q.gpus == 1 ? "" : "s"));
  for (const sim::Condition& c : q.where) {
    parts.push_back(c.text);
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string training_search_text(const sim::TrainingQuestion& q, const TrainingSearch& search) {
  std::string text = training_search_title(q, search) + "\n\n";
  if (search.best.empty()) {
    text += search.rows > 0 ? "Nothing meets the conditions.\n"
                            : fmt::format(
                                  "No mapping of {} GPUs gives each pipeline a whole number of the "
                                  "global batch's sequences.\n",
                                  q.gpus);
  } else {
    const TrainedRow& best = search.best.front();
    const bool maximizes = q.objective.direction == sim::Direction::maximize;
    text +=
        fmt::format("{}{}: the {} {}, {}.\n", candidate_of(search, best), settings_of(best.choice),
                    maximizes ? "most" : "least", without_prompts(q.objective.metric->label),
                    display(best.value, without_prompts(q.objective.metric->unit)));
    const TrainedRow& least = *search.least_memory;
    text += fmt::format("{}{}: the least memory, {}, with an MFU of {:.3f}.\n\n",
                        candidate_of(search, least), settings_of(least.choice),
                        display(least.estimate.memory.si(), "B"), value_of(least, "mfu"));
    const bool labelled = search.candidates.size() > 1;
    const std::string_view objective = q.objective.metric->name;
    const bool own = std::find(std::begin(kShownMetrics), std::end(kShownMetrics), objective) ==
                     std::end(kShownMetrics);
    std::vector<std::string> header = {"rank"};
    if (labelled) {
      header.emplace_back("candidate");
    }
    header.insert(header.end(), {"mapping", "micro-batch", "chunks", "recompute"});
    for (const char* metric : kShownMetrics) {
      header.emplace_back(sim::find_metric(metric)->label);
    }
    if (own) {
      header.push_back(without_prompts(q.objective.metric->label));
    }
    header.emplace_back("largest loss");
    TextTable table(header);
    for (std::size_t i = 0; i < std::min(kShown, search.best.size()); ++i) {
      const TrainedRow& row = search.best[i];
      std::vector<std::string> cells = {fmt::format("{}", i + 1)};
      if (labelled) {
        cells.push_back(search.candidates[row.candidate].label);
      }
      cells.push_back(sim::mapping_name(row.choice.mapping));
      cells.push_back(fmt::format("{}", row.choice.micro_batch));
      cells.push_back(fmt::format("{}", row.choice.virtual_stages));
      cells.push_back(sim::recompute_name(row.choice.recompute));
      for (const char* metric : kShownMetrics) {
        cells.push_back(display(value_of(row, metric), sim::find_metric(metric)->unit));
      }
      if (own) {
        cells.push_back(display(row.value, without_prompts(q.objective.metric->unit)));
      }
      cells.push_back(largest_loss(row.estimate.workflow->training, row.choice));
      table.add(std::move(cells));
    }
    text += fmt::format("The best of each of {} mappings:\n{}", search.best.size(), table.text());
  }
  text += "\n";
  for (const TrainingSearch::Candidate& candidate : search.candidates) {
    add_parents(sim::view(sim::read_scenario(candidate.document)), text);
  }
  for (const auto& [reason, rows] : search.refused) {
    text += fmt::format("{} of {} choices do not run: {}\n", rows, search.rows, reason);
  }
  if (search.missed > 0) {
    text += fmt::format("{} of {} choices miss a condition\n", search.missed, search.rows);
  }
  return text;
}

Json training_search_json(const sim::TrainingQuestion& q, const TrainingSearch& search) {
  Json json = {{"question", training_search_title(q, search)}, {"found", !search.best.empty()}};
  json["objective"] = q.objective.metric->name;
  json["rows"] = search.rows;
  json["missed"] = search.missed;
  json["refused"] = search.refused;
  json["answers"] = Json::array();
  for (const TrainedRow& row : search.best) {
    json["answers"].push_back(row_json(search, row));
  }
  json["least_memory"] = search.least_memory ? row_json(search, *search.least_memory) : Json();
  return json;
}

void write_training_rows(const TrainingSearch& search, const std::string& file) {
  std::vector<std::string> columns = {"candidate",      "mapping", "micro_batch",
                                      "virtual_stages", "layout",  "recompute"};
  const bool parents =
      std::any_of(search.best.begin(), search.best.end(),
                  [](const TrainedRow& row) { return row.estimate.parent_figures != nullptr; });
  add_metric_columns(columns, parents);
  base::CsvWriter csv(std::filesystem::path(file), columns);
  for (const TrainedRow& row : search.best) {
    const sim::TrainingChoice& choice = row.choice;
    csv.append(search.candidates[row.candidate].label);
    csv.append(sim::mapping_name(choice.mapping));
    csv.append(choice.micro_batch);
    csv.append(choice.virtual_stages);
    csv.append(choice.layout);
    csv.append(sim::recompute_name(choice.recompute));
    append_metrics(csv, row.estimate, parents);
    csv.end_row();
  }
  csv.close();
}

}  // namespace roofcast::cli
