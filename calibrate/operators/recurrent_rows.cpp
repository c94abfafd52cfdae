// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/recurrent_rows.hpp"

#include <algorithm>

namespace roofcast::calibrate {
namespace {

using namespace workloads;

constexpr std::int64_t kDeltaChunk = 64;
constexpr std::int64_t kLeastStirred = 704;

Elementwise convolution(std::int64_t sequences, std::int64_t tokens, std::int64_t least,
                        std::int64_t channels, std::int64_t kernel, bool in_place) {
  const auto rows = static_cast<double>(sequences * tokens * channels);
  const auto kept = static_cast<double>(sequences * channels * (kernel - 1));
  const auto stirred = static_cast<double>(sequences * std::max(tokens, least) * channels);
  const double bytes = 2.0 * (rows + kept);
  Elementwise op{bytes, bytes, 2.0 * static_cast<double>(kernel) * stirred, kernel};
  op.repeated_bytes = in_place ? bytes : bytes + 2.0 * rows;
  return op;
}

}  // namespace

std::optional<Operator> recurrent_operator(
    std::string_view kind, std::string_view kernel, std::string_view stack,
    const std::function<std::int64_t(std::string_view)>& at) {
  const bool ssm = kind == "mamba2";
  const bool trtllm = stack == "trtllm";
  const std::int64_t sequences = at("batch_size");
  const std::int64_t tokens = std::max<std::int64_t>(1, at("seq_len"));
  const RecurrentHeads heads =
      ssm ? RecurrentHeads{Recurrence::ssm, at("nheads"),   at("n_groups"),
                           at("d_state"),   at("head_dim"), NumberFormat::fp32}
          : RecurrentHeads{Recurrence::delta, at("num_v_heads"), at("num_k_heads"),
                           at("head_k_dim"),  at("head_v_dim"),  NumberFormat::fp32};
  if (kernel == "causal_conv1d_fn" || kernel == "causal_conv1d_update") {
    const std::int64_t keys = heads.key_heads * heads.key_dim;
    const std::int64_t channels = !ssm && trtllm ? keys : heads.heads * heads.value_dim + 2 * keys;
    const std::int64_t least = trtllm && kernel == "causal_conv1d_fn" ? kLeastStirred : 1;
    const bool in_place = trtllm || kernel == "causal_conv1d_update";
    return convolution(sequences, tokens, least, channels, at("d_conv"), in_place);
  }
  if (kernel == "mamba_chunk_scan_combined") {
    return StateScan{heads, sequences, tokens, at("chunk_size")};
  }
  if (kernel == "selective_state_update") {
    return StateUpdate{heads, sequences, 1, true};
  }
  if (kernel.starts_with("chunk_gated_delta_rule")) {
    return StateScan{heads, sequences, tokens, kDeltaChunk};
  }
  if (kernel.starts_with("fused_recurrent_gated_delta_rule")) {
    return StateUpdate{heads, sequences, 1, true, trtllm};
  }
  return std::nullopt;
}

}  // namespace roofcast::calibrate
