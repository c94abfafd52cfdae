// SPDX-License-Identifier: Apache-2.0
#include "cli/answers/estimate_warnings.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/confirm/full_iterations.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {

std::vector<std::string> warnings_of(const sim::Scenario& s, const sim::ServingEstimate& e) {
  std::vector<std::string> warnings;
  if (std::string wait = sim::full_iterations(sim::view(s), e); !wait.empty()) {
    warnings.push_back(std::move(wait));
  }
  if (e.beyond_context > 0.0) {
    warnings.push_back(fmt::format(
        "{:.2g}% of the requests are longer than the context of {} tokens. They are rejected, and "
        "in no figure but the attainment",
        100.0 * e.beyond_context, s.model.max_context));
  }
  return warnings;
}

}  // namespace roofcast::cli
