// SPDX-License-Identifier: Apache-2.0
//
// Two-batch overlap: a batch is cut into two halves. One half computes while the expert tokens of the other half are
// exchanged (DeepSeek's dual micro-batches, SGLang's --enable-two-batch-overlap, vLLM's --enable-dbo).
//
//   T = max(X, C + (1 − φ)·X) + min(C, X) / 2L
//
//   symbol   meaning                                                                              unit
//   C        compute of both halves in the layers                                                 s
//   X        exchanges of both halves in the layers                                               s
//   φ        share of the SMs that an exchange leaves to the other half                           –
//   L        layers with experts in an iteration                                                  –
//   T        time of the layers                                                                   s
//
// Both halves launch every kernel and read every weight. φ is 1, except for kernels that deduplicate rows: these occupy
// a few SMs. The last term is what nothing hides: the first layer of the first half and the last layer of the second
// half. Everything outside the layers follows in order.
//
// A batch of one decode is not cut. A single prompt is cut into two chunks. Not modelled: a least batch size below
// which a stack does not cut; here all larger batches are cut.
#pragma once

#include <optional>

#include "base/units/quantity.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// The larger half of a batch, if the scenario overlaps two halves and experts are on other ranks. The whole batch takes
// as long as `runs` of it: 2, or fewer if the number of prompts is odd.
struct HalfBatch {
  workloads::Batch batch;
  double runs = 2.0;
};
std::optional<HalfBatch> half_of(const ScenarioView& scenario, const workloads::Batch& batch);

// Shares of the compute time and of the exchange time of the layers that stay exposed.
struct Exposed {
  double compute = 1.0;
  double exchange = 1.0;
};
Exposed exposed(base::Seconds compute, base::Seconds exchange, double free_sms, double layers);

}  // namespace roofcast::sim
