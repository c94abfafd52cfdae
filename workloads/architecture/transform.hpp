// SPDX-License-Identifier: Apache-2.0
//
// Architectures that differ from another one in one decision, each in one line of a model document:
//
//   model:
//     base: qwen3-235b-a22b
//     expert_granularity: 2                              # twice the experts, each half as wide
//     latent_moe: {ratio: 4, variant: acc}
//     replace_attention: {by: mamba, keep_every: 8}
//     hold: {what: total parameters}
//
// These keys change the dimensions that the other keys of the document give, in this order:
//
//   expert_granularity g   fine-grained experts (DeepSeekMoE, arXiv 2401.06066): experts·g, top_k·g,
//                          intermediate/g. Routed parameters, total and active, stay the same; the router grows.
//   latent_moe             LatentMoE (arXiv 2601.18089) of ratio α: routed experts of width hidden/α, and α
//                          times as many. top_k stays the same (eff) or is α times as large (acc). The parameters
//                          of the routed experts stay the same; active ones are 1/α (eff) or stay (acc). Two
//                          projections hidden × hidden/α are added. α = 1 is the standard mixture.
//   replace_attention      every keep_every-th full attention layer stays, counted from the first; the others get
//                          another mixer. keep_every = 1 is the model itself. A model without dimensions of that
//                          mixer gets the usual ones:
//                            mamba      (Mamba-2, arXiv 2405.21060) twice the hidden width in heads of 64, state
//                                       128, 8 groups, kernel 4, chunks of 128, as in Nemotron-H (arXiv 2504.03624)
//                            delta_net  twice the hidden width in value heads of 128, half as many key heads of
//                                       128, kernel 4, chunks of 64, as in Qwen3-Next
//   hold                   keeps a figure that the changes above alter at its old value, or at `at`: total or active
//                          parameters, by the widths of dense feed-forwards and routed experts, rounded to a
//                          multiple of `multiple_of`; or the cache of a token (iso-KV), by the KV heads of full
//                          attention (MLA: kv_rank).
//
// The quality of an architecture is not predicted: a changed model has no score.
#pragma once

#include "workloads/architecture/architecture.hpp"

namespace roofcast::workloads {

// Reads these keys and makes the changes. A dimension that is no whole number afterwards is a problem.
void transform(base::Fields& f, Architecture& model);

}  // namespace roofcast::workloads
