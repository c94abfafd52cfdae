// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/iteration_mix.hpp"

namespace roofcast::sim {

models::Spread IterationMix::tpot_spread(double prefill_interference,
                                         const models::Uncertainty& uncertainty) const {
  const models::Spread of_decode = decode.spread(uncertainty);
  const models::Spread of_mixed = mixed.spread(uncertainty);
  // Share of the time of a request's decodes in iterations with prompts.
  const double share =
      prefill_interference * mixed.latency /
      ((1.0 - prefill_interference) * decode.latency + prefill_interference * mixed.latency);
  return {(1.0 - share) * of_decode.below + share * of_mixed.below,
          (1.0 - share) * of_decode.above + share * of_mixed.above};
}

models::Spread IterationMix::ttft_spread(double served, double queued, models::Spread tpot,
                                         const models::Uncertainty& uncertainty) const {
  const models::Spread of_mixed = mixed.spread(uncertainty);
  return {served * of_mixed.below + queued * tpot.below,
          served * of_mixed.above + queued * tpot.above};
}

Limit IterationMix::limit(double share, double held_up) const {
  IterationCost mean;
  base::Seconds all;
  for (std::size_t i = 0; i < mean.by_limit.size(); ++i) {
    const base::Seconds time = (1.0 - share) * decode.by_limit[i] + share * mixed.by_limit[i];
    mean.by_limit[i] = (1.0 - held_up) * time;
    all += time;
  }
  mean.by_limit[static_cast<std::size_t>(Limit::host)] += held_up * all;
  return mean.limit();
}

double IterationMix::prompt_share(double decodes_per_second, double mixed_per_second,
                                  bool with_decodes) const {
  const base::Seconds prompts =
      with_decodes ? base::max(base::Seconds{}, mixed.period - decode.period) : mixed.period;
  return mixed_per_second * prompts /
         (decodes_per_second * decode.period + mixed_per_second * mixed.period);
}

base::Watts IterationMix::power(double decodes_per_second, double mixed_per_second, double stages,
                                const models::PowerRates& rates) const {
  // The energies are those of one rank of each stage, so one GPU has one part in `stages` of them.
  const base::Joules per_second =
      mixed_per_second * mixed.energy_above_idle + decodes_per_second * decode.energy_above_idle;
  const base::Watts mean = rates.rest() + per_second / stages / base::second;
  return mean > rates.limit ? rates.limit : mean;
}

}  // namespace roofcast::sim
