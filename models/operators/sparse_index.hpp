// SPDX-License-Identifier: Apache-2.0
//
// Time of the index of sparse attention: scores of all earlier keys, then the choice of the best.
//
//   compute = 2·heads·dim·pairs · max(1, 64/heads) / (prefill tensor efficiency · peak of the keys' format)
//   dram    = index keys, queries, and the fp32 scores, written and read again by the choice
//
//   pairs     –  (query, key) pairs
//   64/heads  –  the heads of a query are padded to a tile of 64 rows
//
// Two kernels. Not measured yet: the efficiency is that of prefill attention.
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

Cost index_scores_cost(const workloads::IndexScores& op, const Machine& machine,
                       Anatomy* anatomy = nullptr);

}  // namespace roofcast::models
