// SPDX-License-Identifier: Apache-2.0
//
// The time of a forward or backward pass of one micro-batch: its operators, as a training framework runs them.
//
//   GEMM       t + (g − 1) · c   c: the part of t that the clock sets (models/power.hpp)
//   experts    Each one's product is a GEMM of its own, which takes at least l.
//   scans      r · t, of recurrent layers, their convolutions too: trainer.recurrence
//
// g ≥ 1 and l are trainer.kernels of the chip whose calibration is used. g is 1 on other chips, and in formats of fewer
// than 16 bits, which were not measured. On other chips, and with training.grouped_experts, one kernel multiplies all
// experts. The energy of a product is that of a burst.
//
// GEMMs of PyTorch with Transformer Engine on a B200, half of them not fitted: tests/validation/training_kernels_test.cpp.
#pragma once

#include <vector>

#include "models/machine.hpp"
#include "models/power.hpp"
#include "models/uncertainty.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/training/host_time.hpp"
#include "workloads/graph/graph.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::sim {

struct Pass {
  base::Seconds embedding, layers, head;
  base::Seconds layer_exchanges, head_exchanges;  // with experts, parts of these
  base::Seconds weight_gradients;                 // a part of them all
  models::Activity activity;
  models::UncertainSum errors;
  HostTime host;
  base::Seconds all() const { return embedding + layers + head; }
};

// Times the operators of a pass. What hides behind the call before it counts with the rest. `costs`: null, or what is known
// of GEMMs already.
Pass timed(const workloads::Graph& graph, const models::Machine& machine,
           const workloads::Training& training, CostCache* costs);

// The operators of a pass in their order, at full clock. An operator that is a kernel for each expert is one such kernel,
// as often as there are experts.
std::vector<OperatorLine> operators_of(const workloads::Graph& graph,
                                       const models::Machine& machine,
                                       const workloads::Training& training);

// One kernel, or one kernel for each expert.
struct TrainingKernel {
  workloads::Operator op;
  models::Cost cost;
  base::MathType math;
  double count = 1;    // kernels
  base::Seconds time;  // of each
};

TrainingKernel training_kernel(const workloads::Operator& op, const models::Machine& machine,
                               const workloads::Training& training, CostCache* costs = nullptr);

}  // namespace roofcast::sim
