// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/doubt.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNearSaturation = 0.85;
constexpr double kRare = 0.02;         // share of the prompts
constexpr double kMostRunning = 0.85;  // of the sequences that the KV cache holds

bool has_rare_long_prompts(const ScenarioView& s, const ServingEstimate& e) {
  const workloads::Traffic& t = *s.traffic;
  const std::int64_t budget = s.serving->limits.max_tokens_per_iteration;
  if (s.serving->policy.chunked_prompts || t.input.shape == workloads::Lengths::Shape::fixed ||
      s.pools != nullptr) {
    return false;
  }
  const std::int64_t most = budget + t.cached_tokens;
  const double share = workloads::share_up_to(t.input, most) -
                       workloads::share_up_to(t.input, most - std::llround(e.steady.decode_batch));
  return share > 0.0 && share < kRare && share * e.steady.decode_batch > 0.02;
}

// One client meets no other.
bool is_alone(const workloads::Traffic& t) { return !t.arrivals && t.concurrency <= 1; }

}  // namespace

std::string_view doubt_of(const ScenarioView& s, const ServingEstimate& e) {
  if (!e.fits() || s.training != nullptr) {
    return {};
  }
  const workloads::Traffic& t = *s.traffic;
  const SteadyState& r = e.steady;
  if (t.agents && r.running > kMostRunning * e.max_running) {
    return "turns take nearly all of the KV cache: which contexts stay there decides";
  }
  if (t.arrivals) {
    double most = workloads::mean_rate(*t.arrivals).si();
    for (const base::Hertz rate : t.arrivals->rates) {
      most = std::max(most, rate.si());
    }
    if (r.utilisation > kNearSaturation) {
      return "near saturation";
    }
    if (most > kNearSaturation * r.saturation) {
      return "a phase of the arrivals is near saturation";
    }
    if (r.piles_up) {
      return "nearly all slots are taken, or the queue grows";
    }
    if (r.two_states) {
      return "a burst can lengthen all iterations for good: more sequences and prompts meet in "
             "them";
    }
  }
  if (t.agents) {  // what follows is of clients whose requests do not depend on each other
    return {};
  }
  if (!t.arrivals && r.piles_up) {
    return "clients that began together still spread: the first ones wait longer";
  }
  if (has_rare_long_prompts(s, e)) {
    return "few prompts are so long that they wait for the decodes, and all others behind them";
  }
  const bool alike = squared_variation(t.input) + squared_variation(t.output) == 0.0;
  if (!t.arrivals && alike && s.pools == nullptr &&
      (r.throughput_limit == Limit::host || r.tpot_limit == Limit::host)) {
    return "clients of equal requests at the limit of the front end";
  }
  if (!t.arrivals && alike && s.pools != nullptr && !is_alone(t)) {
    return "clients of equal requests at two pools: which prompts meet depends on each iteration";
  }
  const bool as_long = t.output_tokens > 1 && squared_variation(t.output) == 0.0 &&
                       s.serving->speculation.verified() == 0;
  if (!t.arrivals && as_long && !alike && !is_alone(t)) {
    return "clients whose answers are all as long: those that began together spread over hundreds "
           "of requests";
  }
  return {};
}

}  // namespace roofcast::sim
