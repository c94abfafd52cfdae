// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/error_shares.hpp"

#include <algorithm>
#include <cmath>

#include "sim/estimate.hpp"

namespace roofcast::sim {
namespace {

constexpr double kStep = 0.01;
constexpr double kNothing = 1e-6;
constexpr std::size_t kPower = models::kErrorKinds;
constexpr std::size_t kServer = kPower + 1;
constexpr std::size_t kSources = kServer + 1;

std::string name_of(std::size_t source) {
  return source == kPower    ? "power"
         : source == kServer ? "server"
                             : std::string(models::name(static_cast<models::ErrorKind>(source)));
}

void scale(models::Spread& spread, double factor) {
  spread.below *= factor;
  spread.above *= factor;
}
void scale(workloads::ServedError& error, double factor) {
  error.low = 1.0 - factor * (1.0 - error.low);
  error.high = 1.0 + factor * (error.high - 1.0);
}

// The interval with one source's spread times a factor.
Interval90 interval_with(const ScenarioView& scenario, const Metric& metric, Workspace& workspace,
                         std::size_t source, double factor) {
  Platform platform = *scenario.platform;
  workloads::Serving serving = *scenario.serving;
  models::Uncertainty& u = platform.machine.uncertainty;
  if (source == kServer) {
    for (workloads::ServedErrors* errors : {&serving.stack.errors, &serving.stack.pool_errors}) {
      scale(errors->ttft, factor);
      scale(errors->tpot, factor);
    }
  } else {
    scale(source == kPower ? u.power : u.kinds[source], factor);
  }
  ScenarioView s = scenario;
  s.platform = &platform;
  s.serving = &serving;
  const ServingEstimate e = estimate(s, workspace);
  return e.fits() ? interval90(metric, e) : Interval90{NAN, NAN};
}

double width(Interval90 i) { return std::log(i.high / i.low); }

}  // namespace

std::vector<ErrorShare> error_shares(const ScenarioView& scenario, const Metric& metric,
                                     Workspace& workspace) {
  std::vector<ErrorShare> shares;
  const double now = width(interval_with(scenario, metric, workspace, kPower, 1.0));
  if (!(now > 0.0)) {
    return shares;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < kSources; ++i) {
    const auto at = [&](double factor) {
      return interval_with(scenario, metric, workspace, i, factor);
    };
    const double share = (width(at(1.0 + kStep)) - width(at(1.0 - kStep))) / (2.0 * kStep * now);
    if (share > kNothing) {
      shares.push_back({name_of(i), share, at(0.0)});
      sum += share;
    }
  }
  for (ErrorShare& each : shares) {
    each.share /= sum;
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const ErrorShare& a, const ErrorShare& b) { return a.share > b.share; });
  return shares;
}

}  // namespace roofcast::sim
