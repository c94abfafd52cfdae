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

// The form is chosen by its work. Where both have as much, their rates make one up to a tenth slower.
TEST_CASE("Sparse attention to more keys takes no less time", "[laws]") {
  Violations law(0.12);
  workloads::Graph graph;
  for (const char* system : {"hgx_h100", "hgx_h200", "hgx_b200"}) {
    for (const char* id : {"deepseek-v3.2", "glm-5"}) {
      for (const char* format : {"bf16", "fp8_block"}) {
        for (const std::int64_t tokens : {4096, 8000, 32'000, 128'000}) {
          for (const std::int64_t cached : {0, 16'000}) {
            double before = 0.0;
            for (const double share :
                 {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 0.9999, 1.0, 2.0}) {
              const auto top_k =
                  static_cast<std::int64_t>(share * static_cast<double>(tokens + cached));
              workloads::Architecture m = model(id);
              m.attention.index.top_k = top_k;
              workloads::Mapping mapping;
              mapping.tensor_parallel = 8;
              workloads::build_graph(m, precision(format), mapping, {},
                                     {0, 1, 0, 1, tokens, cached}, graph);
              const double now = seconds(graph, platform(system).machine);
              law.add(before / now - 1.0, [&] {
                return fmt::format("{} {} {} {} after {}, top_k {}", system, id, format, tokens,
                                   cached, top_k);
              });
              before = now;
            }
          }
        }
      }
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace roofcast::laws::laws_long_context
