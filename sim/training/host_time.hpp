// SPDX-License-Identifier: Apache-2.0
//
// The host in a pass of one micro-batch: it launches kernel after kernel while the GPU computes those before.
//
//   host time   o · operators + e · kernels of experts
//               Not counted: what a CUDA graph launches; the sum of gradients, which the product's kernel does; dropout, which
//               is in other kernels.
//   stops       The host reads how many tokens each expert gets before it launches what follows. It is ahead of the GPU up
//               to a mixture's router, never beyond it. Backward passes know the counts.
//
//   forward     max(g + max(G, H + n·c), h + H + n·c)    layers
//   backward    max(g + G, h + H)
//
//   symbol   meaning                                                                              unit
//   g, G     time of the GPU: up to the routers; from the tokens' way to the experts until they are back   s
//   h, H     time of the host for the same                                                        s
//   n        mixtures                                                                             –
//   o, e, c  the trainer's pace.operator, expert_kernel, counts; times pace.overlapped with
//            expert_overlap, where the host goes from one micro-batch to the other and back       s
//
// Without stops, G and H are 0: in models without experts, with one kernel for all experts, in a graph of the whole step.
#pragma once

#include "base/units/quantity.hpp"
#include "workloads/graph/operator.hpp"
#include "workloads/training/training.hpp"

namespace roofcast::sim {

class HostTime {
 public:
  // `on_gpu`: time that the call adds to the layers.
  void add(const workloads::Call& call, base::Seconds on_gpu, const workloads::Training& training);

  // Time for which the GPU waits. The GPU's own times are multiplied by `slower`; of what lies behind the stops, `hidden` is
  // beside another micro-batch.
  base::Seconds forward_waits(double slower, base::Seconds hidden,
                              const workloads::Training& training) const;
  base::Seconds backward_waits(double slower, base::Seconds hidden,
                               const workloads::Training& training) const;

 private:
  base::Seconds gpu_, gpu_behind_;    // g, G
  base::Seconds host_, host_behind_;  // h, H
  double factor(const workloads::Training& training) const {
    return mixes_ && training.expert_overlap ? training.trainer.overlapped : 1.0;
  }

  double stops_ = 0;
  bool mixes_ = false;  // has experts
};

}  // namespace roofcast::sim
