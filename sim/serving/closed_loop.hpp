// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching when clients wait for their answers and their requests vary.
//
// Each of C clients of a replica sends a prompt when it has its answer. A client meets the other C − 1 as if they
// came at random, at λ' = λ (C−1)/C (sim/serving/iteration_cycles.hpp), as the arrival theorem has it for closed networks:
//
//   decodes     D' = λ'·T of the others while it decodes, T = (O−1)·interval(1 + D') + what came during its prompt
//   first token nobody else decodes with probability (1 − λT/C)^(C−1); else it waits for the rest of a pass
//   slots       no more than n run; who has none waits: λ = n/(first token + T) at most
//   λ           C / (front end + wait for a slot + first token + T), Little's law
//
// The right side falls as λ rises, so bisection finds it. Clients of fixed lengths stay in step instead
// (sim/serving/uniform_closed_loop.hpp). Not modelled: what open loops leave out (sim/serving/open_loop.hpp).
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `slots` as of uniform_closed_loop(); answers of more than one token.
SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace);

}  // namespace roofcast::sim
