// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/platforms/named_parts.hpp"
#include "cli/compare/compare_measured.hpp"
#include "cli/compare/measured_metrics.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/estimate.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

constexpr double kAlike = 0.1;  // mean lengths: drawn ones vary, and templates of a chat add tokens

struct Knob {
  std::string path;
  std::string value;
  std::string note = {};  // on what the forecast is then of
};

void erase(base::Node& section, std::initializer_list<std::string_view> keys) {
  std::erase_if(section.entries, [&](const base::Entry& entry) {
    return std::find(keys.begin(), keys.end(), entry.key) != keys.end();
  });
}

// What the log says of the run, as knobs of a scenario.
std::vector<Knob> knobs_of(const calibrate::ServingLog& log) {
  constexpr const char* kMeans =
      "Lengths are the log's means, all requests alike; --set traffic.output_tokens='{uniform: "
      "[…]}' says how they vary";
  std::vector<Knob> knobs;
  const auto add = [&](std::string path, const auto& value, std::string note = {}) {
    if (value) {
      knobs.push_back({std::move(path), fmt::format("{}", *value), std::move(note)});
    }
  };
  const auto tokens = [](std::optional<double> mean) {
    return mean ? std::optional(std::max<std::int64_t>(1, std::llround(*mean))) : std::nullopt;
  };
  add("deployment.tensor_parallel", log.tensor_parallel);
  add("deployment.pipeline_parallel", log.pipeline_parallel);
  add("deployment.expert_parallel", log.expert_parallel);
  add("serving.max_sequences", log.max_sequences);
  add("serving.max_tokens_per_iteration", log.max_tokens_per_iteration);
  add("traffic.input_tokens", tokens(log.input_tokens), kMeans);
  add("traffic.output_tokens", tokens(log.output_tokens), kMeans);
  if (log.rate) {
    const bool poisson = log.burstiness == 1.0 || !(log.burstiness > 0.0);
    knobs.push_back({"traffic.arrivals",
                     poisson ? fmt::format("{{process: poisson, rate: {} /s}}", *log.rate)
                             : fmt::format("{{process: gamma, rate: {} /s, cv: {}}}", *log.rate,
                                           1.0 / std::sqrt(log.burstiness)),
                     log.clients
                         ? fmt::format("Requests come at a rate, at most {} at once: that limit is "
                                       "not in the forecast",
                                       *log.clients)
                         : std::string()});
  } else if (log.clients) {
    add("traffic.concurrency", log.clients);
  } else if (log.all_at_once && log.requests) {
    add("traffic.concurrency", log.requests,
        fmt::format("All {} requests were sent at the start; the forecast is of as many clients "
                    "for long, whose TTFT is not that of a burst",
                    *log.requests));
  }
  return knobs;
}

// The mean of a length of a scenario.
std::optional<double> mean_length(const base::Node& length) {
  base::Node document;
  base::Node& traffic = document["traffic"];
  traffic["input_tokens"] = length;
  traffic["output_tokens"] = base::scalar_node("1", {});
  traffic["concurrency"] = base::scalar_node("1", {});
  base::Problems problems;
  const workloads::Traffic means = sim::read_traffic(document, problems);
  return problems.empty() ? std::optional(static_cast<double>(means.input_tokens)) : std::nullopt;
}

// "traffic.input_tokens: 1024 in the log, 2048 in the scenario"; empty where the document says the same or nothing.
std::string contradiction(const base::Node& document, const Knob& knob) {
  const base::Node* node = document.find_path(knob.path);
  const bool is_length = knob.path.ends_with("_tokens");
  if (node == nullptr || node->is_null() || !(is_length || knob.path.starts_with("deployment."))) {
    return {};
  }
  const double log = calibrate::number_of(knob.value).value();
  const std::optional<double> said =
      is_length ? mean_length(*node) : calibrate::number_of(node->text);
  return !said || std::abs(*said - log) <= (is_length ? kAlike * log : 0.0)
             ? ""
             : fmt::format("{}: {} in the log, {} in the scenario", knob.path, knob.value, *said);
}

