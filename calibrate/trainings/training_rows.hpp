// SPDX-License-Identifier: Apache-2.0
//
// Published training steps as scenarios: what a row of a table asks roofcast to forecast. The layout is told by the
// columns:
//
//   iteration_time_s          arXiv 2205.05198, table 5: everything is given. Full recompute, or selective with
//                             sequence parallelism. A first chip without fused attention: `selective` computes its core again
//   model_parallel_size       arXiv 2104.04473, table 1: t = min(8, model parallelism) and p the rest, full recompute, TFLOP/s of
//                             96·B·s·l·h²·(1 + s/6h + V/16lh), recomputation counted. Not told: micro-batch, taken as 1 behind a pipeline
//                             and 4 without one; chunks, taken as 2 where they divide the layers
//   per_gpu_tflops            Megatron-LM's weak scaling on H100: no recompute, micro-batches of 1, TFLOP/s of
//                             72·B·s·l·h²·(1 + s/6h + V/12lh), whole attention
//   "Tokens / sec / GPU"      Megatron Bridge's summary: data parallelism is what TP, PP and CP leave. Its recipes tell
//                             recomputation, layers of each stage, CUDA graphs. Not told: popularity of experts. Half of the models
//                             on half of the systems set the trainer's host times, the others judge them
//   real_step_ms              SimuMax on eight B200: the name of the case tells all, "deepseekv2_tp1_ep4_pp2_dp4_l4_mbc8":
//                             model, layers l, micro-batches mbc of one sequence of seq tokens, 4096 without it. Memory too
//   throughput_t_s_gpu        MPT with FSDP (PyTorch) by llm-foundry: everything is given but the model's dimensions
//
// A row's model and system are those that the catalog knows by the table's names. How the steps were run otherwise:
// calibrate/conventions/trainings.yaml.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/csv/csv.hpp"
#include "base/units/quantity.hpp"
#include "calibrate/conventions/conventions.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::calibrate {

struct MeasuredTraining {
  std::string group;  // what errors are told by: the model, or the table
  std::string chip;
  double step_s = 0.0;                // measured
  std::optional<base::Bytes> memory;  // measured, of the fullest GPU
  // Whether the trainer's host times were fitted to it; nothing where no row of the table was.
  std::optional<bool> sets_trainer;
  std::string reason;  // why there is no forecast; empty when there may be one
  std::optional<sim::Scenario> scenario;
};

enum class Layout { iteration_times, model_parallel, weak_scaling, bridge, simumax, mpt };

class TrainingRows {
 public:
  // Throws InputError where the columns are of none of the tables.
  TrainingRows(const base::CsvTable& table, std::string calibration);
  MeasuredTraining row(std::size_t row) const;

 private:
  std::string_view text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;
  MeasuredTraining bridge_row(std::size_t row) const;
  MeasuredTraining gpt_row(std::size_t row) const;
  MeasuredTraining simumax_row(std::size_t row) const;
  MeasuredTraining mpt_row(std::size_t row) const;
  Facts facts(std::size_t row) const;
  void read(const std::string& document, const Settings& settings,
            MeasuredTraining& measured) const;

  const base::CsvTable& table_;
  std::string calibration_;
  Layout layout_;
  Conventions conventions_{"trainings"};
};

}  // namespace roofcast::calibrate
