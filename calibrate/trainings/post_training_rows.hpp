// SPDX-License-Identifier: Apache-2.0
//
// Published steps of RL post-training as scenarios: what a row of NeMo-RL's performance summary asks roofcast to
// forecast (NVIDIA-NeMo/RL docs/about/performance-summary.md). What the table does not say is that of its recipes
// (NVIDIA-NeMo/RL examples/configs/recipes/llm/performance and grpo_math_1B.yaml, which they extend):
//
//   GPUs           on policy colocated; off policy half of them generate, of 8 steps off a third
//   prompts        DeepSeek-V3 32 x 16 samples, Qwen3-235B 16 x 32, Qwen3-30B 64 x 32
//   training       packed sequences, all layers computed again but for Qwen3-30B, gradients added up in bf16,
//                  log-probabilities of the policy and of a reference
//                  experts over no more ranks than a stage has (the table's 16 of 8, where its recipe has 8)
//   engine         vLLM in 0.6 of the memory, 0.8 of its own GPUs
// Neither says:
//   prompt_tokens  110: tokens trained (tokens a second · step time) less those generated are 103 to 118 a response
//   lengths        lognormal, cv 0.6 (assumed), cut at the row's longest, of the row's mean
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/csv/csv.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

struct MeasuredPostTraining {
  std::string model;
  std::string chip;
  std::string policy;
  double step_s = 0.0;
  std::string reason;  // why there is no forecast; empty when there may be one
  std::optional<sim::Scenario> scenario;
};

MeasuredPostTraining post_training_row(const base::CsvTable& table, std::size_t row,
                                       const std::string& calibration);

}  // namespace roofcast::calibrate
