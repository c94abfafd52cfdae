// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks and profilers write of a run, told apart by its content:
//
//   client_json     `vllm bench serve --save-result`: one JSON object; with --append-result, and by
//                   sglang.bench_serving --output-file, one a line (calibrate/logs/serving_log.hpp)
//   client_text     what both print: "==== Serving Benchmark Result ====" and "label: number" below
//   trtllm_bench    what trtllm-bench prints: "= PERFORMANCE OVERVIEW" and "label: number" below
//   nccl_tests      what nccl-tests print: lines of size, count, type, …, time, algbw, busbw
//                   (calibrate/logs/collective_log.hpp)
//   training        what Megatron-LM and Megatron Bridge print of iterations (calibrate/logs/training_log.hpp)
//   kernel_summary  `nsys stats --report cuda_gpu_kern_sum --format csv` (calibrate/logs/kernel_profile.hpp)
//   kernel_list     `nsys stats --report cuda_gpu_trace --format csv`
//   kernel_counters `ncu --csv`
//   kernel_trace    a Chrome trace of the PyTorch profiler (Kineto), plain or gzip
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

enum class LogFormat : std::uint8_t {
  client_json,
  client_text,
  trtllm_bench,
  nccl_tests,
  training,
  kernel_summary,
  kernel_list,
  kernel_counters,
  kernel_trace,
};
std::string_view name(LogFormat format);  // as people call it

// InputError when the file cannot be read; from the first also when it is none of these.
LogFormat format_of(const std::filesystem::path& file);
std::optional<LogFormat> known_format(const std::filesystem::path& file);

// Of what a program prints: "Mean TTFT (ms):   172.99" is a label and a value. What srun and the like
// put before a line ("0: ") is not part of it.
struct LogLine {
  std::size_t number = 0;  // 1-based
  std::string_view text;   // without blanks around it
  std::string_view label;  // before the last colon that a value follows; empty where there is none
  std::string_view value;  // behind it
};
std::vector<LogLine> log_lines(std::string_view text);

// The number that a cell is or starts with, "95.00%" 95; "inf" and "Infinity" are numbers. None for "None" and "N/A".
std::optional<double> number_of(std::string_view text);

}  // namespace roofcast::calibrate
