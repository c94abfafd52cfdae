// SPDX-License-Identifier: Apache-2.0
//
// What chips of one architecture have in common (hardware/architectures): the generation, what an SM does in a clock, and how
// much shared memory the main loop of a GEMM needs: of a library's kernels for the architecture, the steps of operands that are
// on their way at once (models/tile_room.hpp).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"

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

}  // namespace roofcast::hardware
