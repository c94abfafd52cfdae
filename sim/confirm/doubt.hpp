// SPDX-License-Identifier: Apache-2.0
//
// Where an estimate may be far off (more than two times, seldom ten), and says so: regimes in which rare events or details that the
// estimate leaves out decide. tests/validation/agreement_test.cpp and `calibrate validate simulation` count estimates that
// are off without such a doubt.
//
//   near saturation      open loop at a utilisation of more than 0.85: queues depend on 1 % of a time
//   busy phase           the busiest phase of arrivals has more than 0.85 of the saturation
//   piling up            arrivals take more than 0.85 of the slots, or the later half of those that are followed stays twice
//                        as long as the earlier half: the true saturation is lower than the estimated one
//   two states           open loop: iterations that are longer than estimated keep themselves so, with more sequences and
//                        prompts in each: beyond the sizes of CUDA graphs the host launches operator by operator; or
//                        requests that wait for more of them come to few sequences or to many
//   agents               turns take more than 0.85 of the KV cache: the contexts of others have no room, and the fewer are
//                        found the more there is to compute
//   rare long prompts    a scheduler that does not cut prompts has some that leave less of the budget than decodes take,
//                        but fewer than one in 50: one delays all others for seconds
//   front end            clients of equal requests, and the front end is the bound: who is in step with whom depends on
//                        each message
//   equal, two pools     clients of equal requests at two pools: they start together, and how fast they spread depends on
//                        each iteration; TTFT p95 was twice too long
//   answers as long      clients whose prompts alone differ: those that begin together are so for hundreds of requests, and
//                        their prompts meet; TTFT p95 was 1.5 times that of a long simulation
//   ranks and stages     several attention-DP ranks or pipeline stages, where requests are not followed on them: latencies
//                        were up to four times too short, or three times too long
//   priorities           are left out
#pragma once

#include <string_view>

#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// Why, in some words; empty if there is no doubt.
std::string_view doubt_of(const ScenarioView& scenario, const ServingEstimate& estimate);

}  // namespace roofcast::sim
