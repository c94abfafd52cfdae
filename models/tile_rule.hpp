// SPDX-License-Identifier: Apache-2.0
//
// Which rule the kernels of a GEMM take their tiles by. models/operators/fixed_tiles.hpp has the rules.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/units/number_format.hpp"

namespace roofcast::models {

enum class TileRule : std::uint8_t { none, by_rows, by_waves };

// Of the kernels of a stack, for a format of both operands.
TileRule tile_rule(std::string_view stack, std::string_view tensor_instruction,
                   base::NumberFormat format);

}  // namespace roofcast::models
