// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trainings/post_training_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/document/problems.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::int64_t kPromptTokens = 110;
constexpr double kVariation = 0.6;

struct Recipe {
  std::string_view model, ours;
  std::int64_t samples;
  std::string_view recompute;
};
constexpr Recipe kRecipes[] = {{"DeepSeek V3", "deepseek-v3", 16, "full"},
                               {"Qwen3-235B", "qwen3-235b-a22b", 32, "full"},
                               {"Qwen3-30B3A", "qwen3-30b-a3b", 32, "none"}};

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
double uncut_mean(double mean, std::int64_t most) {
  workloads::Lengths lengths;
  lengths.shape = workloads::Lengths::Shape::lognormal;
  lengths.cv = kVariation;
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
  const bool is_gb200 = section.find("GB200") != std::string_view::npos;
  m.chip = is_gb200 ? "gb200" : "h100_sxm";
  const auto* recipe = std::find_if(std::begin(kRecipes), std::end(kRecipes),
                                    [&](const Recipe& r) { return r.model == m.model; });
  if (text("Algorithm") != "GRPO") {
    m.reason = "several turns with tools between them, which a rollout does not model";
  } else if (recipe == std::end(kRecipes)) {
    m.reason = "a model whose recipe is not known here";
  } else if (!(m.step_s > 0.0)) {
    m.reason = "no measured step";
  }
  if (!m.reason.empty()) {
    return m;
  }
  const auto gpus = std::llround(number(table, row, "#-GPUs"));
  const std::int64_t lag =
      m.policy.starts_with("On")
          ? 0
          : std::llround(base::parse_number(m.policy.substr(0, 1)).value_or(1.0));
  const bool split = lag > 0;
  const std::int64_t generating = !split ? gpus : lag == 8 ? gpus / 3 : gpus / 2;
  const std::int64_t training = split ? gpus - generating : gpus;
  const auto generation = sizes(text("Generation [TP,PP]"));
  const auto mapping = sizes(text("Training [TP,CP,EP,PP,VPP]"));
  if (generation.size() < 2 || mapping.size() < 5) {
    m.reason = "parallel sizes in another layout";
    return m;
  }
  const std::int64_t stage = mapping[0] * mapping[1] * mapping[3];
  const auto longest = std::llround(number(table, row, "T-Max Sequence Length"));
  const std::int64_t most = longest - kPromptTokens;
  const double mean = uncut_mean(number(table, row, "G-Average Seq len"), most);
  const bool fp8 = section.find("FP8") != std::string_view::npos;
  base::Node document = base::parse_document(
      "row",
      fmt::format(
          "system: {{base: {}, chips: {}}}\nmodel: {}\nprecision: {{base: {}, kv_cache: bf16}}\n"
          "deployment: {{tensor_parallel: {}, context_parallel: {}, expert_parallel: {}, "
          "pipeline_parallel: {}, data_parallel: {}, sequence_parallel: {}}}\n"
          "training: {{global_batch: {}, sequence_length: {}, recompute: {}, gradients: bf16, "
          "trainer: nemo-rl}}\nserving: {{stack: vllm, memory_fraction: {}}}\n"
          "rl: {{responses: {}, samples: {}, prompt_tokens: {}, response_tokens: {{lognormal: "
          "{{mean: {:.1f}, cv: {}, max: {}}}}}, rollout: {{tensor_parallel: {}, pipeline_parallel: "
          "{}, "
          "replicas: {}}}, placement: {}, off_policy_steps: {}, logprob_passes: 2}}\n",
          is_gb200 ? "gb200_nvl72_x8" : "h100_cluster_128", 576, recipe->ours,
          fp8 ? "fp8_block" : "bf16", mapping[0], mapping[1],
          std::min(mapping[2], training / mapping[3]), mapping[3], training / stage, mapping[0] > 1,
          std::llround(number(table, row, "T-GBS")), longest, recipe->recompute, split ? 0.8 : 0.6,
          std::llround(number(table, row, "G-GBS")), recipe->samples, kPromptTokens, mean,
          kVariation, most, generation[0], generation[1],
          generating / (generation[0] * generation[1]), split ? "split" : "colocated", lag));
  if (!calibration.empty()) {
    base::Problems problems;
    sim::set_knob(document, {"--set", fmt::format("system.calibration={}", calibration), {}},
                  problems);
    problems.throw_if_any();
  }
  m.scenario = sim::read_scenario(std::move(document));
  return m;
}

}  // namespace roofcast::calibrate
