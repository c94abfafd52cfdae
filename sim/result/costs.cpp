// SPDX-License-Identifier: Apache-2.0
#include "sim/result/costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {
namespace {

using base::Watts;
using hardware::Pay;
using hardware::System;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

const hardware::Prices& prices_of(const ScenarioView& s) {
  static const hardware::Prices rented;
  return s.prices != nullptr ? *s.prices : rented;
}

Watts or_none(const std::optional<Watts>& power) { return power.value_or(Watts::from_si(kNone)); }

// c of the header: share of a prompt's time that attention to its cached tokens takes.
//
//   with     s, the iteration with prompts        without   its batch, with nothing cached
//   decode   s, an iteration without prompts      longer    s, by which cached tokens make it longer
double cached_share(const ScenarioView& scenario, const SteadyState& steady, Workspace& workspace) {
  ScenarioView s = scenario;
  s.launches_ahead = true;
  workloads::Batch without = steady.prefill_iteration;
  without.cached_tokens =
      std::max<std::int64_t>(0, without.cached_tokens - s.traffic->cached_tokens);
  const base::Seconds with = iteration_cost(s, steady.prefill_iteration, workspace).period;
  const base::Seconds decode = steady.prefill_iteration.decode_sequences > 0
                                   ? iteration_cost(s, steady.decode_iteration, workspace).period
                                   : base::Seconds{};
  const base::Seconds longer = with - iteration_cost(s, without, workspace).period;
  return with > decode ? std::clamp(longer / (with - decode), 0.0, 1.0) : 0.0;
}

}  // namespace

base::DollarsPerSecond rent_per_gpu(const ScenarioView& s) {
  const auto& price = s.platform->system.price;
  return price && prices_of(s).pay == Pay::rental ? price->per_gpu
                                                  : base::DollarsPerSecond::from_si(kNone);
}

CostParts cost_parts(const ScenarioView& s, const ServingEstimate& e) {
  const hardware::Prices& p = prices_of(s);
  const double gpus = static_cast<double>(e.gpus);
  CostParts parts;
  if (p.pay == Pay::rental) {
    parts.rent = gpus * rent_per_gpu(s).si();
    return parts;
  }
  const System& system = s.platform->system;
  const double purchase = gpus * (system.purchase ? system.purchase->si() : kNone);
  const Watts host = or_none(system.host_power);
  parts.capital = purchase / p.depreciation.si() / p.utilisation;
  parts.upkeep = purchase * p.upkeep / p.utilisation;
  parts.hosting = gpus * (p.hosting * (or_none(system.chip.tdp) + host)).si() / p.utilisation;
  parts.electricity = gpus * (p.electricity * *p.pue * (e.steady.power + host)).si();
  return parts;
}

std::string missing_price(const ScenarioView& s, const ServingEstimate& e) {
  const System& system = s.platform->system;
  if (prices_of(s).pay == Pay::rental) {
    return system.price ? "" : "system.price";
  }
  return !system.purchase                  ? "system.purchase"
         : !system.host_power              ? "system.host_power"
         : !system.chip.tdp                ? "system.chip.power.tdp"
         : std::isnan(e.steady.power.si()) ? "the power that it draws"
                                           : "";
}

Economics economics_of(const ScenarioView& s, const ServingEstimate& e, Workspace& workspace) {
  // With the symbols of the header: prompt_share is w, share is c, of_prompts is w·D per request.
  const hardware::Prices& p = prices_of(s);
  const System& system = s.platform->system;
  Economics r;
  r.usd_per_second = cost_parts(s, e).total();
  if (e.workflow == nullptr) {
    const workloads::Traffic& t = *s.traffic;
    const auto input = static_cast<double>(t.input_tokens);
    const bool agents = t.agents != nullptr;
    const double cached =
        agents ? e.task.prefix_hit_rate * input : static_cast<double>(t.cached_tokens);
    const double usd_per_request = r.usd_per_second / e.steady.requests_per_second * base::mega;
    const double of_prompts = e.steady.prompt_share * usd_per_request;
    const bool split = cached > 0.0 && !agents && s.pools == nullptr;
    const double share = split ? cached_share(s, e.steady, workspace) : 0.0;
    r.input_usd_per_mtok = (1.0 - share) * of_prompts / (input - cached);
    r.cached_usd_per_mtok = split ? share * of_prompts / cached : kNone;
    r.output_usd_per_mtok =
        t.output_tokens > 1 ? (usd_per_request - of_prompts) / static_cast<double>(t.output_tokens)
                            : kNone;
  }
  const Watts host = or_none(system.host_power);
  const double site = static_cast<double>(e.gpus) * p.pue.value_or(kNone);
  r.reserved = site * (or_none(system.chip.tdp) + host);
  r.co2_g_per_mtok = p.co2_g_per_j.value_or(kNone) * (site * (e.steady.power + host)).si() /
                     e.output_rate * base::mega;
  if (p.power_budget && r.reserved.si() > 0.0) {
    const double units = s.pools == nullptr && e.workflow == nullptr
                             ? static_cast<double>(s.serving->replicas)
                             : 1.0;
    r.gpus_in_budget = std::floor(*p.power_budget / (r.reserved / units) * (1.0 + 1e-12)) *
                       static_cast<double>(e.gpus) / units;
  }
  return r;
}

}  // namespace roofcast::sim
