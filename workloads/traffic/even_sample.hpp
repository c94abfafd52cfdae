// SPDX-License-Identifier: Apache-2.0
//
// Requests for a short sample of a path: drawn, but with exact means.
//
//   lengths   of n requests: the (i + ½)/n quantiles of their distribution, in a random order
//   gaps      drawn, and then changed so that n requests take n/λ, and the shares of the first halves, of their first
//             halves and so on have the variance of the process: bursts of all lengths are as usual. With phases (`mmpp`),
//             the sojourns are such quantiles of an exponential distribution, of whole cycles
//
//   symbol   meaning                                                                            unit
//   n        requests                                                                           –
//   λ        requests per second                                                                1/s
#pragma once

#include <cstdint>
#include <vector>

#include "base/statistics/random.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"

namespace roofcast::workloads {

void shuffle(std::vector<double>& values, base::Random& random);

// The (i + ½)/n quantiles, ascending.
std::vector<double> quantiles(const Lengths& lengths, std::size_t n);

// Lengths of n requests. A fixed length is `mean`.
std::vector<double> even_lengths(const Lengths& lengths, std::int64_t mean, std::size_t n,
                                 base::Random& random);

// How many requests have at least kCycles cycles of phases: n or more, but at most `most`.
std::size_t whole_cycles(const Arrivals& arrivals, double share, std::size_t n, std::size_t most);

// Times of n requests, of which this share of all arrivals. Where n requests are fewer than kCycles cycles, phases are
// shorter. They may be repeated after n/λ.
std::vector<base::Seconds> even_arrivals(const Arrivals& arrivals, double share, std::size_t n,
                                         base::Random& random);

}  // namespace roofcast::workloads
