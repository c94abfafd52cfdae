// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/doubt.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/server.hpp"
#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

constexpr double kNearSaturation = 0.85;
constexpr double kRare = 0.02;  // share of the prompts

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

// Clients that get their answers one after the other, while others begin, hold their mean length. Those in step reach
// their full length together, and the cache must hold that.
bool fill_the_cache_together(const ScenarioView& s, const ServingEstimate& e) {
  const workloads::Traffic& t = *s.traffic;
  if (s.serving->policy.reserves == workloads::Reservation::request) {
    return false;
  }
  const double longest =
      static_cast<double>(t.input_tokens) +
      (1.0 - 0.5 * e.steady.prefill_share) * static_cast<double>(t.output_tokens);
  return e.steady.running * longest >
         e.max_running * static_cast<double>(s.mapping->data_parallel) * held_tokens(s);
}

}  // namespace

std::string_view doubt_of(const ScenarioView& s, const ServingEstimate& e) {
  if (!e.fits() || s.training != nullptr || s.traffic->agents) {
    return {};
  }
  const workloads::Traffic& t = *s.traffic;
  const SteadyState& r = e.steady;
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
  }
  if (has_rare_long_prompts(s, e)) {
    return "few prompts are so long that they wait for the decodes, and all others behind them";
  }
  if (!t.arrivals && squared_variation(t.input) + squared_variation(t.output) == 0.0) {
    if (s.pools == nullptr && s.serving->replicas == 1 &&
        (r.throughput_limit == Limit::host || r.tpot_limit == Limit::host)) {
      return "clients of equal requests at the limit of the front end";
    }
    if (s.pools == nullptr && s.serving->replicas == 1 && fill_the_cache_together(s, e)) {
      return "clients in step fill the KV cache together, and some are preempted";
    }
  }
  return {};
}

}  // namespace roofcast::sim
