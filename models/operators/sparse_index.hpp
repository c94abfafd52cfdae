// SPDX-License-Identifier: Apache-2.0
//
// Time of a sparse attention's index: scores of all earlier keys, then the choice of the best.
//
//   compute = 2·heads·dim·pairs / (prefill tensor efficiency · peak of the keys' format), a query's
//             heads padded to a tile of 64 rows
//   dram    = index keys, queries, and the fp32 scores written and read again by the choice
// Two kernels. Not measured yet: efficiency is that of prefill attention.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

Cost index_scores_cost(const workloads::IndexScores& op, const Machine& machine);

}  // namespace roofcast::models
