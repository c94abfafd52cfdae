// SPDX-License-Identifier: Apache-2.0
//
// Two halves of a batch that run against each other: one computes while experts' tokens of the other are
// exchanged (DeepSeek's dual micro-batches, SGLang's --enable-two-batch-overlap, vLLM's --enable-dbo).
//
// Both halves launch every kernel and read every weight. With C the time that both compute and X the time that
// both exchange, in a step of L layers of experts,
//
//   T = max(X, C + (1 − φ)·X) + min(C, X) / 2L
//
// φ is the share of the SMs that an exchange leaves to the other half: all of them, but for kernels that
// deduplicate rows, which keep to a few. The last term is what the first half's first layer and the second half's last
// cannot hide. Everything beside the layers follows in order. Batches of one sequence are not cut,
// prompts of one sequence in two chunks. A stack may have a least size of batch below which it does not cut; here
// all are.
#pragma once

#include <optional>

#include "base/units/quantity.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// The larger half of a batch, where the scenario overlaps two and there are experts on other ranks. `runs` of
// it are the whole: two, or fewer where an odd number of prompts is cut, of which one is shared.
struct HalfBatch {
  workloads::Batch batch;
  double runs = 2.0;
};
std::optional<HalfBatch> half_of(const ScenarioView& scenario, const workloads::Batch& batch);

// Of the layers' times, what is left where the rest is hidden.
struct Exposed {
  double compute = 1.0;
  double exchange = 1.0;
};
Exposed exposed(base::Seconds compute, base::Seconds exchange, double free_sms, double layers);

}  // namespace roofcast::sim
