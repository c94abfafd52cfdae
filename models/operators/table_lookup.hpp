// SPDX-License-Identifier: Apache-2.0
//
// Time of looking rows up in embedding tables and adding them up, one kernel for all tables.
//
//   time = launch + fill_trips · DRAM latency + max(DRAM bytes / (lookup_efficiency · DRAM rate), bytes / L2 rate)
//
// A row is read in sectors of 32 bytes. All rows pass the L2; a row that was read before in the same kernel is still
// there when the distinct rows fit in half of it, else it is read from memory again. Rows are chosen evenly: where real traffic
// prefers some, it is faster. Validity: tables in the GPU's memory. None was measured here: its error is taken to be a
// GEMM's; production shapes reach less (2.46 to 2.53 TB/s of 3.9 TB/s, meta-pytorch/torchrec pull request 4757).
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

Cost table_lookup_cost(const workloads::TableLookup& op, const Machine& machine);

}  // namespace roofcast::models
