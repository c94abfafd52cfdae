// SPDX-License-Identifier: Apache-2.0
//
// Rows of serving_silicon.csv that were measured on two pools of workers (mode "disagg").
//
//   workers         those a row records. A row without them that repeats another's run (same chip, stack, lengths,
//                   concurrency, TTFT and TPOT) takes the other's. Else the published configuration of
//                   its year, stack, chip, precision, lengths and concurrency, of those with its widths
//                   (calibrate/servers/disaggregated_configurations.hpp): one that does not speculate if there is one, of
//                   several the one with the fewest GPUs
//   widths          a pool's tp_size, or of 2025 the GPUs of the whole deployment in each; "1" says nothing
//   experts         a recorded worker's moe_ep. SGLang's of 2025 are called DEP in their
//                   configurations and recorded as moe_tp: cut over all ranks; but workers of four GPUs that decode
//                   are TP (disaggregated_configurations.cpp)
//   speculation     not recorded. A row may have speculated when one of its configurations does; those with
//                   recorded workers did not: none is of a concurrency that only speculating ones have
//   concurrency     the vendor's, where it is missing: decode batch · attention DP · workers
//   prefill limits  TensorRT-LLM's recipes admit prompts of 8192 (1024/…) or one prompt of 8320 tokens
//                   (8192/…), in 2025 of 4608 or 8448, gpt-oss 20000; a prompt is not cut
//   decode limits   the recipe's batch, often fewer sequences than there are clients; where none is
//                   published, what the concurrency needs
//   router          Dynamo's default, one worker after the other (--router-mode round-robin)
//   memory          SGLang's on GB200 fill 95 % of it: FP8 weights on four would not fit the stack's 85 %
//   launches        dependent launch in TensorRT-LLM (TRTLLM_ENABLE_PDL=1 of the recipes)
//
// Recipes: ishandhanani/srt-slurm@4893f83 and @e71238b recipes/trtllm; InferenceMAX/InferenceMAX@525079a.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "calibrate/servers/disaggregated_configurations.hpp"
#include "workloads/serving/deployment.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::calibrate {

struct DisaggregatedServer {
  workloads::Pools pools;
  std::int64_t concurrency = 0;
  bool may_speculate = false;
  std::string reason;  // why its deployment is not known; empty when it is
};

class DisaggregatedRows {
 public:
  // CsvError when a column is missing.
  explicit DisaggregatedRows(const base::CsvTable& table);
  DisaggregatedServer row(std::size_t row) const;

 private:
  struct Columns {
    std::size_t workers, tp, attention_dp, moe_tp, moe_ep;
  };
  Columns columns_of(std::string_view pool) const;
  std::int64_t count(std::size_t row, std::size_t column) const;  // 0 when empty
  bool is_inferencex(std::size_t row) const;
  std::int64_t year(std::size_t row) const;
  workloads::Pool recorded(std::size_t row, const Columns& columns) const;
  std::string run_of(std::size_t row) const;
  // The published configuration of a row, with the workers given if any are; nullptr when there is none.
  const Configuration* find(std::size_t row, const workloads::Pools* workers,
                            bool& may_speculate) const;
  void set_limits(std::size_t row, DisaggregatedServer& server) const;

  const base::CsvTable& table_;
  std::size_t stack_, chip_, model_, precision_, isl_, osl_, concurrency_, ttft_, tpot_, date_,
      source_, decode_batch_;
  Columns prefill_, decode_;
  std::map<std::string, std::size_t> recorded_;  // rows with workers by run
};

}  // namespace roofcast::calibrate
