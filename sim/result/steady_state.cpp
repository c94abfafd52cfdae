// SPDX-License-Identifier: Apache-2.0
#include "sim/result/steady_state.hpp"

#include <limits>

namespace roofcast::sim {

SteadyState no_steady_state() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr auto kNever = base::Seconds::from_si(kNone);
  SteadyState none;
  none.ttft_mean = kNever;
  none.ttft_p50 = kNever;
  none.ttft_tail = {kNever, kNever};
  none.tpot_tail = {kNever, kNever};
  none.tpot = kNever;
  none.end_to_end = kNever;
  none.requests_per_second = kNone;
  none.decode_batch = kNone;
  none.tokens_per_iteration = kNone;
  none.prefill_share = kNone;
  return none;
}

}  // namespace roofcast::sim
