// SPDX-License-Identifier: Apache-2.0
//
// How much of a time has the cause that limits it. The cause itself is a text column (sim/result/metrics.cpp).
#include "base/no_number.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/metric_validity.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {
namespace {

double share_of_limit(const ServingEstimate& e, std::string_view metric) {
  const double share = e.causes != nullptr ? limited(e, metric).share : 0.0;
  return share > 0.0 ? share : base::kNoNumber;
}

constexpr std::string_view kDescription =
    "share of its time that has the cause that limits it; empty where that is a wait";
constexpr std::string_view kFormula =
    "time of the cause / time of the iterations. It is an elasticity: a cause that gets 1 % "
    "shorter "
    "makes the time shorter by this share of 1 %";

constexpr Metric kLimitMetrics[] = {
    {.name = "limited_share_ttft",
     .label = "TTFT limit, share",
     .unit = "",
     .description = kDescription,
     .formula = kFormula,
     .validity = validity::kLatency,
     .value = [](const ServingEstimate& e) { return share_of_limit(e, "ttft"); },
     .of_causes = true,
     .scope = Scope::serving},
    {.name = "limited_share_tpot",
     .label = "TPOT limit, share",
     .unit = "",
     .description = kDescription,
     .formula = kFormula,
     .validity = validity::kLatency,
     .value = [](const ServingEstimate& e) { return share_of_limit(e, "tpot"); },
     .of_causes = true,
     .scope = Scope::serving},
    {.name = "limited_share_throughput",
     .label = "Throughput limit, share",
     .unit = "",
     .description = kDescription,
     .formula = kFormula,
     .validity = validity::kRates,
     .value = [](const ServingEstimate& e) { return share_of_limit(e, "throughput"); },
     .of_causes = true,
     .scope = Scope::serving},
    {.name = "limited_share_step",
     .label = "Step limit, share",
     .unit = "",
     .description = kDescription,
     .formula = "time of the cause / step_s. It is an elasticity, as of limited_share_tpot",
     .validity = validity::kTraining,
     .value = [](const ServingEstimate& e) { return share_of_limit(e, "step"); },
     .of_training = true,
     .of_causes = true,
     .scope = Scope::step},
};

}  // namespace

std::span<const Metric> limit_metrics() { return kLimitMetrics; }

}  // namespace roofcast::sim
