// SPDX-License-Identifier: Apache-2.0
//
// What steady states say of a server whose passes are of two kinds: decodes alone, and with prompts among them.
#pragma once

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

struct IterationMix {
  const IterationCost& decode;
  const IterationCost& mixed;

  // Of a request's decodes, `met` of which meet prompts. The passes of one server err together; what the host does in
  // between has no error here.
  models::Spread tpot_spread(double prefill_interference,
                             const models::Uncertainty& uncertainty) const;
  // Shares of TTFT: in passes, and waiting for those who decode.
  models::Spread ttft_spread(double served, double queued, models::Spread tpot,
                             const models::Uncertainty& uncertainty) const;
  // Largest part of the mean pass when a share of them carries prompts.
  Limit limit(double share) const;
  // Share of the time that passes take which prompts add to them, at so many passes a second without prompts and
  // with; without decodes beside its prompts a pass is all theirs.
  double prompt_share(double decodes_per_second, double mixed_per_second, bool beside) const;
  // Mean of one GPU of `stages`, not more than its limit, at so many passes a second.
  base::Watts power(double decodes_per_second, double mixed_per_second, double stages,
                    const models::PowerRates& rates) const;
};

}  // namespace roofcast::sim
