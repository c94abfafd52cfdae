// SPDX-License-Identifier: Apache-2.0
//
// Requests for a short sample of a path: drawn, but with exact means.
//
//   lengths   of n requests: the (i + ½)/n quantiles of their distribution, in a random order
//   gaps      drawn, and then scaled, so that n requests take n/λ. With phases (`mmpp`), the sojourns are such quantiles
//             of an exponential distribution, and gaps in a phase are drawn
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

// Times of n requests, of which this share of all arrivals. At least kCycles cycles of phases: where n requests
// are fewer, phases are shorter.
std::vector<base::Seconds> even_arrivals(const Arrivals& arrivals, double share, std::size_t n,
                                         base::Random& random);

}  // namespace roofcast::workloads
