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

// How a collective moves its bytes: a pattern of the library under one of its protocols, or a kernel of the stack.
enum class Algorithm : std::uint8_t {
  none,
  ring_ll,
  ring_ll128,
  ring_simple,
  tree_ll,
  tree_ll128,
  tree_simple,
  direct_ll,
  direct_simple,
  one_shot,
  two_shot,
  multimem,
  in_switch,
  in_switch_tree,
  in_network,
  pat,
  deduplicated,
  put,
};
inline constexpr int kAlgorithms = 18;
std::string_view name(Algorithm algorithm);  // "ring LL128"; empty for none

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
  base::Bytes message_bytes;              // sent by this rank
  Algorithm algorithm = Algorithm::none;  // of a collective
  Algorithm runner_up = Algorithm::none;  // the next best one, where there is one
  base::Seconds runner_up_time;
  Bound bound = Bound::latency;

  base::Seconds body() const { return time - launch; }
};

// Completes a cost from its terms: time and the largest term.
void combine(Cost& cost, double overlap_exponent);

}  // namespace roofcast::models
