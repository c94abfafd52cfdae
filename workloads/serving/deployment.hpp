// SPDX-License-Identifier: Apache-2.0
//
// The `deployment:` section: one mapping for all work, or one pool of replicas for prefill and another for
// decode.
//
//   deployment: {tensor_parallel: 8}                        # aggregated
//   deployment:                                             # disaggregated
//     prefill: {replicas: 2, tensor_parallel: 4}           # `system:` too, read by sim/scenario
//     decode: {replicas: 1, data_parallel: 32, expert_parallel: 32, max_sequences: 64}
#pragma once

#include <cstdint>
#include <optional>

#include "base/document/fields.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::workloads {

// Replicas that do one kind of work. They may override the limits of `serving:`.
struct Pool {
  Mapping mapping;  // of one replica
  std::int64_t replicas = 1;
  SchedulerLimits limits;  // 0: the limit of `serving:`

  std::int64_t ranks() const { return replicas * mapping.ranks(); }
};

struct Pools {
  Pool prefill;
  Pool decode;
  std::int64_t ranks() const { return prefill.ranks() + decode.ranks(); }
};

struct Deployment {
  Mapping mapping;             // that of the decode pool where there are pools
  std::optional<Pools> pools;  // disaggregated
};

void read(base::Fields& f, Deployment& deployment);

}  // namespace roofcast::workloads
