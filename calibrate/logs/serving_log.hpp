// SPDX-License-Identifier: Apache-2.0
//
// A benchmark of a server as its client tells it: the load it put on the server, and what it measured.
//
// Sources of the keys and labels: vllm-project/vllm@069c00b docs/benchmarking/cli.md,
// SemiAnalysisAI/InferenceX@24b02df benchmarks/multi_node/results (results of that client),
// sgl-project/sgl-cookbook@922573b docs/autoregressive/NVIDIA/Nemotron3-Nano.md,
// NVIDIA/TensorRT-LLM@04276b4 docs/source/performance/perf-benchmarking.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/logs/measured_log.hpp"

namespace roofcast::calibrate {

struct MeasuredMetric {
  std::string name;    // a column of sim/result/metrics.hpp
  double value = 0.0;  // SI
};

struct ServingLog {
  std::string name;                     // the file; with its line where it holds several results
  std::string model;                    // as the log calls it; empty where it does not
  std::string stack;                    // that was measured, where its client serves no other
  std::optional<std::int64_t> clients;  // most requests at once
  std::optional<double> rate;           // requests a second, where they came by themselves
  double burstiness = 1.0;              // shape of the gamma distribution of their gaps; 1: Poisson
  bool all_at_once = false;             // every request was sent at the start
  std::optional<std::int64_t> requests;  // that were completed
  std::optional<double> input_tokens;    // means of them
  std::optional<double> output_tokens;
  std::optional<std::int64_t> tensor_parallel;
  std::optional<std::int64_t> pipeline_parallel;
  std::optional<std::int64_t> expert_parallel;
  std::optional<std::int64_t> max_sequences;  // of the engine, at once and tokens of one step
  std::optional<std::int64_t> max_tokens_per_iteration;
  std::vector<MeasuredMetric> metrics;
};

// At least one result, each with at least one metric; InputError for what cannot be read.
std::vector<ServingLog> read_serving_logs(const std::filesystem::path& file, LogFormat format);

}  // namespace roofcast::calibrate
