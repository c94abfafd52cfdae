// SPDX-License-Identifier: Apache-2.0
#include "sim/result/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/no_number.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/scenario/pools.hpp"

namespace roofcast::sim {
namespace {

using base::Watts;
using hardware::Pay;
using hardware::System;

using base::kNoNumber;
constexpr double kJustFed = 1.0 + 1e-12;  // a budget feeds what takes all of it

Watts or_none(const std::optional<Watts>& power) {
  return power.value_or(Watts::from_si(kNoNumber));
}

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

// The GPUs of the forecast: a training has its own number of them.
GpuKinds kinds_of(const ScenarioView& s, const ServingEstimate& e) {
  GpuKinds kinds = gpu_kinds(s);
  if (kinds.size == 1) {
    kinds.of[0].count = e.gpus;
  }
  return kinds;
}

// What a GPU and its part of a host draw while they wait for work, for each second that they serve.
Watts idle_power(const hardware::Prices& p, const Gpus& kind) {
  return (1.0 / p.utilisation - 1.0) *
         (kind.platform->machine.power.rest() + or_none(kind.platform->system.host_power));
}

// `power` is the mean over the GPUs of all kinds. The sum of the kinds is then right.
CostParts parts_of(const hardware::Prices& p, const Gpus& kind, Watts power) {
  const System& system = kind.platform->system;
  const double gpus = static_cast<double>(kind.count);
  CostParts parts;
  if (p.pay == Pay::rental) {
    parts.rent = gpus * (system.price ? system.price->per_gpu.si() : kNoNumber);
    return parts;
  }
  const double purchase = gpus * (system.purchase ? system.purchase->si() : kNoNumber);
  const Watts host = or_none(system.host_power);
  parts.capital = purchase / p.depreciation.si() / p.utilisation;
  parts.upkeep = purchase * p.upkeep / p.utilisation;
  parts.hosting =
      gpus * (p.hosting * (or_none(system.chip.cap_used()) + host)).si() / p.utilisation;
  parts.electricity = gpus * (p.electricity * *p.pue * (power + host + idle_power(p, kind))).si();
  return parts;
}

}  // namespace

const hardware::Prices& prices_of(const ScenarioView& s) {
  static const hardware::Prices rented;
  return s.prices != nullptr ? *s.prices : rented;
}

base::DollarsPerSecond rent(const ScenarioView& s) {
  auto sum = base::DollarsPerSecond::from_si(prices_of(s).pay == Pay::rental ? 0.0 : kNoNumber);
  for (const Gpus& gpus : gpu_kinds(s)) {
    const auto& price = gpus.platform->system.price;
    sum = sum + static_cast<double>(gpus.count) *
                    (price ? price->per_gpu : base::DollarsPerSecond::from_si(kNoNumber));
  }
  return sum;
}

CostParts cost_parts(const ScenarioView& s, const ServingEstimate& e) {
  CostParts parts;
  for (const Gpus& gpus : kinds_of(s, e)) {
    const CostParts own = parts_of(prices_of(s), gpus, e.steady.power);
    parts.rent += own.rent;
    parts.capital += own.capital;
    parts.upkeep += own.upkeep;
    parts.hosting += own.hosting;
    parts.electricity += own.electricity;
  }
  return parts;
}

std::string missing_price(const ScenarioView& s, const ServingEstimate& e) {
  for (const Gpus& gpus : gpu_kinds(s)) {
    const System& system = gpus.platform->system;
    const bool rented = prices_of(s).pay == Pay::rental;
    const std::string_view missing = rented               ? (system.price ? "" : "price")
                                     : !system.purchase   ? "purchase"
                                     : !system.host_power ? "host_power"
                                     : !system.chip.tdp   ? "chip.power.tdp"
                                                          : "";
    if (!missing.empty()) {
      return fmt::format("{}.{}", gpus.key, missing);
    }
  }
  return prices_of(s).pay != Pay::rental && std::isnan(e.steady.power.si())
             ? "the power that it draws"
             : "";
}

std::string missing_power(const ScenarioView& s) {
  const hardware::Prices& prices = prices_of(s);
  if (prices.power_budget && !prices.pue) {
    return "prices.pue";
  }
  for (const Gpus& gpus : gpu_kinds(s)) {
    const System& system = gpus.platform->system;
    if (prices.power_budget && !(system.chip.tdp && system.host_power)) {
      return fmt::format("{}.{}", gpus.key, system.chip.tdp ? "host_power" : "chip.power.tdp");
    }
  }
  return {};
}

std::optional<std::int64_t> gpus_fed(const hardware::Prices& prices, const System& system) {
  const auto cap = system.chip.cap_used();
  if (!prices.power_budget || !prices.pue || !cap || !system.host_power) {
    return std::nullopt;
  }
  const double gpus = *prices.power_budget / (*prices.pue * (*cap + *system.host_power));
  return static_cast<std::int64_t>(std::floor(gpus * kJustFed));
}

std::string priced_with(const ScenarioView& s) {
  for (const Gpus& gpus : gpu_kinds(s)) {
    const System& system = gpus.platform->system;
    const std::string& chip =
        prices_of(s).pay == Pay::rental ? system.price_of : system.purchase_of;
    if (!chip.empty()) {
      return chip;
    }
  }
  return {};
}

Economics economics_of(const ScenarioView& s, const ServingEstimate& e, Workspace& workspace) {
  // With the symbols of the header: prompt_share is w, share is c, of_prompts is w·D per request.
  const hardware::Prices& p = prices_of(s);
  const GpuKinds kinds = kinds_of(s, e);
  Economics r;
  r.usd_per_second = cost_parts(s, e).total();
  if (e.workflow == nullptr) {
    const workloads::Traffic& t = *s.traffic;
    const auto input = static_cast<double>(t.input_tokens);
    const bool agents = t.agents != nullptr;
    const double cached =
        agents ? e.task.prefix_hit_rate * input : static_cast<double>(t.cached_tokens);
    const double usd_per_request = r.usd_per_second / e.steady.requests_per_second * base::mega;
    // With two kinds of GPUs, prompts pay for the first.
    const double prompt_share =
        kinds.size == 1 ? e.steady.prompt_share
                        : parts_of(p, kinds.of[0], e.steady.power).total() / r.usd_per_second;
    const double of_prompts = prompt_share * usd_per_request;
    const bool split = cached > 0.0 && !agents && s.pools == nullptr;
    const double share = split ? cached_share(s, e.steady, workspace) : 0.0;
    r.input_usd_per_mtok = (1.0 - share) * of_prompts / (input - cached);
    r.cached_usd_per_mtok = split ? share * of_prompts / cached : kNoNumber;
    r.output_usd_per_mtok =
        t.output_tokens > 1 ? (usd_per_request - of_prompts) / static_cast<double>(t.output_tokens)
                            : kNoNumber;
  }
  r.reserved = Watts{};
  Watts drawn;
  for (const Gpus& gpus : kinds) {
    const System& system = gpus.platform->system;
    const Watts host = or_none(system.host_power);
    const double site = static_cast<double>(gpus.count) * p.pue.value_or(kNoNumber);
    r.reserved = r.reserved + site * (or_none(system.chip.cap_used()) + host);
    drawn = drawn + site * (e.steady.power + host + idle_power(p, gpus));
  }
  r.co2_g_per_mtok = p.co2_g_per_j.value_or(kNoNumber) * drawn.si() / e.output_rate * base::mega;
  if (p.power_budget && r.reserved.si() > 0.0) {
    const double units = s.pools == nullptr && e.workflow == nullptr
                             ? static_cast<double>(s.serving->replicas)
                             : 1.0;
    r.gpus_in_budget = std::floor(*p.power_budget / (r.reserved / units) * kJustFed) *
                       static_cast<double>(e.gpus) / units;
  }
  return r;
}

}  // namespace roofcast::sim
