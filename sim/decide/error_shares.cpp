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
constexpr std::size_t kTrainer = kServer + 1;
constexpr std::size_t kSources = kTrainer + 1;

std::string name_of(std::size_t source) {
  return source == kPower     ? "power"
         : source == kServer  ? "server"
         : source == kTrainer ? "trainer"
                              : std::string(models::name(static_cast<models::ErrorKind>(source)));
}

void scale(models::Spread& spread, double factor) {
  spread.below *= factor;
  spread.above *= factor;
}
template <class Error>  // of a server or a trainer
void scale(Error& error, double factor) {
  error.low = 1.0 - factor * (1.0 - error.low);
  error.high = 1.0 + factor * (error.high - 1.0);
}

// The estimate with one source's spread times a factor.
ServingEstimate estimate_with(const ScenarioView& scenario, Workspace& workspace,
                              std::size_t source, double factor) {
  Platform platform = *scenario.platform;
  workloads::Serving serving = *scenario.serving;
  workloads::Training training =
      scenario.training == nullptr ? workloads::Training() : *scenario.training;
  models::Uncertainty& u = platform.machine.uncertainty;
  if (source == kServer) {
    for (workloads::ServedErrors* errors : {&serving.stack.errors, &serving.stack.pool_errors}) {
      scale(errors->ttft, factor);
      scale(errors->tpot, factor);
    }
  } else if (source == kTrainer) {
    if (training.trainer.errors) {
      scale(*training.trainer.errors, factor);
    }
  } else {
    scale(source == kPower ? u.power : u.kinds[source], factor);
  }
  ScenarioView s = scenario;
  s.platform = &platform;
  s.serving = &serving;
  s.training = scenario.training == nullptr ? nullptr : &training;
  return estimate(s, workspace);
}

double width(const Metric& metric, const ServingEstimate& e) {
  const Interval90 i = exact_interval90(metric, e);
  return e.fits() ? std::log(i.high / i.low) : NAN;
}

}  // namespace

std::vector<ErrorShare> error_shares(const ScenarioView& scenario, const Metric& metric,
                                     Workspace& workspace) {
  std::vector<ErrorShare> shares;
  const double now = width(metric, estimate_with(scenario, workspace, kPower, 1.0));
  if (!(now > 0.0)) {
    return shares;
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < kSources; ++i) {
    const auto at = [&](double factor) { return estimate_with(scenario, workspace, i, factor); };
    const double share =
        (width(metric, at(1.0 + kStep)) - width(metric, at(1.0 - kStep))) / (2.0 * kStep * now);
    if (share > kNothing) {
      shares.push_back({name_of(i), share, interval90(metric, at(0.0))});
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
