// SPDX-License-Identifier: Apache-2.0
//
// Time to look up rows in embedding tables and add them up, one kernel for all tables.
//
//   time = launch + fill_trips · DRAM latency + max(DRAM bytes / (lookup_efficiency · DRAM rate), bytes / L2 rate)
//
// A row is read in sectors of 32 bytes. All rows go through the L2. A row that was read before in the same
// kernel is still there when the distinct rows fit in half of the L2. Of more of them fewer are, of as many as the whole L2
// none: those are read from memory again (models/operators/elementwise.hpp). Rows are chosen evenly: real traffic that prefers
// some rows is faster.
//
// Validity: tables in the GPU's memory. No lookup was measured here: its error is assumed to be that of a
// GEMM. Production shapes reach less (2.46 to 2.53 TB/s of 3.9 TB/s, meta-pytorch/torchrec pull request
// 4757).
#pragma once

#include "models/cost.hpp"
#include "models/machine.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::models {

struct Anatomy;  // filled where there is one

Cost table_lookup_cost(const workloads::TableLookup& op, const Machine& machine,
                       Anatomy* anatomy = nullptr);

}  // namespace roofcast::models
