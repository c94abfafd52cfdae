// SPDX-License-Identifier: Apache-2.0
//
// How far one chip stands from another, in generations of architecture (hardware/architectures).
//
//   distance = |generation − generation'| + 2 · (other kind of memory) + 0.1 · Σ |ln (figure / figure')|
//
// over the figures that both have: bandwidth, SMs, clock, L2, shared memory, TDP, NVLink, and the tensor rate that differs
// most, INT8's apart. So a factor e in one figure counts as a tenth of a generation, and a chip that differs by 0.01 % is 0.00001
// generations away. The kind of memory (MemoryKind, hardware/known_architectures.hpp) stands for the class: on the package,
// as HBM is, for parts of data centres with NVLink, and beside it, as GDDR is, for PCIe cards. HBM3 and HBM4 are alike.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/document/catalog.hpp"
#include "hardware/chip.hpp"
#include "hardware/known_architectures.hpp"

namespace roofcast::hardware {

// The places of figures.
inline constexpr std::size_t kSmsFigure = 1, kClockFigure = 2, kTdpFigure = 5;

// What decides the distance of a chip to others.
struct ChipKind {
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string tensor_instruction;  // empty: not known
  double generation = 0.0;
  MemoryKind memory{};
  bool on_module = false;           // with its processor: another kind of host
  std::array<double, 7> figures{};  // logarithms, of kFigures; NaN: not known
  // Logarithm of B an SM, of the chip before it was changed; NaN: not known.
  double shared_memory = 0.0;
  std::array<double, base::kMathTypes> tensor{};  // logarithms; NaN: not supported
};

// None where the catalog does not have the architecture, or not its generation.
std::optional<ChipKind> kind_of(const base::Node& chip);

// By the figures that the chip had before it was changed (the group `parent`), as far as these are known.
std::optional<ChipKind> kind_before(const base::Node& chip);

double distance(const ChipKind& a, const ChipKind& b);

// Of their hosts: generations stand for years, the kind of memory for the class of server, and a processor on the module of
// the chip counts as two generations.
double host_distance(const ChipKind& a, const ChipKind& b);

// The chip as if its SMs, L2, shared memory and tensor rates were not known: the figures that an architect of its die turns.
ChipKind apart_from_die(ChipKind kind);

// "1 generation later than NVIDIA H100 SXM, bandwidth 2.3 times apart": what counts most.
std::string distance_text(const ChipKind& chip, const ChipKind& from);

}  // namespace roofcast::hardware
