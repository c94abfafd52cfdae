// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/cost_cache.hpp"

#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::unit_sim_cost_cache {

// More operators than there are places, on two machines by turns, each asked for twice.
TEST_CASE("A cached cost is the cost", "[unit]") {
  const models::Machine& hopper = laws::platform("hgx_h100").machine;
  const models::Machine& blackwell = laws::platform("gb200_nvl72").machine;
  sim::CostCache costs;
  std::size_t different = 0;
  for (const auto& op : laws::operators()) {
    for (const models::Machine* machine : {&hopper, &blackwell, &hopper, &hopper}) {
      const models::Cost cached = costs.of(op, *machine);
      const models::Cost cost = models::cost_of(op, *machine);
      different += cached.time == cost.time && cached.fill == cost.fill &&
                           cached.dram_bytes == cost.dram_bytes && cached.bound == cost.bound
                       ? 0U
                       : 1U;
    }
  }
  CHECK(different == 0);
}

// A machine that was changed after it was copied, at the same address as one that is gone.
TEST_CASE("A cache never takes one machine for another", "[unit]") {
  const models::Machine& hopper = laws::platform("hgx_h100").machine;
  const workloads::Operator op = workloads::Gemm{64, 4096, 4096};
  sim::CostCache costs;
  std::optional<models::Machine> machine = hopper;
  const base::Seconds before = costs.of(op, *machine).time;
  machine = hopper;
  machine->dram = 0.5 * machine->dram;
  CHECK(costs.of(op, *machine).time == models::cost_of(op, *machine).time);
  CHECK(costs.of(op, *machine).time > before);
}

}  // namespace roofcast::unit_sim_cost_cache
