// SPDX-License-Identifier: Apache-2.0
//
// Time of attention kernels: FlashAttention-style prefill and split-KV decode.
//
// Prefill. One CTA owns 64 queries of one head and walks the keys in blocks of 128. The shorter of
// matrix products and exponentials hides behind the longer but for a share that is `exposed`:
//   products     = 2·(qk + value)·64·128 / (efficiency · peak)
//   exponentials = 64·128 / exponential rate
//   block = sms · (longer + exposed · shorter)
//   time  = CTAs / sms · ((mean visible keys / 128 + ½) · block + ends) + longest CTA
// ½ is the masked half of the diagonal, `ends` the clocks a CTA takes to start and end. A list of CTAs
// ends no later than its mean load and its longest one (R. L. Graham, 1966), and about then.
//
// Decode. Every byte of the visible cache is read once; the queries that share a KV head ride in one
// tile of rows padded to 64, so grouped heads and absorbed MLA (one shared head) can be compute bound.
// Tiles of one KV head follow each other. A context is split over CTAs until every SM has two of them or a part would be too short:
//   dram    = (cache + min(cache, ramp)) / rate + queries and outputs / streaming rate
//             `ramp` bytes move at half rate while SMs start and end; SMs without a CTA load nothing
//   l2      = the same bytes / L2 rate
//   compute = (2·(qk + value)·padded rows·keys / (efficiency · peak) + exponentials) / SMs with work
//             + tiles of an SM · ends · (1 + (qk + value) / 512)
// Two kernels when the context is split over CTAs, hence two launches. A step that is repeated finds
// in the L2 what was left there: all of its bytes up to two thirds of the capacity, none from 0.88 of it.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

Cost prefill_attention_cost(const workloads::PrefillAttention& op, const Machine& machine);
Cost decode_attention_cost(const workloads::DecodeAttention& op, const Machine& machine);

}  // namespace roofcast::models
