// SPDX-License-Identifier: Apache-2.0
//
// What chips of one architecture have in common (hardware/architectures): the generation, what an SM does in a clock, and how
// much shared memory the main loop of a GEMM needs: of a library's kernels for the architecture, the steps of operands that are
// on their way at once (models/tile_room.hpp).
//
// An architecture may have several kinds of dies. Lists of `sm` have a value for each kind. What stands in `assumed` has no
// document behind it.
//
// Kinds of memory are the other names that place a chip among others (hardware/chip_distance.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"
#include "base/units/quantity.hpp"

namespace roofcast::hardware {

struct MainLoop {
  std::string instruction;  // Chip::tensor_instruction of the dies that it is for; empty: of all
  base::Bytes depth;        // of one step, in the wider operand
  double stages = 0.0;      // steps on their way or in use
};

struct ChipArchitecture {
  std::string name;
  double generation = 0.0;     // NaN: not known
  std::vector<double> widths;  // FLOP of one SM and clock; empty: not known
  // Of each kind of die, or empty: FP32 FLOP of one SM and clock; of the shared memory with the L1 what thread blocks may have;
  // FLOP of each format over those of 16 bits.
  std::vector<double> vector_widths;
  std::vector<double> usable_shared_memory;
  std::array<std::vector<double>, base::kMathTypes> formats{};
  std::vector<MainLoop> main_loops;
};

void read(base::Fields& f, ChipArchitecture& architecture);

// nullptr where the architecture is not in the catalog.
const ChipArchitecture* architecture_called(const std::string& id);

// The key `architecture` of a chip. Reports one that the catalog does not have.
void read_architecture(base::Fields& f, std::string& id);

base::Catalog architecture_catalog();

// The kind of a chip's memory: the `type` of its `hbm`, for example HBM3e. It is a family, in capital or small letters, and then
// perhaps a generation, which does not start with a letter. It changes no rate: these are figures of the chip.
//
//   on the package      HBM, stacked DRAM, SRAM
//   beside the package  GDDR, LPDDR, DDR
struct MemoryKind {
  std::string_view family;
  bool on_package = false;
};
// None where the family is not known.
std::optional<MemoryKind> memory_kind(std::string_view type);
// unknown kind of memory "HBN3"; expects HBM, …; did you mean "HBM3"?
std::string unknown_memory_text(std::string_view type);

}  // namespace roofcast::hardware