// The scenario with the log's knobs, but for those that the user turns.
base::Node document_of(const CompareMeasuredOptions& options, const calibrate::ServingLog& log,
                       std::vector<std::string>& contradictions, MeasuredComparison& comparison) {
  LoggedScenario logged = options.scenarios.of_server(log);
  base::Node& document = logged.document;
  base::Node* traffic = document.find("traffic");
  if (traffic != nullptr && traffic->find("agents") != nullptr) {
    throw base::InputError(fmt::format(
        "{}: error: traffic.agents: a log of a benchmark is not of agents\n", options.scenario));
  }
  const auto is_overridden = [&](std::string_view path) {
    return std::any_of(options.set.begin(), options.set.end(), [&](const std::string& assignment) {
      return assignment.starts_with(path) && assignment.size() > path.size() &&
             (assignment[path.size()] == '=' || assignment[path.size()] == '.');
    });
  };
  const bool load_overridden =
      is_overridden("traffic.concurrency") || is_overridden("traffic.arrivals");
  base::Problems problems;
  std::vector<std::string> set = logged.from_log;
  bool load = load_overridden;
  for (const Knob& knob : knobs_of(log)) {
    const bool is_load = knob.path == "traffic.concurrency" || knob.path == "traffic.arrivals";
    if (is_overridden(knob.path) || (is_load && load_overridden)) {
      continue;
    }
    if (std::string wrong = contradiction(document, knob); !wrong.empty()) {
      contradictions.push_back(std::move(wrong));
    }
    if (is_load && traffic != nullptr) {
      erase(*traffic, {"concurrency", "arrivals"});
    }
    load = load || is_load;
    sim::set_knob(document, {"--set", knob.path + "=" + knob.value, {}}, problems);
    set.push_back(fmt::format("{} {}", knob.path, knob.value));
    std::vector<std::string>& notes = comparison.notes;
    if (!knob.note.empty() && std::find(notes.begin(), notes.end(), knob.note) == notes.end()) {
      notes.push_back(knob.note);
    }
  }
  problems.throw_if_any();
  if (!set.empty()) {
    comparison.said.push_back(fmt::format("set from the log: {}", fmt::join(set, ", ")));
  }
  if (!load) {
    comparison.said.emplace_back("the log tells no load: the scenario's is taken");
  }
  return document;
}

bool is_model(const workloads::Architecture& model, const std::string& id) {
  base::Node document;
  document["model"] = base::scalar_node(id, {});
  base::Problems problems;
  sim::load_references(document, problems);
  return workloads::same_network(model, sim::read_model(document, problems));
}

}  // namespace

MeasuredComparison compare_serving(const CompareMeasuredOptions& options,
                                   const calibrate::ServingLog& log) {
  MeasuredComparison comparison;
  comparison.log = log.name;
  if (!log.model.empty()) {
    comparison.said.push_back(fmt::format("the log's model: {}", log.model));
  }
  std::vector<std::string> contradictions;
  const sim::Scenario scenario =
      sim::read_scenario(document_of(options, log, contradictions, comparison));
  if (scenario.training.trains()) {
    throw base::InputError(
        fmt::format("{}: error: training: a log of a benchmark is of serving\n", options.scenario));
  }
  comparison.scenario = title(scenario);
  if (const std::string id = calibrate::model_in(log.model);
      !id.empty() && !is_model(scenario.model, id)) {
    comparison.matches = false;
    contradictions.push_back(
        fmt::format("model: {} in the log, {} in the scenario", id, scenario.model.name));
  }
  refuse_contradictions(options, contradictions, comparison);
  sim::Workspace workspace;
  const sim::ServingEstimate e = sim::estimate(sim::view(scenario), workspace);
  comparison.runs = e.fits();
  if (!e.fits()) {
    comparison.notes.insert(comparison.notes.begin(),
                            fmt::format("does not run: {}", sim::reason(e)));
  }
  lay_beside(log.metrics, e, comparison);
  return comparison;
}

}  // namespace roofcast::cli
