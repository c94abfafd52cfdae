// SPDX-License-Identifier: Apache-2.0
//
// The most requests per second of a replica whose queue is never empty.
//
// D sequences decode. In an iteration D/O answers end and as many prompts begin, if the iteration has room for them. The
// queue fills all slots that memory and the budget of an iteration allow, and the rate is the one with so many. With fewer
// it can be somewhat higher, by the steps of kernels: the best is taken, up to kDip. A deeper dip is real. Prompts beside
// more decodes no longer fit in a CUDA graph, and a server that got there does not come back.
//
//   symbol   meaning                                                                            unit
//   D        sequences that decode in a replica, in m micro-batches on R ranks                  –
//   O        decode iterations of an answer                                                     –
//   n        slots: sequences that run at once                                                  –
//   b        prompts that begin in an iteration: D/(m·O)                                        –
//   M(D)     prompts that fit beside D decodes                                                  –
//   c        iterations of a prompt: its tokens over those of an iteration, at least 1          –
//   s        share of iterations with prompts: 1 − e^(−b·c) at random, at least b/M             –
//   T(D, k)  period of an iteration with k prompts                                              s
//   t(D)     from a token to the next: m·T, T = (1 − s)·T(D, 0) + s·T(D, b/s)                   s
//            prompts that run first: T = T(D, 0) + s·T(0, b/s)
//
//   λ = D / (O·t(D))   where b ≤ M(D) and D + λ·(own time of a prompt) ≤ n
//
// A prompt that must not be cut leaves the rest of an iteration empty. How many fit is counted with a sample of lengths.
// In a pipeline an iteration waits for a longer one before it: it is as long as the longer of the two.
//
// Ends of answers are taken as random. Equal answers of a server that fills at once stay in step: their prompts come
// together, and the simulation serves up to twice as many. With arrivals at random it does not get there.
#pragma once

#include "sim/iteration/iteration_costs.hpp"

namespace roofcast::sim {

struct ReplicaSlots {
  double slots = 0;    // n
  double decodes = 0;  // O; 0: answers of one token
};

base::Hertz saturation_of(const ScenarioView& scenario, IterationCosts& costs, ReplicaSlots slots);

}  // namespace roofcast::sim
