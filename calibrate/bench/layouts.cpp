// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/layouts.hpp"

#include <stdexcept>

namespace roofcast::bench {
namespace {

// Beside `more`, what every timed kernel has.
std::vector<std::string_view> timed(std::vector<std::string_view> more = {}) {
  std::vector<std::string_view> all = {"latency_ms", "latency_p10_ms", "latency_p90_ms", "samples"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"copy",
       {"op", "bytes", "ctas", "threads_per_cta"},
       timed({"moved_bytes", "bandwidth_gb_per_s"})},
      {"l2",
       {"op", "bytes", "ctas", "threads_per_cta"},
       timed({"moved_bytes", "bandwidth_gb_per_s"})},
      {"arithmetic", {"op", "ctas", "threads_per_cta"}, timed({"operations_per_s"})},
      {"launch",
       {"method", "kernels", "ctas"},
       {"time_us", "time_p10_us", "time_p90_us", "samples"}},
      {"host", {"call", "bytes", "nodes"}, {"time_us", "time_p10_us", "time_p90_us", "samples"}},
      {"in_flight",
       {"ctas_per_sm", "threads_per_cta", "loads_per_thread", "bytes"},
       timed({"in_flight_bytes_per_sm", "bandwidth_gb_per_s"})},
      {"latency",
       {"memory", "load", "footprint_bytes", "stride_bytes"},
       {"latency_ns", "latency_p10_ns", "latency_p90_ns", "samples", "latency_cycles"}},
      {"gemm", {"kernel_source", "gemm_dtype", "m", "n", "k"}, timed({"tflop_per_s"})},
      {"gemm_power",
       {"kernel_source", "gemm_dtype", "m", "n", "k"},
       {"latency_ms", "power_w", "power_limit_w", "power_p10_w", "power_p90_w", "sm_clock_mhz",
        "memory_clock_mhz", "temperature_c", "samples", "tflop_per_s"}},
      {"power",
       {"load", "bytes"},
       {"power_w", "power_limit_w", "power_p10_w", "power_p90_w", "sm_clock_mhz",
        "memory_clock_mhz", "temperature_c", "samples", "bandwidth_gb_per_s"}},
      {"sustained",
       {"load", "m", "n", "k", "bytes", "second"},
       {"latency_ms", "power_w", "power_limit_w", "sm_clock_mhz", "memory_clock_mhz",
        "temperature_c", "samples", "tflop_per_s", "bandwidth_gb_per_s"}},
      {"gemm_backward",
       {"kernel_source", "gemm_dtype", "gradient", "m", "n", "k"},
       timed({"tflop_per_s"})},
      {"attention_context",
       {"kernel_source", "attn_dtype", "kv_cache_dtype", "batch_size", "isl", "prefix_len",
        "num_heads", "num_key_value_heads", "head_dim", "window_size"},
       timed({"tflop_per_s"})},
      {"attention_generation",
       {"kernel_source", "attn_dtype", "kv_cache_dtype", "batch_size", "isl", "kv_len_minus_isl",
        "num_heads", "num_key_value_heads", "head_dim", "window_size"},
       timed({"cache_bandwidth_gb_per_s"})},
      {"elementwise", {"op", "rows", "width"}, timed({"moved_bytes", "bandwidth_gb_per_s"})},
      {"grouped_gemm",
       {"kernel_source", "gemm_dtype", "groups", "m_per_group", "n", "k"},
       timed({"tflop_per_s"})},
      {"grouped_gemm_backward",
       {"kernel_source", "gemm_dtype", "gradient", "groups", "m_per_group", "n", "k"},
       timed({"tflop_per_s"})},
      {"mamba2",
       {"kernel_source", "phase", "batch_size", "seq_len", "num_tokens", "d_model", "d_state",
        "d_conv", "nheads", "head_dim", "n_groups", "chunk_size", "model_name"},
       timed()},
      {"pcie", {"direction", "bytes"}, timed({"bandwidth_gb_per_s"})},
      {"nccl", {"op_name", "nccl_dtype", "num_gpus", "message_elements", "message_bytes"}, timed()},
  };
  return all;
}

const Layout& layout(std::string_view name) {
  for (const Layout& candidate : layouts()) {
    if (candidate.name == name) {
      return candidate;
    }
  }
  throw std::logic_error("no table is called " + std::string(name));
}

std::vector<std::string> Layout::columns() const {
  std::vector<std::string> all = {"system", "fw", "fw_version"};
  all.insert(all.end(), shape.begin(), shape.end());
  all.insert(all.end(), results.begin(), results.end());
  all.emplace_back("reason");
  return all;
}

}  // namespace roofcast::bench
