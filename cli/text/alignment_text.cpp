// SPDX-License-Identifier: Apache-2.0
#include "cli/text/alignment_text.hpp"

#include <fmt/format.h>

#include "sim/result/alignment.hpp"

namespace roofcast::cli {

std::string alignment_text(const sim::ScenarioView& scenario,
                           const sim::ServingEstimate& estimate) {
  std::string out;
  for (const sim::Misalignment& m : sim::misalignments(scenario, estimate)) {
    std::string neighbours;
    for (const sim::AlignedWidth& aligned : {m.below, m.above}) {
      if (aligned.gain >= sim::kLeastGain) {
        neighbours += fmt::format(
            "{}{} would take {:.1f}% less time for {}", neighbours.empty() ? "" : ", ",
            aligned.width, 100.0 * aligned.gain, m.depth ? "each of its depth" : "each column");
      }
    }
    out += fmt::format(
        "warning: {} ({:.1f}% of an iteration with prompts) has {} {} on a rank, which "
        "wastes a part of a tile: {}\n",
        m.call, 100.0 * m.share, m.depth ? "a depth of" : "a width of", m.width, neighbours);
  }
  return out;
}

}  // namespace roofcast::cli
