// SPDX-License-Identifier: Apache-2.0
//
// Traffic without the requests that are longer than a model's context. An engine rejects each of them when it comes.
//
//   lengths   those that are drawn, given that input and output together are at most `context` tokens. Each distribution
//             stands for itself, so very few pairs are still too long
//   arrivals  thinned by the share that is left
//
// Where fewer than 1 in 10,000 are too long, or the mean length is, the traffic stays as it is.
#pragma once

#include <cstdint>

#include "workloads/traffic/traffic.hpp"

namespace roofcast::workloads {

// Share of the requests that are longer than `context`. 0 where the traffic stays as it is.
double share_beyond(const Traffic& traffic, std::int64_t context);

// `beyond` is this share.
Traffic within_context(const Traffic& traffic, std::int64_t context, double beyond);

}  // namespace roofcast::workloads
