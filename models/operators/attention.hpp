// SPDX-License-Identifier: Apache-2.0
//
// Time of attention kernels: FlashAttention-style prefill and split-KV decode.
//
// Prefill. One CTA owns 64 queries of one head and walks the keys in blocks of 128. Matrix products and
// exponentials overlap: the longer of both counts, and a share `exposed` of the shorter.
//
//   products     = 2·(qk + value)·64·128 / (efficiency · peak)
//   exponentials = 64·128 / exponential rate
//   block        = sms · (longer + exposed · shorter)
//   time         = CTAs / sms · ((mean visible keys / 128 + ½) · block + ends) + longest CTA
//
//   qk, value    –  dimension of a key and of a value of one head
//   efficiency   –  attention_tensor_efficiency; with an fp8 cache times attention_fp8_efficiency
//   block        s  one block of keys on one SM
//   ½            –  blocks: the masked half of the diagonal
//   ends         s  a CTA that starts and ends
//   longest CTA  s  the one with the most keys: keys / 128 · block + ends
//
// 64 queries need room for their sums, in registers or tensor memory, for themselves where tensor instructions read operands
// from shared memory (wgmma, tcgen05; else they stay in registers), and for two blocks of at least 16 keys:
//
//   4 · queries · (value + 16)                                  ≤ registers of the SM
//   queries · qk · bytes of an element + 2 · 16 · bytes of a key  ≤ shared memory that a CTA may have (models/tile_room.hpp)
//
// Every chip of the catalog has it. Where a chip was changed and has not, a CTA owns 32 or 16 queries, and takes as long as
// one of 64, the rows of a matrix instruction.
//
// A list of CTAs ends no later than its mean load plus its longest CTA (R. L. Graham, 1966), and about then.
//
// Decode. Every byte of the visible cache is read once. The queries that share a KV head fill one tile of
// rows, padded to 64, so that grouped heads and absorbed MLA (one shared head) can be compute bound. Each tile
// has CTAs of its own. A context is split over CTAs until every SM has two of them or a part would be too short. Two that run at
// once need room for the queries of both, and a block of keys each. Where a chip was changed and has not, an SM has one, whose
// start and end nothing hides: it is assumed to count as those of two.
// Where the heads share a latent, kernels split it over at most decode_latent_splits CTAs: those of Ampere over one
// (TensorRT-LLM) or four (vLLM), whatever the context.
//
//   dram    = (cache + min(cache, ramp)) / rate + queries and outputs / streaming rate
//   l2      = the same bytes / L2 rate
//   compute = (2·(qk + value)·padded rows·keys / (efficiency · peak) + exponentials) / SMs with work
//             + CTAs of an SM, twice where one runs at once · ends · (1 + (qk + value) / 512)
//
//   cache       B    keys and values that the queries see
//   ramp        B    moved at half rate while SMs start and end; those of the chip that was measured, so that SMs which are
//                    added do not slow the memory down
//   rate        B/s  DRAM rate of the SMs that have a CTA; the others load nothing
//   efficiency  –    decode_tensor_efficiency; with an fp8 cache times attention_fp8_efficiency
//
// Decode has two launches: a context that is split over CTAs needs a second kernel to join the parts. A
// benchmark that repeats the same iteration finds in the L2 what the last one left there: all of its bytes up
// to two thirds of the capacity, none from 0.88 of it.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

Cost prefill_attention_cost(const workloads::PrefillAttention& op, const Machine& machine,
                            Anatomy* anatomy = nullptr);
Cost decode_attention_cost(const workloads::DecodeAttention& op, const Machine& machine,
                           Anatomy* anatomy = nullptr);

}  // namespace roofcast::models
