// SPDX-License-Identifier: Apache-2.0
#include "cli/question/scenario_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/document/text_file.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/quoted.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/named_files.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

void erase(Node& map, std::string_view key) {
  std::erase_if(map.entries, [&](const base::Entry& entry) { return entry.key == key; });
}

void set(Node& document, const char* option, const char* path, const std::string& value,
         base::Problems& problems) {
  if (!value.empty()) {
    sim::set_knob(document, {option, fmt::format("{}={}", path, value), {}}, problems);
  }
}

// Whether the model fills in the precision that a scenario lacks.
bool has_own_precision(Node document) {
  base::Problems silent;
  return document.find("precision") == nullptr && sim::fill_at(document, "precision", silent) &&
         document.find("precision") != nullptr;
}

// What is taken because nobody said it.
std::vector<std::string> unsaid(const Node& document, const ScenarioOptions& options) {
  std::vector<std::string> notes;
  const bool no_file = options.scenario.empty();
  const bool is_mapped =
      std::any_of(options.set.begin(), options.set.end(),
                  [](const std::string& set) { return set.starts_with("deployment"); });
  if (options.gpus > 1 && !is_mapped) {
    notes.push_back(fmt::format(
        "the {} GPUs are one tensor-parallel group; roofcast recommend finds the best mapping",
        options.gpus));
  } else if (no_file && options.gpus == 0 && !is_mapped) {
    notes.emplace_back("the deployment is one GPU (no --gpus was given)");
  }
  if (document.find("serving") == nullptr && document.find("training") == nullptr) {
    notes.push_back(
        fmt::format("the serving stack is {} (no --stack was given)", sim::kUsualStack));
  }
  if (no_file && options.precision.empty() && has_own_precision(document)) {
    notes.emplace_back("the precision is the model's own (no --precision was given)");
  }
  if (no_file && !says_load(document)) {
    notes.emplace_back("one client waits for its answers (no --clients or --rate was given)");
  }
  return notes;
}

}  // namespace

void add_scenario_file(Command& command, ScenarioOptions& options) {
  command
      .add_option("scenario", options.scenario,
                  "the YAML file of a scenario; without one the options say it")
      ->type_name(kFile);
}

Argument* add_scenario_options(Command& command, ScenarioOptions& options, Lists lists) {
  const bool several = lists == Lists::yes;
  command.add_option("--model", options.model, "the model")->type_name(kModel);
  command.add_option("--system", options.system, several ? "the systems: a,b" : "the system")
      ->type_name(kSystem);
  Argument* gpus =
      command
          .add_option("--gpus", options.gpus,
                      several ? "the most GPUs of a deployment"
                              : "the GPUs of the deployment, as tensor parallelism; --set "
                                "deployment.KEY=VALUE says another mapping")
          ->type_name(kNumber)
          ->within(std::size_t{1}, several ? std::size_t{kMostRecommended} : std::size_t{4096});
  command.add_option("--input", options.input, "tokens of a prompt, or a distribution as in YAML")
      ->type_name(kText);
  command
      .add_option("--output", options.output, "tokens of an answer, or a distribution as in YAML")
      ->type_name(kText);
  command.add_option("--rate", options.rate, "requests that arrive, such as '8 /s'")
      ->type_name(kText);
  command.add_option("--clients", options.clients, "clients, each of which waits for its answer")
      ->type_name(kText);
  command
      .add_option("--ttft-p95", options.ttft,
                  several ? "the most TTFT p95, such as 1s"
                          : "the objective of TTFT, such as 1s: the answer says how many requests "
                            "meet it")
      ->type_name(kText);
  command
      .add_option("--tpot-p95", options.tpot,
                  several ? "the most TPOT p95, such as 30ms" : "the objective of TPOT")
      ->type_name(kText);
  command
      .add_option("--precision", options.precision,
                  several ? "the precisions to try: a,b; default: the scenario's or the model's own"
                          : "the precision; default: the model's own")
      ->type_name(kPrecision);
  command
      .add_option("--stack", options.stack,
                  several ? "the serving stacks to try: a,b; default: the scenario's or vllm"
                          : "the serving stack; default: vllm")
      ->type_name(kStack);
  return gpus;
}

