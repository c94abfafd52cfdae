// SPDX-License-Identifier: Apache-2.0
//
// The `deployment:` section: one mapping for all work, or a pool of replicas for prompts and another for
// answers.
//
//   deployment: {tensor_parallel: 8}                        # aggregated
//   deployment:                                             # disaggregated
//     prefill: {replicas: 2, tensor_parallel: 4}
//     decode: {replicas: 1, data_parallel: 32, expert_parallel: 32, max_sequences: 64}
#pragma once

#include <cstdint>
#include <optional>

#include "base/document/fields.hpp"
#include "workloads/architecture/mapping.hpp"
#include "workloads/serving/serving.hpp"

namespace roofcast::workloads {

// Replicas that do one kind of work, with the limits of `serving:` that they override.
struct Pool {
  Mapping mapping;  // of one replica
  std::int64_t replicas = 1;
  SchedulerLimits limits;  // 0: those of `serving:`

  std::int64_t ranks() const { return replicas * mapping.ranks(); }
};

struct Pools {
  Pool prefill;
  Pool decode;
  std::int64_t ranks() const { return prefill.ranks() + decode.ranks(); }
};

struct Deployment {
  Mapping mapping;             // the decode pool's where there are pools
  std::optional<Pools> pools;  // disaggregated
};

void read(base::Fields& f, Deployment& deployment);

}  // namespace roofcast::workloads
