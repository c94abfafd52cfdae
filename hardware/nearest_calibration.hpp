// SPDX-License-Identifier: Apache-2.0
//
// The calibration of a chip that names none, among those fitted to measurements, <chip>.<stack>.
//
// The chip's own under its serving stack; else its own under another stack; else that of the measured chip
// nearest to it: same vendor, then same kind of memory (HBM or not), architecture generations apart, and the
// logarithms of bandwidth, 16-bit rate and SMs. Its dimensionless parameters then act on the rates of the
// chip at hand, and its errors are those of transferred parameters (`errors` of the generic ones). Corrections go
// along only within a generation and a kind of memory, where kernels
// are alike. Chips of vendors nobody measured take the generic parameters.
#pragma once

#include <string_view>

#include "base/document/node.hpp"

namespace roofcast::hardware {

enum class Measured { own, others };  // others: as if the chip itself had never been measured

// A scalar naming a calibration, or {base: …, provenance: transferred}. `chip`: its whole document.
base::Node nearest_calibration(const base::Node& chip, std::string_view stack,
                               Measured measured = Measured::own);

}  // namespace roofcast::hardware
