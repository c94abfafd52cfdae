// SPDX-License-Identifier: Apache-2.0
#include "sim/result/steady_state.hpp"

#include "base/no_number.hpp"

namespace roofcast::sim {

SteadyState no_steady_state() {
  using base::kNoNumber;
  constexpr auto kNever = base::Seconds::from_si(kNoNumber);
  SteadyState none;
  none.ttft_mean = kNever;
  none.ttft_p50 = kNever;
  none.ttft_tail = {kNever, kNever};
  none.tpot_tail = {kNever, kNever};
  none.tpot = kNever;
  none.end_to_end = kNever;
  none.requests_per_second = kNoNumber;
  none.decode_batch = kNoNumber;
  none.tokens_per_iteration = kNoNumber;
  none.prefill_share = kNoNumber;
  return none;
}

}  // namespace roofcast::sim
