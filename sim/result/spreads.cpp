// SPDX-License-Identifier: Apache-2.0
#include "sim/result/spreads.hpp"

#include <algorithm>

#include "base/no_number.hpp"

namespace roofcast::sim {

// `first` is the share of TTFT in the end-to-end latency.
Spreads spreads_of(const ScenarioView& s, const SteadyState& steady,
                   const workloads::ServedErrors& servers) {
  const auto of_servers = [](const workloads::ServedError& e) {
    return models::Spread{1.0 - e.low, e.high - 1.0};
  };
  Spreads r;
  r.ttft = models::together(steady.ttft_spread, of_servers(servers.ttft));
  r.tpot = models::together(steady.tpot_spread, of_servers(servers.tpot));
  r.interactivity = models::inverse(r.tpot);
  const double first = steady.ttft_mean / steady.end_to_end;
  r.end_to_end = {first * r.ttft.below + (1.0 - first) * r.tpot.below,
                  first * r.ttft.above + (1.0 - first) * r.tpot.above};
  r.cost = r.end_to_end;
  r.rate = models::inverse(r.end_to_end);
  if (is_open(steady)) {
    const double arrivals = steady.utilisation * steady.saturation;
    const double least = std::min(arrivals, steady.saturation * (1.0 - r.rate.below));
    r.rate = {std::max(0.0, 1.0 - least / steady.requests_per_second),
              std::max(0.0, arrivals / steady.requests_per_second - 1.0)};
    r.cost = models::inverse(r.rate);
  }
  r.power = s.platform->machine.uncertainty.power;
  r.energy = models::together(r.power, r.cost);
  return r;
}

Spreads no_spreads() {
  using base::kNoNumber;
  constexpr models::Spread kNoSpread{kNoNumber, kNoNumber};
  return {kNoSpread, kNoSpread, kNoSpread, kNoSpread, kNoSpread,
          kNoSpread, kNoSpread, kNoSpread, kNoSpread};
}

Spreads training_spreads(models::Spread operators, const workloads::Trainer& trainer) {
  Spreads r = no_spreads();
  if (trainer.errors) {
    r.step = models::together(operators, {1.0 - trainer.errors->low, trainer.errors->high - 1.0});
    r.end_to_end = r.cost = r.step;
    r.rate = models::inverse(r.step);
  }
  return r;
}

}  // namespace roofcast::sim
