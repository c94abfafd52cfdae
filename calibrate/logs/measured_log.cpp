// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/measured_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/csv/csv.hpp"
#include "base/csv/packed_stream.hpp"
#include "base/document/problems.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::size_t kHead = 1U << 18U;  // bytes of a JSON document that tell what it is

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// "0: " and "[1,0]<stdout>:", by which srun and mpirun tell whose line it is.
std::string_view without_rank(std::string_view line) {
  const std::size_t end = line.find_first_not_of("0123456789");
  if (end != 0 && end != std::string_view::npos && line[end] == ':') {
    return trimmed(line.substr(end + 1));
  }
  constexpr std::string_view kStdout = "<stdout>:";
  if (line.starts_with('[') && line.find(kStdout) != std::string_view::npos) {
    return trimmed(line.substr(line.find(kStdout) + kStdout.size()));
  }
  return line;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string head_of(const std::filesystem::path& file) {
  base::PackedStream in(file);
  std::string head(kHead, '\0');
  in.read(head.data(), static_cast<std::streamsize>(kHead));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

std::optional<LogFormat> format_of_text(std::string_view text) {
  if (has(text, "Total Time (ns)") && has(text, "Instances")) {
    return LogFormat::kernel_summary;
  }
  if (has(text, "Start (ns)") && has(text, "Duration (ns)")) {
    return LogFormat::kernel_list;
  }
  if (has(text, "\"Kernel Name\"") &&
      (has(text, "\"Metric Name\"") || has(text, "\"gpu__time_duration.sum\""))) {
    return LogFormat::kernel_counters;
  }
  if (has(text, "algbw") && has(text, "busbw")) {
    return LogFormat::nccl_tests;
  }
  if (has(text, "elapsed time per iteration (ms)")) {
    return LogFormat::training;
  }
  if (has(text, "= PERFORMANCE OVERVIEW")) {
    return LogFormat::trtllm_bench;
  }
  if (has(text, " Serving Benchmark Result ")) {
    return LogFormat::client_text;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(LogFormat format) {
  switch (format) {
    case LogFormat::client_json:
      return "result of a vLLM or SGLang benchmark";
    case LogFormat::client_text:
      return "output of a vLLM or SGLang benchmark";
    case LogFormat::trtllm_bench:
      return "output of trtllm-bench";
    case LogFormat::nccl_tests:
      return "output of nccl-tests";
    case LogFormat::training:
      return "log of a training by Megatron";
    case LogFormat::kernel_summary:
      return "kernel summary of Nsight Systems";
    case LogFormat::kernel_list:
      return "list of kernels of Nsight Systems";
    case LogFormat::kernel_counters:
      return "counters of Nsight Compute";
    case LogFormat::kernel_trace:
      return "trace of the PyTorch profiler";
  }
  return "";
}

std::optional<LogFormat> known_format(const std::filesystem::path& file) {
  const std::string head = head_of(file);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const char opening = first == std::string::npos ? '\0' : head[first];
  if (opening == '{' || opening == '[') {
    if (has(head, "\"traceEvents\"") || has(head, "\"ph\"") || has(head, "\"deviceProperties\"")) {
      return LogFormat::kernel_trace;
    }
    if (opening == '{' &&
        (has(head, "_ttft_ms\"") || has(head, "_tpot_ms\"") ||
         has(head, "\"request_throughput\"") || has(head, "\"output_throughput\""))) {
      return LogFormat::client_json;
    }
  }
  std::optional<LogFormat> format = format_of_text(head);
  if (!format && head.size() == kHead && opening != '{' && opening != '[') {
    format = format_of_text(base::read_text(file));
  }
  return format;
}

LogFormat format_of(const std::filesystem::path& file) {
  const std::optional<LogFormat> format = known_format(file);
  if (!format) {
    throw base::InputError(fmt::format(
        "{}: error: expects a log: a result of `vllm bench serve` or sglang.bench_serving (JSON or "
        "what they print), what trtllm-bench, nccl-tests or Megatron print, the CSV of nsys stats "
        "cuda_gpu_kern_sum or cuda_gpu_trace, that of ncu, or a trace of the PyTorch profiler\n",
        file.string()));
  }
  return *format;
}

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    LogLine line{number, without_rank(trimmed(text.substr(0, end))), {}, {}};
    if (const std::size_t colon = line.text.rfind(':'); colon != std::string_view::npos) {
      line.label = trimmed(line.text.substr(0, colon));
      line.value = trimmed(line.text.substr(colon + 1));
    }
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  if (text == "inf" || text == "Infinity") {
    return std::numeric_limits<double>::infinity();
  }
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() || *end == '%' ||
                     std::isspace(static_cast<unsigned char>(*end)) != 0;
  return status == std::errc{} && whole && std::isfinite(value) ? std::optional(value)
                                                                : std::nullopt;
}

}  // namespace roofcast::calibrate
