// SPDX-License-Identifier: Apache-2.0
//
// Device memory of the fullest rank of a replica, and what is left of it for the KV cache.
//
//   weights      bytes of the rank's parameters in their formats, on the heaviest pipeline stage
//                  experts, redundant ones too    ÷ (expert_parallel · expert_tensor_parallel)
//                  everything else                ÷ tensor_parallel
//                  whole on every rank            MLA's down projections, the sparse index, latent projections,
//                                                 routers, norms, the vision encoder
//                  KV heads fewer than ranks      a copy on each rank
//                  MLA's expansion                a second time in bf16, for decode
//   activations  an iteration of max_tokens_per_iteration tokens, in bf16
//                  four buffers of the residual width
//                  the widest layer: gate, up and product of its feed-forward, or the projection of a
//                    recurrent mixer; with experts also the rows permuted to them and back
//                  fp32 logits of every running sequence; with speculative decoding, of every token that
//                    an iteration verifies
//   reserve      what the runtime holds, from the stack
//   kv cache     what memory_fraction leaves; the stack says of which memory it is a fraction
//
// A sequence of L tokens holds blocks of block_tokens. Sliding and chunked layers keep at most their window.
// Every tensor-parallel rank holds the whole latent of MLA. Context parallelism cuts the tokens. Recurrent
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
  base::Bytes limit;  // the most that weights, activations, reserve and cache may fill together
  base::Bytes cache;  // left for the KV cache; negative when the rest alone does not fit
  base::Bytes fixed() const { return weights + activations + reserve; }
};

// `others`: weights of other models that stand on the rank too: a draft model (sim/iteration/draft_model.hpp), an embedder.
Footprint footprint(const hardware::Chip& chip, const workloads::Architecture& model,
                    const workloads::Precision& precision, const workloads::Mapping& mapping,
                    const workloads::Serving& serving, base::Bytes others = {});

base::Bytes weight_bytes(const workloads::Architecture& model,
                         const workloads::Precision& precision, const workloads::Mapping& mapping);

// The KV cache that one rank holds of one sequence of `tokens`.
base::Bytes cache_bytes(double tokens, const workloads::Architecture& model,
                        const workloads::Precision& precision, const workloads::Mapping& mapping,
                        std::int64_t block_tokens);

// The recurrent and convolution states that one rank holds of one sequence.
base::Bytes state_bytes(const workloads::Architecture& model, const workloads::Precision& precision,
                        const workloads::Mapping& mapping);

}  // namespace roofcast::models
