// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trainings/post_training_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/document/fields.hpp"
#include "calibrate/conventions/conventions.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::calibrate {
namespace {

// What calibrate/conventions/post_training.yaml sets of the run beside its scenario: `run.`
struct RunSettings {
  std::int64_t generating = 1;
  std::int64_t prompt_tokens = 1;
  double variation = 0.0;
};

RunSettings run_of(const Settings& settings, base::Problems& problems) {
  const base::Node document = run_settings(settings, problems);
  RunSettings run;
  base::Fields f(document, "run", problems);
  f.integer("generating", run.generating, base::at_least_one);
  f.integer("prompt_tokens", run.prompt_tokens, base::at_least_one);
  f.number("variation", run.variation, base::not_negative);
  f.end();
  return run;
}

// The first system that a word of the text is called; empty where none is.
std::string system_in(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (const auto id = base::id_called(hardware::system_catalog(), text.substr(0, end))) {
      return *id;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// The chip that a system of the catalog is made of.
std::string chip_of(const std::string& system) {
  base::Problems problems;
  base::Node document;
  document["system"] = base::scalar_node(system, {});
  sim::load_references(document, problems);
  problems.throw_if_any();
  return document.find_path("system.chip")->reference;
}

std::string without(std::string_view cell, std::string_view characters) {
  std::string text(cell);
  text.erase(std::remove_if(text.begin(), text.end(),
                            [&](char c) { return characters.find(c) != std::string_view::npos; }),
             text.end());
  return text;
}

double number(const base::CsvTable& table, std::size_t row, std::string_view column) {
  return base::parse_number(without(table.cell(row, table.column(std::string(column))), ","))
      .value_or(0.0);
}

// "[2,2,16,8,n/a]"; 1 for what is no number.
std::vector<std::int64_t> sizes(std::string_view cell) {
  std::vector<std::int64_t> values;
  std::string text = without(cell, "[] ");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(
        std::llround(base::parse_number(text.substr(begin, end - begin)).value_or(1.0)));
    begin = end + 1;
  }
  return values;
}

// The mean before lengths are cut at `most` that leaves `mean`.
double uncut_mean(double mean, double variation, std::int64_t most) {
  workloads::Lengths lengths;
  lengths.shape = workloads::Lengths::Shape::lognormal;
  lengths.cv = variation;
  lengths.most = most;
  double low = mean;
  double high = 100.0 * mean;
  for (int i = 0; i < 60; ++i) {
    lengths.mean = 0.5 * (low + high);
    (workloads::mean(lengths) < mean ? low : high) = lengths.mean;
  }
  return lengths.mean;
}

}  // namespace

MeasuredPostTraining post_training_row(const base::CsvTable& table, std::size_t row,
                                       const std::string& calibration) {
  const auto text = [&](std::string_view column) {
    return table.cell(row, table.column(std::string(column)));
  };
  MeasuredPostTraining m;
  m.model = std::string(text("Model"));
  m.policy = std::string(text("On/Off policy"));
  m.step_s = number(table, row, "Total Step time(s)");
  const std::string_view section = text("section");
  const std::string system = system_in(section);
  m.chip = system.empty() ? std::string() : chip_of(system);
  const auto model = base::id_called(workloads::model_catalog(), m.model);
  const std::int64_t lag =
      m.policy.starts_with("On")
          ? 0
          : std::llround(base::parse_number(m.policy.substr(0, 1)).value_or(1.0));
  static const Conventions conventions("post_training");
  Facts facts;
  facts.set("model", model.value_or(""));
  facts.set("lag", lag);
  facts.set("table.section", section);
  const Settings settings = conventions.settings(facts);
  if (text("Algorithm") != "GRPO") {
    m.reason = "several turns with tools between them, which a rollout does not model";
  } else if (system.empty()) {
    m.reason = "no cluster of the system in the catalog";
  } else if (!model || find(settings, "rl.samples") == nullptr) {
    m.reason = "a model whose recipe is not known here";
  } else if (!(m.step_s > 0.0)) {
    m.reason = "no measured step";
  }
  if (!m.reason.empty()) {
    return m;
  }
  const auto gpus = std::llround(number(table, row, "#-GPUs"));
  base::Problems problems;
  const RunSettings run = run_of(settings, problems);
  const bool split = run.generating > 1;
  const std::int64_t generating = gpus / run.generating;
  const std::int64_t training = split ? gpus - generating : gpus;
  const auto generation = sizes(text("Generation [TP,PP]"));
  const auto mapping = sizes(text("Training [TP,CP,EP,PP,VPP]"));
  if (generation.size() < 2 || mapping.size() < 5) {
    m.reason = "parallel sizes in another layout";
    return m;
  }
  const std::int64_t stage = mapping[0] * mapping[1] * mapping[3];
  const auto longest = std::llround(number(table, row, "T-Max Sequence Length"));
  const std::int64_t most = longest - run.prompt_tokens;
  const double mean = uncut_mean(number(table, row, "G-Average Seq len"), run.variation, most);
  base::Node document = base::parse_document(
      "row",
      fmt::format(
          "system: {{base: {}, chips: {}}}\nmodel: {}\n"
          "deployment: {{tensor_parallel: {}, context_parallel: {}, expert_parallel: {}, "
          "pipeline_parallel: {}, data_parallel: {}, sequence_parallel: {}}}\n"
          "training: {{global_batch: {}, sequence_length: {}}}\n"
          "rl: {{responses: {}, prompt_tokens: {}, response_tokens: {{lognormal: "
          "{{mean: {:.1f}, cv: {}, max: {}}}}}, rollout: {{tensor_parallel: {}, pipeline_parallel: "
          "{}, replicas: {}}}, off_policy_steps: {}}}\n",
          system, 576, *model, mapping[0], mapping[1], std::min(mapping[2], training / mapping[3]),
          mapping[3], training / stage, mapping[0] > 1, std::llround(number(table, row, "T-GBS")),
          longest, std::llround(number(table, row, "G-GBS")), run.prompt_tokens, mean,
          run.variation, most, generation[0], generation[1],
          generating / (generation[0] * generation[1]), lag));
  set(document, settings, problems);
  if (!calibration.empty()) {
    sim::set_knob(document,
                  {"--calibration", fmt::format("system.calibration={}", calibration), {}},
                  problems);
  }
  problems.throw_if_any();
  m.scenario = sim::read_scenario(std::move(document));
  return m;
}

}  // namespace roofcast::calibrate
