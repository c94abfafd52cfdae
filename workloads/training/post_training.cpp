// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/post_training.hpp"

namespace roofcast::workloads {

void read(base::Fields& f, PostTraining& rl) {
  f.integer("responses", rl.responses, {1.0, 1e7});
  f.integer("samples", rl.samples, {1.0, 1e6}, base::optional);
  f.integer("prompt_tokens", rl.prompt_tokens, {1.0, 1e8});
  read(f, "response_tokens", rl.response);
  f.group("rollout", [&](base::Fields& g) {
    g.integer("replicas", rl.replicas, {1.0, 1e6}, base::optional);
    read(g, rl.rollout);
  });
  f.choice<Placement>("placement", rl.placement,
                      {{"colocated", Placement::colocated}, {"split", Placement::split}},
                      base::optional);
  f.choice<Packing>("packing", rl.packing,
                    {{"by size", Packing::by_size}, {"in order", Packing::in_order}},
                    base::optional);
  f.integer("off_policy_steps", rl.off_policy_steps, {0.0, 1e3}, base::optional);
  f.integer("logprob_passes", rl.logprob_passes, {0.0, 10.0}, base::optional);
  f.integer("seed", rl.seed, {0.0, 1e15}, base::optional);
}

}  // namespace roofcast::workloads
