// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/remedy_cost.hpp"

#include <fmt/format.h>

#include "sim/estimate.hpp"
#include "sim/result/training_step.hpp"

namespace roofcast::sim {

std::string remedy_cost(const ServingEstimate& now, const ScenarioView& other) {
  Workspace workspace;
  const ServingEstimate then = estimate(other, workspace);
  if (!then.fits()) {
    return "does not run as the scenario stands: " + reason(then);
  }
  const std::string memory = fmt::format("{:.3g} GB in place of {:.3g} GB on the fullest rank",
                                         then.memory.si() / 1e9, now.memory.si() / 1e9);
  if (now.workflow != nullptr) {
    const double before = now.workflow->step().si();
    const double after = then.workflow->step().si();
    return fmt::format("a step of {:.4g} s in place of {:.4g} s ({:+.1f} %), {}", after, before,
                       100.0 * (after / before - 1.0), memory);
  }
  return fmt::format("{:.4g} tok/s in place of {:.4g} tok/s ({:+.1f} %), {}", then.output_rate,
                     now.output_rate, 100.0 * (then.output_rate / now.output_rate - 1.0), memory);
}

}  // namespace roofcast::sim
