// SPDX-License-Identifier: Apache-2.0
//
// What the clients of a closed loop send while a batch runs. Each iteration with decodes lets r send, whose prompts come
// a delay d later. The first long batch with prompts gathers what the `gap` batches before it let send; `gap` batches
// after it get none.
//
//   symbol   meaning                                                                            unit
//   r        requests that end in an iteration with decodes                                     –
//   gap      batches without prompts in a delay, as far as prompts take longer                  –
//   a        arrivals in a batch without prompts: a + r·gap·(1 − e^(−a)) = r                    –
//   own      requests that a batch with prompts lets send: 0 or r                               –
//   first    share of the batches with prompts that follow one without: it follows from the states, and they from it
#pragma once

#include "base/queueing/batch_queue.hpp"

namespace roofcast::sim {

// Fills in the arrivals of the queue, whose times are known: r requests end in an iteration with decodes, and the next
// prompts of their clients come `delay` later. The queue must outlive the states.
base::queueing::BatchQueueStates states_of_clients(double r, base::Seconds delay,
                                                   base::queueing::BatchQueue& queue);

}  // namespace roofcast::sim
