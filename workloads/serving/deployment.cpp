// SPDX-License-Identifier: Apache-2.0
#include "workloads/serving/deployment.hpp"

namespace roofcast::workloads {
namespace {

void read_pool(base::Fields& f, Pool& pool) {
  f.take("system");  // sim/scenario reads it
  f.integer("replicas", pool.replicas, {1.0, 1e6}, base::optional);
  read(f, pool.mapping);
  read_limits(f, pool.limits, base::optional);
}

}  // namespace

void read(base::Fields& f, Deployment& deployment) {
  if (!f.has("prefill")) {
    read(f, deployment.mapping);
    return;
  }
  Pools& pools = deployment.pools.emplace();
  f.group("prefill", [&](base::Fields& g) { read_pool(g, pools.prefill); });
  f.group("decode", [&](base::Fields& g) { read_pool(g, pools.decode); });
  deployment.mapping = pools.decode.mapping;
}

}  // namespace roofcast::workloads