void add_set_and_save(Command& command, ScenarioOptions& options, const std::string& saved) {
  command
      .add_option("--set", options.set,
                  "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command.add_option("--save", options.save, saved)->written();
}

Node started_document(const ScenarioOptions& options) {
  if (!options.scenario.empty()) {
    return scenario_document(options.scenario, {});
  }
  base::Problems problems;
  for (const auto& [option, value] : {std::pair{"--model", &options.model},
                                      {"--system", &options.system},
                                      {"--input", &options.input},
                                      {"--output", &options.output}}) {
    if (value->empty()) {
      problems.add_text(fmt::format("error: {} is needed, or a scenario file\n", option));
    }
  }
  if (problems.size() > 0) {
    problems.add_text("Run with --help for more information.\n");
  }
  problems.throw_if_any();
  Node document;
  document.place = {std::make_shared<const base::Source>(base::Source{"the options", "", {}}), {}};
  return document;
}

void set_model_and_traffic(Node& document, const ScenarioOptions& options,
                           base::Problems& problems) {
  if (!options.rate.empty() && !options.clients.empty()) {
    problems.add_text("error: --rate or --clients, not both\n");
  }
  set(document, "--model", "model", options.model, problems);
  set(document, "--input", "traffic.input_tokens", options.input, problems);
  set(document, "--output", "traffic.output_tokens", options.output, problems);
  if (!options.rate.empty()) {
    Node& traffic = document["traffic"];
    erase(traffic, "concurrency");
    if (traffic.find("arrivals") == nullptr) {
      traffic["arrivals"]["process"] = base::scalar_node("poisson", document.place);
    }
    set(document, "--rate", "traffic.arrivals.rate", options.rate, problems);
  }
  if (!options.clients.empty()) {
    erase(document["traffic"], "arrivals");
    set(document, "--clients", "traffic.concurrency", options.clients, problems);
  }
}

void refuse_two_of_one_knob(const ScenarioOptions& options, Lists lists, base::Problems& problems) {
  std::vector<base::Source> settings;
  const auto add = [&](const char* option, const char* path, const std::string& value) {
    if (!value.empty()) {
      settings.push_back({option, fmt::format("{}={}", path, value), {}});
    }
  };
  add("--model", "model", options.model);
  add("--input", "traffic.input_tokens", options.input);
  add("--output", "traffic.output_tokens", options.output);
  add("--rate", "traffic.arrivals.rate", options.rate);
  add("--clients", "traffic.concurrency", options.clients);
  if (lists == Lists::no) {
    add("--system", "system", options.system);
    add("--precision", "precision", options.precision);
    add("--stack", "serving.stack", options.stack);
    add("--ttft-p95", "traffic.objectives.ttft", options.ttft);
    add("--tpot-p95", "traffic.objectives.tpot", options.tpot);
    add("--gpus", "deployment", options.gpus > 0 ? fmt::format("{}", options.gpus) : "");
  }
  const std::vector<base::Source> set = set_options(options.set);
  settings.insert(settings.end(), set.begin(), set.end());
  refuse_two_of_one_knob(settings, problems);
}

bool trains(const Node& document) {
  const Node* training = document.find("training");
  return training != nullptr && !training->is_null();
}

void refuse_in_training(
    std::initializer_list<std::pair<std::string_view, std::string_view>> options,
    base::Problems& problems) {
  for (const auto& [option, value] : options) {
    if (!value.empty()) {
      problems.add_text(fmt::format("error: {} is of serving, and the scenario trains\n", option));
    }
  }
}

void refuse_serving_options(const Node& document, const ScenarioOptions& options,
                            base::Problems& problems) {
  if (trains(document)) {
    refuse_in_training({{"--input", options.input},
                        {"--output", options.output},
                        {"--clients", options.clients},
                        {"--rate", options.rate},
                        {"--ttft-p95", options.ttft},
                        {"--tpot-p95", options.tpot},
                        {"--stack", document.find("rl") == nullptr ? options.stack : ""}},
                       problems);
  }
}

bool says_load(const Node& document) {
  const Node* traffic = document.find("traffic");
  return traffic != nullptr &&
         (traffic->find("concurrency") != nullptr || traffic->find("arrivals") != nullptr ||
          traffic->find("trace") != nullptr || traffic->find("agents") != nullptr);
}

Node described_scenario(const ScenarioOptions& options, std::string_view command) {
  base::Problems problems;
  refuse_two_of_one_knob(options, Lists::no, problems);
  problems.throw_if_any();
  return scenario_as_filled_in(options, command);
}

Node scenario_as_filled_in(const ScenarioOptions& options, std::string_view command) {
  Node document = started_document(options);
  base::Problems problems;
  refuse_serving_options(document, options, problems);
  set_model_and_traffic(document, options, problems);
  set(document, "--ttft-p95", "traffic.objectives.ttft", options.ttft, problems);
  set(document, "--tpot-p95", "traffic.objectives.tpot", options.tpot, problems);
  set(document, "--system", "system", options.system, problems);
  set(document, "--precision", "precision", options.precision, problems);
  set(document, "--stack", "serving.stack", options.stack, problems);
  set(document, "--gpus", "deployment",
      options.gpus > 0 ? fmt::format("{{tensor_parallel: {}}}", options.gpus) : "", problems);
  const std::vector<std::string> notes = unsaid(document, options);
  if (options.scenario.empty() && !says_load(document)) {
    document["traffic"]["concurrency"] = base::scalar_node("1", document.place);
  }
  sim::fill_usual_sections(document);
  set_knobs(document, options.set, problems);
  problems.throw_if_any();
  for (const std::string& note : options.notes ? notes : std::vector<std::string>{}) {
    tell("{}\n", note);
  }
  if (!options.save.empty()) {
    const sim::Scenario s =
        sim::read_streamed_scenario(document).scenario;  // what is wrong is not saved
    save_scenario(options.save,
                  {fmt::format("{}, {}", title(s), load_text(s)),
                   fmt::format("Written by roofcast {}.", command)},
                  document);
  }
  return document;
}

void save_scenario(const std::string& file, const std::vector<std::string>& head, Node document) {
  sim::make_paths_absolute(document, "");
  std::string text;
  for (const std::string& line : head) {
    text += comment_line(line);
  }
  base::write_text(file, text + base::to_yaml(document));
}

}  // namespace roofcast::cli
