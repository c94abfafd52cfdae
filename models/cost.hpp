// SPDX-License-Identifier: Apache-2.0
//
// The time of one operator, term by term, so that a report can say what bounds it.
//
//   time = launch + fill + (Σ tᵖ)^(1/p)     over t = compute, dram, l2, network
//
//   launch   s  starting the kernels
//   fill     s  pipelines that fill and drain; the hops of a collective
//   compute  s  tensor cores and exponential units
//   dram     s  bytes to and from device memory
//   l2       s  bytes through the L2
//   network  s  bytes through the port of this rank
//   p        –  overlap_exponent of the calibration
//
// The smooth maximum (Σ tᵖ)^(1/p) is at least max t. Every term is at least the work divided by the datasheet
// rate. So no operator is ever faster than the speed of light of its chip.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units/quantity.hpp"

namespace roofcast::models {

enum class Bound : std::uint8_t { latency, compute, memory, l2, network };
inline constexpr int kBounds = 5;
std::string_view name(Bound bound);

// How a collective moves its bytes: an algorithm of the library with one of its protocols, or a kernel of the stack.
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
  base::Seconds time;  // the whole operator
  base::Seconds launch;
  base::Seconds fill;
  base::Seconds compute;
  base::Seconds waiting;  // the part of `compute` that waits for a latency, which no clock sets
  base::Seconds dram;
  base::Seconds l2;
  base::Seconds network;
  base::Flops flop;  // useful work, without padding
  base::Bytes dram_bytes;
  base::Bytes message_bytes;              // sent by this rank
  Algorithm algorithm = Algorithm::none;  // the one that a collective takes
  Algorithm runner_up = Algorithm::none;  // the second fastest; none where there is only one
  base::Seconds runner_up_time;           // of the whole operator with the runner-up
  Bound bound = Bound::latency;

  base::Seconds body() const { return time - launch; }
};

// Sets `time` and `bound` from the terms.
void combine(Cost& cost, double overlap_exponent);

}  // namespace roofcast::models
