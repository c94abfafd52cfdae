// SPDX-License-Identifier: Apache-2.0
//
// What chips of one architecture have in common (hardware/architectures): the generation, and the widths of their tensor
// cores. By these a peak follows from SMs and clock:
//
//   peak = SMs · clock · width
//
//   symbol   meaning                                                                                  unit
//   peak     dense products of 16-bit numbers with FP32 sums                                          FLOP/s
//   SMs      or compute units                                                                         –
//   width    FLOP of one SM and clock. An architecture with several kinds of dies has several widths   FLOP
//
// They also say how much shared memory the main loop of a GEMM needs: of a library's kernels for the architecture, the steps
// of operands that are on their way at once (models/tile_room.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "hardware/chip.hpp"

namespace roofcast::hardware {

struct MainLoop {
  std::string instruction;    // Chip::tensor_instruction of the dies that it is for; empty: of all
  base::Bytes depth;          // of one step, in the wider operand
  double stages = 0.0;        // steps on their way or in use
  double usable_share = 1.0;  // of the shared memory with the L1: what thread blocks may have
};

struct ChipArchitecture {
  std::string name;
  double generation = 0.0;     // NaN: not known
  std::vector<double> widths;  // FLOP of one SM and clock; empty: not known
  std::array<double, base::kMathTypes>
      formats{};                      // FLOP of each over those of 16 bits; 0: not known
  std::vector<double> vector_widths;  // FP32 FLOP of one SM and clock, of each of the widths
  std::vector<MainLoop> main_loops;
};

// nullptr where the architecture is not in the catalog.
const ChipArchitecture* architecture_called(const std::string& id);

base::Catalog architecture_catalog();

// nullptr where nothing is known of it.
const MainLoop* main_loop_of(const Chip& chip);

// The larger of the peaks of the two 16-bit formats.
base::FlopsPerSecond peak_of_16_bits(const Chip& chip);

// peak / (SMs · clock · width) with the width that comes nearest; nothing where one of them is not known.
std::optional<double> peak_over_width(const Chip& chip);

// One sentence for the document of a chip whose stated 16-bit peak is more than 2 % from that of its SMs, clock and width.
// Empty where it is not, where its notes tell which MHz the peaks are quoted at, and where the chip is as far from them as
// its parent.
std::string peak_note(const base::Node& chip);

}  // namespace roofcast::hardware
