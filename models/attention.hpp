// SPDX-License-Identifier: Apache-2.0
//
// Time of attention kernels: FlashAttention-style prefill and split-KV decode.
//
// Prefill. One CTA owns 128 queries of one head and walks the keys in blocks of 128. Matrix
// products and exponentials of a block hardly overlap in time on average, so they add:
//   block  = 2·(qk + value)·128² / (efficiency · peak / sms) + 128² / (exponentials / sms)
//   blocks = sequences · heads · ⌈new/128⌉ · (mean visible keys / 128 + ½ + overhead)
// ½ is the masked half of the diagonal, `overhead` the start and end of a CTA in blocks. The chip
// runs blocks on all SMs when CTAs are many; with fewer CTAs than SMs the longest CTA decides.
//
// Decode. Every byte of the visible cache is read once; the queries that share a KV head ride in one
// tile of rows padded to 16, so grouped heads and absorbed MLA (one shared head) can be compute bound:
//   dram    = (cache + min(cache, ramp)) / rate(CTAs) + queries and outputs / streaming rate
//             `ramp` bytes move at half rate while SMs start and end
//   compute = 2·(qk + value)·padded rows·keys / (efficiency · peak) + exponentials
// Two kernels when the context is split over CTAs, hence two launches.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/operator.hpp"

namespace roofcast::models {

Cost prefill_attention_cost(const workloads::PrefillAttention& op, const Machine& machine);
Cost decode_attention_cost(const workloads::DecodeAttention& op, const Machine& machine);

}  // namespace roofcast::models
