// SPDX-License-Identifier: Apache-2.0
#include "sim/result/alignment.hpp"

#include <algorithm>

#include "base/integers.hpp"
#include "models/operators/operator_cost.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;

constexpr std::int64_t kColumns = 128;  // columns of a large GEMM's tile
constexpr std::int64_t kDepth = 64;

// Time per column (or per unit of depth), if the width is replaced by another.
template <class Gemm>
base::Seconds time_of_one(Gemm op, std::int64_t Gemm::*side, std::int64_t width,
                          const models::Machine& machine) {
  op.*side = width;
  return models::physical_cost_of(op, machine).time / as_double(width);
}

// Compares a width that is not a multiple of a tile with the multiples below and above it. Keeps it if one of them
// gains enough.
template <class Gemm>
void examine(const Gemm& op, std::int64_t Gemm::*side, bool depth, const models::Machine& machine,
             Misalignment found, std::vector<Misalignment>& all) {
  const std::int64_t tile = depth ? kDepth : kColumns;
  found.depth = depth;
  found.width = op.*side;
  if (found.width % tile == 0) {
    return;
  }
  const base::Seconds now = time_of_one(op, side, found.width, machine);
  const auto at = [&](std::int64_t width) {
    return width == 0 ? AlignedWidth{}
                      : AlignedWidth{width, 1.0 - time_of_one(op, side, width, machine) / now};
  };
  found.below = at(found.width / tile * tile);
  found.above = at((found.width / tile + 1) * tile);
  const bool known = std::any_of(all.begin(), all.end(), [&](const Misalignment& m) {
    return m.call == found.call && m.depth == found.depth && m.width == found.width;
  });
  if (std::max(found.below.gain, found.above.gain) >= kLeastGain && !known) {
    all.push_back(found);
  }
}

}  // namespace

std::vector<Misalignment> misalignments(const ScenarioView& scenario,
                                        const ServingEstimate& estimate) {
  using workloads::Gemm;
  using workloads::GroupedGemm;
  const models::Machine& machine = scenario.platform->machine;
  const auto lines = iteration_operators(scenario, estimate.steady.prefill_iteration);
  base::Seconds step;
  for (const OperatorLine& line : lines) {
    step += line.time;
  }
  std::vector<Misalignment> all;
  for (const OperatorLine& line : lines) {
    Misalignment found;
    found.call = line.call.name;
    found.share = line.time / step;
    if (const auto* gemm = std::get_if<Gemm>(&line.call.op)) {
      examine(*gemm, &Gemm::n, false, machine, found, all);
      examine(*gemm, &Gemm::k, true, machine, found, all);
    } else if (const auto* grouped = std::get_if<GroupedGemm>(&line.call.op)) {
      examine(*grouped, &GroupedGemm::n, false, machine, found, all);
      examine(*grouped, &GroupedGemm::k, true, machine, found, all);
    }
  }
  return all;
}

}  // namespace roofcast::sim
