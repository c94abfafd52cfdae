// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the fullest rank of a replica, and what is left for the KV cache.
//
//   weights      parameters of the rank's share × their format; experts, redundant ones too, ÷ (expert_parallel ·
//                expert_tensor_parallel), the rest ÷ tensor_parallel (MLA's down projections and KV
//                heads fewer than ranks are repeated; the index, latent projections and routers stand
//                on every rank), of the heaviest pipeline stage; MLA keeps its expansion a second time in bf16, for decode
//   activations  of one step of max_tokens_per_iteration tokens in bf16: four residual-width buffers, and the
//                gate, up and product widths of the widest feed-forward (or a recurrent mixer's
//                projection), with experts also the rows permuted to them and back; fp32 logits of
//                every running sequence
//                (with speculative decoding, of every token that it verifies)
//   reserve      of the runtime, from the stack
//   kv cache     what memory_fraction leaves; of what it is a fraction, the stack says
// One sequence of L tokens holds blocks of block_tokens; sliding and chunked layers keep at most their
// window. MLA's latent is replicated over tensor_parallel; context parallelism cuts the tokens. Recurrent
// layers keep a state of fixed size instead.
#pragma once

#include "base/units/quantity.hpp"
#include "hardware/chip.hpp"
#include "workloads/architecture/architecture.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/architecture/precision.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::models {

struct Footprint {
  base::Bytes weights;
  base::Bytes activations;
  base::Bytes reserve;
  base::Bytes limit;  // what all may fill together
  base::Bytes cache;  // left for the KV cache; negative when the rest alone does not fit
  base::Bytes fixed() const { return weights + activations + reserve; }
};

// `draft`: weights beside the model's (sim/iteration/draft_model.hpp).
Footprint footprint(const hardware::Chip& chip, const workloads::Architecture& model,
                    const workloads::Precision& precision, const workloads::Mapping& mapping,
                    const workloads::Serving& serving, base::Bytes draft = {});

base::Bytes weight_bytes(const workloads::Architecture& model,
                         const workloads::Precision& precision, const workloads::Mapping& mapping);

// KV cache of one sequence of `tokens` on one rank.
base::Bytes cache_bytes(double tokens, const workloads::Architecture& model,
                        const workloads::Precision& precision, const workloads::Mapping& mapping,
                        std::int64_t block_tokens);

// Recurrent and convolution states of one sequence on one rank.
base::Bytes state_bytes(const workloads::Architecture& model, const workloads::Precision& precision,
                        const workloads::Mapping& mapping);

}  // namespace roofcast::models
