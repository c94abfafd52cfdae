// SPDX-License-Identifier: Apache-2.0
//
// The operators of an iteration before they are added up: what the sum needs of each, and nothing else.
//
// Only the attention of decodes depends on the context. Everything else of the terms is the same for batches that differ
// in the context alone, and is kept for them (sim/iteration/iteration_cache.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "models/cost.hpp"
#include "models/power.hpp"
#include "models/uncertainty.hpp"
#include "sim/iteration/batch_overlap.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

// All runs of one operator.
struct OperatorTerm {
  base::Seconds time;  // as if nothing hid it
  models::Draw draw;
  double count = 0;
  models::ErrorKind kind = models::ErrorKind::gemm;
  models::Bound bound = models::Bound::latency;
  bool in_layers = true;  // these are as in workloads::Call
  bool overlapped = false;
  bool exchange = false;
  bool hand_over = false;  // from stage to stage
};

// The host's launches of what no CUDA graph covers.
struct Launches {
  base::Seconds hidden;  // the host runs ahead: kernels that take as long hide them
  base::Seconds waited;  // the GPU waits for them, however long its kernels

  // Time in which the GPU waits for the host, beside kernels of this time.
  base::Seconds beside(base::Seconds kernels) const {
    return waited + base::max(base::Seconds{}, hidden - kernels);
  }
};

struct IterationTerms {
  std::vector<OperatorTerm> operators;  // in order, hand-overs last
  Exposed exposed;
  Launches launches;

  // The operators that depend on the context.
  struct OfContext {
    std::size_t at = 0;  // in `operators`
    workloads::Call call;
  };
  std::vector<OfContext> of_context;
  bool keeps_context = true;  // something else depends on it too
};

}  // namespace roofcast::sim
