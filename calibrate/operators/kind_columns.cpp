// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/kind_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/document/problems.hpp"

namespace roofcast::calibrate {

const std::vector<KindColumns>& kind_columns() {
  static const std::vector<KindColumns> all = {
      {"gemm", "gemm_dtype", {"m", "n", "k"}, {"n", "k"}},
      {"gemm_power",
       "gemm_dtype",
       {"m", "n", "k"},
       {"n", "k"},
       {"latency_ms"},
       {"power_w"},
       {"kernel_source", "power_limit_w"}},
      {"attention_context",
       "kv_cache_dtype",
       {"batch_size", "isl", "prefix_len", "num_heads", "num_key_value_heads", "head_dim",
        "window_size"},
       {"num_heads", "num_key_value_heads", "head_dim", "window_size"},
       {"latency_ms"},
       {},
       {"kernel_source", "attn_dtype"}},
      {"attention_generation",
       "kv_cache_dtype",
       {"batch_size", "isl", "kv_len_minus_isl", "num_heads", "num_key_value_heads", "head_dim",
        "window_size"},
       {"num_heads", "num_key_value_heads", "head_dim", "window_size"},
       {"latency_ms"},
       {},
       {"kernel_source", "attn_dtype"}},
      {"mla_context",
       "kv_cache_dtype",
       {"batch_size", "isl", "step", "num_heads"},
       {"num_heads"},
       {"latency_ms"},
       {},
       {"kernel_source", "mla_dtype", "tp_size"}},
      {"mla_generation",
       "kv_cache_dtype",
       {"batch_size", "isl", "step", "num_heads"},
       {"num_heads"},
       {"latency_ms"},
       {},
       {"kernel_source", "mla_dtype", "tp_size"}},
      {"moe",
       "moe_dtype",
       {"num_tokens", "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size",
        "moe_ep_size"},
       {"hidden_size", "inter_size", "topk", "num_experts"},
       {"latency_ms"},
       {},
       {"kernel_source", "distribution"}},
      {"mamba2",
       "kernel_source",
       {},
       {"d_model", "d_state", "nheads", "head_dim", "n_groups"},
       {"latency_ms"},
       {"batch_size", "seq_len", "d_state", "d_conv", "nheads", "head_dim", "n_groups",
        "chunk_size"},
       {"phase", "num_tokens", "d_model", "model_name"}},
      {"gdn",
       "kernel_source",
       {},
       {"d_model", "num_k_heads", "head_k_dim", "num_v_heads", "head_v_dim"},
       {"latency_ms"},
       {"batch_size", "seq_len", "d_conv", "num_k_heads", "head_k_dim", "num_v_heads",
        "head_v_dim"},
       {"phase", "num_tokens", "d_model", "model_name"}},
      {"deepep_ll",
       "fw",
       {},
       {"hidden_size", "num_topk", "num_experts"},
       {"dispatch_avg_t_us", "combine_avg_t_us"},
       {"node_num", "hidden_size", "num_token", "num_topk"},
       {"num_experts"}},
      {"deepep_normal",
       "fw",
       {},
       {"hidden_size", "num_topk", "num_experts"},
       {"dispatch_transmit_us", "dispatch_notify_us", "combine_transmit_us", "combine_notify_us"},
       {"node_num", "hidden_size", "num_token", "num_topk", "dispatch_sms", "combine_sms"},
       {"num_experts"}},
      {"trtllm_alltoall",
       "moe_dtype",
       {},
       // One layer was measured; so groups are held back.
       {"hidden_size", "topk", "num_experts", "moe_ep_size"},
       {"latency_ms"},
       {"op_name", "num_tokens", "hidden_size", "topk", "moe_ep_size"},
       {"kernel_source", "num_experts", "distribution"}},
      {"custom_allreduce",
       "kernel_source",
       {"num_gpus", "message_bytes"},
       {},
       {"latency_ms"},
       {},
       {"allreduce_dtype", "message_elements"}},
      {"nccl",
       "op_name",
       {"num_gpus", "message_bytes"},
       {},
       {"latency_ms"},
       {},
       {"nccl_dtype", "message_elements"}},
  };
  return all;
}

const KindColumns& columns_of(std::string_view kind) {
  return *std::find_if(kind_columns().begin(), kind_columns().end(),
                       [&](const KindColumns& k) { return k.kind == kind; });
}

namespace {

void add(std::vector<std::string>& columns, const std::vector<std::string_view>& more) {
  for (const std::string_view name : more) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      columns.emplace_back(name);
    }
  }
}

}  // namespace

std::vector<std::string> KindColumns::required() const {
  std::vector<std::string> columns = {"system", "fw"};
  add(columns, {format});
  add(columns, shape);
  add(columns, named);
  add(columns, latencies);
  return columns;
}

std::vector<std::string> KindColumns::all() const {
  std::vector<std::string> columns = {"system", "fw", "fw_version"};
  add(columns, told);
  add(columns, {format});
  add(columns, shape);
  add(columns, named);
  add(columns, latencies);
  return columns;
}

std::string kind_with(const std::vector<std::string>& columns, const std::string& place) {
  const auto has = [&](std::string_view column) {
    return column == "system" || column == "fw" ||
           std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  std::vector<std::string> best;
  std::ptrdiff_t most = 0;
  for (const KindColumns& kind : kind_columns()) {
    const std::vector<std::string> required = kind.required();
    if (!std::all_of(required.begin(), required.end(), has)) {
      continue;
    }
    const std::vector<std::string> all = kind.all();
    const std::ptrdiff_t count = std::count_if(all.begin(), all.end(), has);
    if (count > most) {
      best.clear();
      most = count;
    }
    if (count == most) {
      best.emplace_back(kind.kind);
    }
  }
  if (best.size() != 1) {
    throw base::InputError(fmt::format(
        "{}: error: the columns do not tell the kind of operators: {}; `calibrate import "
        "--kind` says it{}\n",
        place,
        best.empty() ? fmt::format("{}", fmt::join(columns, ", "))
                     : fmt::format("tables of {} have them", fmt::join(best, " and ")),
        best.empty() ? ", its --map and --fill give columns" : ""));
  }
  return best.front();
}

}  // namespace roofcast::calibrate
