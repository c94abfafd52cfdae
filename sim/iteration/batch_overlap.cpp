// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/batch_overlap.hpp"

#include <algorithm>

#include "base/integers.hpp"

namespace roofcast::sim {

std::optional<HalfBatch> half_of(const ScenarioView& s, const workloads::Batch& batch) {
  const bool exchanges =
      s.model->moe.experts > 0 && s.mapping->expert_ranks() > s.mapping->tensor_parallel;
  if (s.serving->overlap != workloads::Overlap::two_batches || !exchanges ||
      batch.decode_sequences == 1 ||
      (batch.decode_sequences == 0 && batch.prefill_sequences * batch.prefill_tokens < 2)) {
    return std::nullopt;
  }
  HalfBatch half{batch};
  half.batch.decode_sequences = base::ceil_div(batch.decode_sequences, 2);
  half.batch.prefill_sequences = base::ceil_div(batch.prefill_sequences, 2);
  if (batch.prefill_sequences == 1) {
    // The second chunk attends to the first. On average each chunk attends to half of a chunk, a quarter of the prompt.
    half.batch.prefill_tokens = base::ceil_div(batch.prefill_tokens, 2);
    half.batch.cached_tokens = batch.cached_tokens + batch.prefill_tokens / 4;
  } else if (batch.decode_sequences == 0) {
    half.runs =
        base::as_double(batch.prefill_sequences) / base::as_double(half.batch.prefill_sequences);
  }
  return half;
}

// ends is the term min(C, X) / 2L of the header; beyond is C − φ·X. If compute is longer, it stays whole and the
// exchange keeps what occupies SMs, and `ends`. Otherwise the exchange stays whole and compute keeps `ends`.
Exposed exposed(base::Seconds compute, base::Seconds exchange, double free_sms, double layers) {
  if (!(compute.si() > 0.0 && exchange.si() > 0.0)) {
    return {};
  }
  const base::Seconds ends = base::min(compute, exchange) / (2.0 * layers);
  const base::Seconds beyond = compute - free_sms * exchange;
  if (beyond > base::Seconds{}) {
    return {1.0, std::min(1.0, ((1.0 - free_sms) * exchange + ends) / exchange)};
  }
  return {std::min(1.0, ends / compute), 1.0};
}

}  // namespace roofcast::sim
