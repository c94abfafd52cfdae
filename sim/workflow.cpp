// SPDX-License-Identifier: Apache-2.0
#include "sim/workflow.hpp"

#include <limits>

namespace roofcast::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

SteadyState no_steady_state() {
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
  none.tokens_per_step = kNone;
  none.prefill_share = kNone;
  return none;
}

Spreads no_spreads() {
  constexpr models::Spread kUnknown{kNone, kNone};
  return {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
}

}  // namespace roofcast::sim
