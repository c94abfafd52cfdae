// SPDX-License-Identifier: Apache-2.0
//
// What follows for a chip from its architecture (known_architectures.hpp). By the widths of tensor cores a peak follows from SMs
// and clock:
//
//   peak = SMs · clock · width
//
//   symbol   meaning                                                                                  unit
//   peak     dense products of 16-bit numbers with FP32 sums                                          FLOP/s
//   SMs      or compute units                                                                         –
//   width    FLOP of one SM and clock. An architecture with several kinds of dies has several widths   FLOP
#pragma once

#include <optional>
#include <string>

#include "hardware/chip.hpp"
#include "hardware/known_architectures.hpp"

namespace roofcast::hardware {

// nullptr where nothing is known of it.
const MainLoop* main_loop_of(const Chip& chip);

// The kind of die of its architecture whose width comes nearest; nothing where a width is not known.
std::optional<std::size_t> kind_of_die(const Chip& chip);

// Of the shared memory with the L1: what thread blocks may have. 1 where it is not known.
double usable_shared_memory(const Chip& chip);

// The larger of the peaks of the two 16-bit formats.
base::FlopsPerSecond peak_of_16_bits(const Chip& chip);

// peak / (SMs · clock · width) with the width that comes nearest; nothing where one of them is not known.
std::optional<double> peak_over_width(const Chip& chip);

// One sentence for the document of a chip whose stated 16-bit peak is more than 2 % from that of its SMs, clock and width.
// Empty where it is not, where its notes tell which MHz the peaks are quoted at, and where the chip is as far from them as
// its parent.
std::string peak_note(const base::Node& chip);

}  // namespace roofcast::hardware
