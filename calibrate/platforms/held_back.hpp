// SPDX-License-Identifier: Apache-2.0
//
// Which shapes of a table only judge: about a fifth of them, whole, drawn by a hash of a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace roofcast::calibrate {

// What the text is of. Shapes are drawn one by one, so that each is a neighbour of fitted ones. Layers are drawn with all
// their shapes (OperatorRows::layer): what a model has that nobody measured.
enum class Split { shapes, layers };

// The same on every machine.
std::uint64_t draw_of(std::string_view shape);
inline bool held_back(std::uint64_t draw) { return draw % 5 == 0; }
// Any of them is drawn.
bool held_back_layer(std::span<const std::string> dimensions);

}  // namespace roofcast::calibrate
