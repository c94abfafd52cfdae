// SPDX-License-Identifier: Apache-2.0
//
// Contexts up to a million tokens.
#include <cmath>

#include "models/footprint.hpp"
#include "models/operators/operator_cost.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"

namespace roofcast::laws::laws_long_context {
namespace {

constexpr std::int64_t kContexts[] = {1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20};

double seconds(const workloads::Graph& graph, const models::Machine& machine) {
  double sum = 0.0;
  for (const workloads::Call& call : graph) {
    sum += call.count * models::cost_of(call.op, machine).time.si();
  }
  return sum;
}

}  // namespace

// Corrections of decode attention fade beyond what was measured and may fall a little on the way.
TEST_CASE("Up to a million tokens of context, a step and its cache are finite and never shrink",
          "[laws]") {
  Violations time(0.05);
  Violations cache(1e-12);
  workloads::Graph graph;
  for (const char* system : {"hgx_h200", "hgx_b200", "mi300x_x8"}) {
    const sim::Platform& p = platform(system);
    for (const auto& m : models()) {
      for (const std::int64_t tensor : {1, 4}) {
        workloads::Mapping mapping;
        mapping.tensor_parallel = tensor;
        if (workloads::fault_of(m, mapping) != workloads::MappingFault::none) {
          continue;
        }
        double before = 0.0;
        double kept = 0.0;
        for (const std::int64_t context : kContexts) {
          const auto where = [&] {
            return fmt::format("{} {} TP{} {}", system, m.id, tensor, context);
          };
          workloads::build_graph(m, precision("bf16"), mapping, {}, {4, 1, context}, graph);
          const double now = seconds(graph, p.machine);
          time.add(std::isfinite(now) ? before / now - 1.0 : 1.0, where);
          const double bytes =
              models::cache_bytes(static_cast<double>(context), m, precision("bf16"), mapping, 16)
                  .si();
          cache.add(std::isfinite(bytes) && bytes >= kept ? 0.0 : 1.0, where);
          before = now;
          kept = bytes;
        }
      }
    }
  }
  ROOFCAST_CHECK_LAW(time);
  ROOFCAST_CHECK_LAW(cache);
}

}  // namespace roofcast::laws::laws_long_context
