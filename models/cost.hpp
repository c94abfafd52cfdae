// SPDX-License-Identifier: Apache-2.0
//
// What one operator takes, term by term, so that a report can say why.
//
//   time = launch + fill + smooth maximum of (compute, dram, l2, network)
//
// with the smooth maximum (Σ tᵖ)^(1/p) ≥ max t. Every term is at least the work divided by the
// datasheet rate, so no operator is ever faster than the speed of light of its chip.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units/quantity.hpp"

namespace roofcast::models {

enum class Bound : std::uint8_t { latency, compute, memory, l2, network };
inline constexpr int kBounds = 5;
std::string_view name(Bound bound);

struct Cost {
  base::Seconds time;     // all of it
  base::Seconds launch;   // starting kernels
  base::Seconds fill;     // pipelines filling and draining, hops
  base::Seconds compute;  // tensor and exponential units
  base::Seconds dram;
  base::Seconds l2;
  base::Seconds network;
  base::Flops flop;  // useful work
  base::Bytes dram_bytes;
  base::Bytes message_bytes;   // sent by this rank
  std::string_view algorithm;  // of a collective; a literal
  std::string_view runner_up;  // the next best algorithm of a collective, where there is one
  base::Seconds runner_up_time;
  Bound bound = Bound::latency;

  base::Seconds body() const { return time - launch; }
};

// Completes a cost from its terms: time and the largest term.
void combine(Cost& cost, double overlap_exponent);

}  // namespace roofcast::models
