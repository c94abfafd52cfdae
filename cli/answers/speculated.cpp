// SPDX-License-Identifier: Apache-2.0
#include "cli/answers/speculated.hpp"

#include <fmt/format.h>

#include "sim/estimate.hpp"
#include "sim/iteration/speculation_gain.hpp"

namespace roofcast::cli {

std::optional<Speculation> speculation(const sim::ScenarioView& view,
                                       const sim::ServingEstimate& e) {
  if (!e.fits() || e.workflow != nullptr || !view.serving->speculation.drafts() ||
      e.steady.tpot.si() <= 0.0) {
    return std::nullopt;
  }
  workloads::Serving none = *view.serving;
  none.speculation = {};
  sim::ScenarioView plain = view;
  plain.serving = &none;
  sim::Workspace workspace;
  const sim::ServingEstimate without = sim::estimate(plain, workspace);
  return Speculation{without.steady.tpot / e.steady.tpot, e.output_rate / without.output_rate,
                     sim::break_even(view, e.steady.decode_iteration.context, workspace)};
}

std::string speculation_text(const workloads::Speculation& s, const Speculation& gain) {
  std::string text = fmt::format(
      "Speculation: {} {}, {:.3g} tokens an iteration; {:.3g} times the interactivity and {:.3g} "
      "times the throughput of none\n",
      s.verified(), s.verified() == 1 ? "draft token" : "draft tokens", s.tokens_per_iteration(),
      gain.tpot, gain.throughput);
  text += fmt::format("Break-even: {}\n",
                      gain.break_even
                          ? fmt::format("with {} sequences on one attention-DP rank an iteration "
                                        "yields no more tokens a second than without",
                                        *gain.break_even)
                          : "none, whatever the batch");
  return text;
}

void add_speculation(const sim::ScenarioView& view, const sim::ServingEstimate& e,
                     nlohmann::ordered_json& json) {
  const std::optional<Speculation> gain = speculation(view, e);
  if (!gain) {
    return;
  }
  nlohmann::ordered_json& said = json["speculation"];
  said["interactivity_ratio"] = gain->tpot;
  said["throughput_ratio"] = gain->throughput;
  said["break_even_batch"] = nlohmann::ordered_json();
  if (gain->break_even) {
    said["break_even_batch"] = *gain->break_even;
  }
}

}  // namespace roofcast::cli
