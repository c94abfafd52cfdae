// SPDX-License-Identifier: Apache-2.0
#include "models/attention.hpp"

#include <algorithm>
#include <cmath>

#include "models/work.hpp"

namespace roofcast::models {
namespace {

using base::Seconds;

constexpr double kBlock = 128.0;         // queries of a prefill CTA, keys of a block
constexpr double kRowTile = 16.0;        // rows of the smallest matrix instruction
constexpr double kKeysPerSplit = 256.0;  // a decode CTA is not given fewer keys

double peak_of(const Machine& machine, base::NumberFormat cache) {
  return machine.peak[static_cast<std::size_t>(machine.attention_math(cache))].si();
}

void finish(Cost& cost, const Work& work, const Machine& machine) {
  cost.flop = work.flop;
  cost.dram_bytes = work.bytes;
  combine(cost, machine.calibration.overlap_exponent);
}

}  // namespace

Cost prefill_attention_cost(const workloads::PrefillAttention& op, const Machine& machine) {
  const Work work = prefill_attention_work(op);
  const hardware::Calibration& c = machine.calibration;
  const auto& h = op.heads;
  const auto queries = static_cast<double>(op.new_tokens);
  const double visible =
      causal_pairs(op.new_tokens, op.cached_tokens, h.window, h.chunked) / queries;
  const double ctas =
      static_cast<double>(op.sequences * h.query_heads) * std::ceil(queries / kBlock);
  const double mean_blocks = visible / kBlock + 0.5 + c.prefill_overhead_blocks;
  const double longest = std::min(static_cast<double>(op.new_tokens + op.cached_tokens),
                                  h.window > 0 ? static_cast<double>(h.window) + kBlock : 1e18);
  const double longest_blocks = longest / kBlock + c.prefill_overhead_blocks;
  const double block_time =
      machine.sms * (2.0 * static_cast<double>(h.qk_dim + h.value_dim) * kBlock * kBlock /
                         (c.attention_tensor_efficiency * peak_of(machine, h.cache)) +
                     kBlock * kBlock / machine.exponential.si());
  Cost cost;
  cost.launch = c.launch;
  cost.fill = c.prefill_fill_trips * machine.dram_latency;
  cost.compute =
      Seconds::from_si(block_time * std::max(ctas * mean_blocks / machine.sms, longest_blocks));
  // Padded queries keep no loads in flight.
  const double busy =
      static_cast<double>(op.sequences * h.query_heads) * std::max(1.0, queries / kBlock);
  cost.dram = work.bytes / machine.dram_rate(busy);
  finish(cost, work, machine);
  return cost;
}

Cost decode_attention_cost(const workloads::DecodeAttention& op, const Machine& machine) {
  const Work work = decode_attention_work(op);
  const hardware::Calibration& c = machine.calibration;
  const auto& h = op.heads;
  const double keys = visible_keys(h, op.context);
  const auto sequences = static_cast<double>(op.sequences);
  const double groups = sequences * static_cast<double>(h.kv_heads);
  const double rows = static_cast<double>(h.query_heads / h.kv_heads * op.query_tokens);
  const double padded = std::ceil(rows / kRowTile) * kRowTile;
  const double ctas = groups * std::max(1.0, keys / kKeysPerSplit);
  const double occupied = std::min(1.0, ctas / machine.sms);
  const double matrix = 2.0 * static_cast<double>(h.qk_dim + h.value_dim) * padded * groups * keys /
                        (c.decode_tensor_efficiency * peak_of(machine, h.cache));
  const double exponentials = rows * groups * keys / machine.exponential.si();
  Cost cost;
  cost.launch = 2.0 * c.launch;
  cost.fill = c.decode_fill_trips * machine.dram_latency;
  cost.compute = Seconds::from_si((matrix + exponentials) / occupied);
  const base::Bytes cache =
      sequences * base::bytes_of(keys * static_cast<double>(h.cache_elements), h.cache);
  const base::Bytes ramp = c.decode_ramp_bytes_per_sm * machine.sms * base::byte;
  cost.dram = (cache + base::min(cache, ramp)) / machine.dram_rate(ctas) +
              (work.bytes - cache) / machine.dram;
  finish(cost, work, machine);
  return cost;
}

}  // namespace roofcast::models
