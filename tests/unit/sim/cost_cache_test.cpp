// SPDX-License-Identifier: Apache-2.0
#include "sim/iteration/cost_cache.hpp"

#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/catalog.hpp"

using namespace roofcast;

// More operators than there are places, on two machines by turns, each asked for twice.
TEST_CASE("A remembered cost is the cost", "[unit]") {
  const models::Machine& hopper = laws::platform("hgx_h100").machine;
  const models::Machine& blackwell = laws::platform("gb200_nvl72").machine;
  sim::CostCache costs;
  std::size_t different = 0;
  for (const auto& op : laws::operators()) {
    for (const models::Machine* machine : {&hopper, &blackwell, &hopper, &hopper}) {
      const models::Cost remembered = costs.of(op, *machine);
      const models::Cost cost = models::cost_of(op, *machine);
      different += remembered.time == cost.time && remembered.fill == cost.fill &&
                           remembered.dram_bytes == cost.dram_bytes &&
                           remembered.bound == cost.bound
                       ? 0U
                       : 1U;
    }
  }
  CHECK(different == 0);
}
