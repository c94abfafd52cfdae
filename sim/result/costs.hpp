// SPDX-License-Identifier: Apache-2.0
//
// Cost and power of a scenario that has been forecast.
//
// Dollars per second of all GPUs follow from hardware/prices.hpp and the mean power of the forecast. They are divided
// among tokens:
//
//   cost     = D / X                 all of it on output tokens
//   output   = (1−w)·D / X           the part of decodes
//   input    = w·(1−c)·D / Y         the part of prompts
//   cached   = w·c·D / Z             the part of attention to cached tokens
//
//   symbol   meaning                                                                                     unit
//   D        dollars per second of all GPUs                                                              USD/s
//   X        output tokens per second                                                                    tok/s
//   Y        new input tokens per second                                                                 tok/s
//   Z        cached input tokens per second                                                              tok/s
//   w        prompt_share (sim/serving/iteration_mix.hpp): share of the GPUs' time that prompts
//            add to iterations; with two pools, share of the GPUs that compute prompts, and of their
//            cost if the pools are on unlike systems                                                     –
//   c        share of a prompt's time that it would not take without the tokens in the prefix cache      –
//
// A request pays its input, cached and output tokens at these prices, and nothing else. Idle time is shared like busy
// time. For agents and for two pools, the price of new input tokens includes the cost of cached ones.
//
// Power. A site must be able to deliver the reserved power. It draws less:
//
//   reserved               = n·(cap + host)·PUE
//   drawn                  = n·(mean power + host + (1/u − 1)·(idle power + host))·PUE
//   tokens per s and MW    = X / reserved
//   CO2                    = drawn · grid / X
//   under a power budget   = ⌊budget / reserved of one replica⌋ replicas, each as in this forecast
//
// n is the number of GPUs; u is the share of the time in which they serve (hardware/prices.hpp); cap is the `power.cap` of a chip, or its TDP; grid is grams of CO2 per joule. A figure is NaN if
// anything that it needs is not known, such as the power of a host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/result/serving_estimate.hpp"

namespace roofcast::sim {

// USD/s, all GPUs. NaN if it is not known.
struct CostParts {
  double rent = 0;
  double capital = 0;
  double upkeep = 0;
  double hosting = 0;
  double electricity = 0;
  double total() const { return rent + capital + upkeep + hosting + electricity; }
};
CostParts cost_parts(const ScenarioView& scenario, const ServingEstimate& estimate);

// USD/s of all GPUs of the scenario if they are rented, whatever they do. NaN if GPUs are bought.
base::DollarsPerSecond rent(const ScenarioView& scenario);

// The key that is missing for the cost. Empty if the cost is known.
std::string missing_price(const ScenarioView& scenario, const ServingEstimate& estimate);

// The key that is missing for what a power budget feeds. Empty if that is known, and without a budget.
std::string missing_power(const ScenarioView& scenario);

// GPUs that the power budget feeds, each with its host, at their limit. Nothing without a budget, or where a power is not
// known.
std::optional<std::int64_t> gpus_fed(const hardware::Prices& prices,
                                     const hardware::System& system);

// Those of the scenario; where it has none, GPUs are rented.
const hardware::Prices& prices_of(const ScenarioView& scenario);

// The chip that the paid price is of, where it was changed or replaced since; empty where the price is that of the system.
std::string priced_with(const ScenarioView& scenario);

// Prices of tokens, power and CO2 of the forecast.
Economics economics_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                       Workspace& workspace);

}  // namespace roofcast::sim
