// SPDX-License-Identifier: Apache-2.0
//
// The steps of which iteration_cost (sim/iteration/iteration.hpp) puts an iteration together. Nobody else calls them.
#pragma once

#include "sim/iteration/iteration_terms.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

struct IterationCost;
struct IterationTime;
struct Workspace;

// The operators of the model's own part of an iteration.
void fill(IterationTerms& terms, const ScenarioView& scenario, const workloads::Batch& batch,
          Workspace& workspace);

// The terms of a batch, from those of one that differs in its context alone.
void set_context(IterationTerms& terms, const ScenarioView& scenario, const workloads::Batch& batch,
                 Workspace& workspace);

// They are added up, with the host time. The host is overlapped with the draft model too, which runs for `drafting`.
IterationCost added_up(const IterationTerms& terms, const ScenarioView& scenario,
                       const workloads::Batch& batch, base::Seconds drafting);

// An iteration whose GPU takes no time.
IterationTime launches_alone(const ScenarioView& scenario, const workloads::Batch& batch,
                             Workspace& workspace);

}  // namespace roofcast::sim
