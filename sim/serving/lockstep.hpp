// SPDX-License-Identifier: Apache-2.0
//
// Steady state of continuous batching in a closed loop with answers of equal lengths.
//
// Clients whose prompts are complete in the same iteration get their answers in the same iteration, O iterations later,
// and send their next prompts together. They stay in step for ever. Nothing about it is random, so the groups are
// followed from the first burst on, until each client has had several answers:
//
//   iteration   decodes of all running groups, and waiting prompts, first come, first served, in the rest of the token
//               budget, or alone where the scheduler runs prompts first. With prompts it takes at least what the host's
//               launches do
//   join        prompts that are complete become a group: it decodes in the next O iterations
//   end         the clients of a group have their last token. They send again: messages, request overhead and intake go
//               through the front end one after the other, in the order of their times (sim/serving/lockstep_front_end.hpp)
//   slot        a prompt waits until fewer than n sequences run
//   cache       those in step grow together. If the KV cache is full, the newest sequences lose their place. Before any
//               other prompt, and as soon as the cache has room, their tokens are computed again
//
// TTFT and TPOT are those of the groups of the last requests. A group that ends while a long iteration with prompts runs
// waits for it, and with it every group behind: so a delay of d between an answer and the next prompt can cost d/t
// iterations with prompts, and not d.
//
//   symbol   meaning                                                                            unit
//   O        decode iterations of an answer                                                     –
//   n        slots (sim/serving/server.hpp)                                                     –
//   d        delay from an answer to the next prompt in the scheduler                           s
//   t        iteration without prompts                                                          s
//   k        clients that one of them stands for                                                –
//
// Prompts count with their mean length. Where there would be many groups, one client of k is followed, with an answer of
// O/k iterations: a round has 1/k of the iterations, with prompts and without. What a client does between two answers is
// the same, so the few clients that are there stand for themselves, and not for k. The rate is that of the slots; TTFT
// and TPOT of all clients follow from it by Little's law. The front end falls behind for as long as a round lasts: where
// its work for an iteration takes most of that iteration, nearly all clients are followed, for more rounds.
#pragma once

#include "sim/result/steady_state.hpp"

namespace roofcast::sim {

// `max_running`: sequences of half their answers that the KV cache of a rank holds.
SteadyState lockstep(const ScenarioView& scenario, double max_running, Workspace& workspace);

}  // namespace roofcast::sim
