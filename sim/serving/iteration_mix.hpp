// SPDX-License-Identifier: Apache-2.0
//
// Figures of a server that runs two kinds of iterations: decodes alone, and decodes with prompts.
#pragma once

#include "sim/iteration/iteration.hpp"

namespace roofcast::sim {

struct IterationMix {
  const IterationCost& decode;  // an iteration without prompts
  const IterationCost& mixed;   // an iteration with prompts

  // 90 % interval of TPOT. `prefill_interference` is the share of a request's decodes that meet prompts. The iterations
  // of one server err together. Host time between them has no error here.
  models::Spread tpot_spread(double prefill_interference,
                             const models::Uncertainty& uncertainty) const;
  // 90 % interval of TTFT. `served` is its share in iterations, `queued` its share in waits for a slot.
  models::Spread ttft_spread(double served, double queued, models::Spread tpot,
                             const models::Uncertainty& uncertainty) const;
  // Largest part of the time between two tokens, if this share of the iterations carries prompts, and tokens wait for the
  // front end for the share `held_up` of that time.
  Limit limit(double share, double held_up) const;
  // Share of the busy time that prompts add. There are `decodes_per_second` iterations without prompts and
  // `mixed_per_second` with prompts. Without decodes in them, iterations with prompts count in full.
  double prompt_share(double decodes_per_second, double mixed_per_second, bool with_decodes) const;
  // Mean power of one GPU, at most its limit. The iterations per second are shared by `stages` pipeline stages.
  base::Watts power(double decodes_per_second, double mixed_per_second, double stages,
                    const models::PowerRates& rates) const;
};

}  // namespace roofcast::sim
