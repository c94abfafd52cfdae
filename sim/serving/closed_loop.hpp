// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop with requests of different lengths.
//
// Each of C clients of a replica sends a prompt when it has its answer. By the arrival theorem of closed networks, a
// client finds the other C − 1 as if they arrived at random, at the rate λ' = λ (C−1)/C
// (sim/serving/iteration_cycles.hpp):
//
//   decodes      D' = λ'·T, others that decode while a request decodes.  T = (O−1)·interval(1 + D') + m
//   first token  No other request decodes with probability (1 − λT/C)^(C−1). Otherwise a request waits for the rest of
//                an iteration
//   slots        At most n requests run. The others wait: λ ≤ n/(F + T)
//   λ            C / (front end + wait for a slot + F + T), Little's law
//
//   symbol    meaning                                                                           unit
//   λ         requests that a replica completes                                                 1/s
//   T         time for which a request decodes                                                  s
//   F         from the scheduler's queue to the first token                                     s
//   O         tokens of an answer; O−1 are its decode iterations                                tokens
//   interval  time between decodes of a sequence, with 1 + D' decodes                           s
//   m         prefill interference of prompts that arrived during the request's own prompt      s
//   n         slots                                                                             –
//
// The right side of the last equation falls as λ rises, so bisection finds λ. Clients with requests of equal lengths
// stay synchronised; sim/serving/uniform_closed_loop.hpp has these. Not modelled: what open_loop.hpp leaves out.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` is as in uniform_closed_loop(). Answers have more than one token.
SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
