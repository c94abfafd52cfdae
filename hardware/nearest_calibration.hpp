// SPDX-License-Identifier: Apache-2.0
//
// Finds a calibration for a chip that names none, among those that were fitted to measurements
// (<chip>.<stack>).
//
// The first of these that exists is used:
//
//   1. the chip's own calibration under its serving stack
//   2. the chip's own under another stack
//   3. that of the nearest measured chip of the same vendor. Distance counts, most important first: the kind of
//      memory (HBM or not), generations of architecture, and the logarithms of bandwidth, 16-bit rate and SMs
//   4. the generic parameters, for chips of vendors without a measured chip
//
// In case 1 the calibration is used as it is if the chip is the one of the catalog, without changes. In all other cases
// of 1 to 3 the dimensionless parameters act on the rates of the chip at hand, and the errors are those of transferred
// parameters (`errors` of the generic calibration). Corrections are used only within a generation and a kind of memory,
// where kernels are alike.
#pragma once

#include <string_view>

#include "base/document/node.hpp"

namespace roofcast::hardware {

enum class Measured { own, others };  // others: as if the chip itself had never been measured

// Returns a scalar with the name of a calibration, or {base: …, provenance: transferred}. `chip`: its whole document.
base::Node nearest_calibration(const base::Node& chip, std::string_view stack,
                               Measured measured = Measured::own);

}  // namespace roofcast::hardware
