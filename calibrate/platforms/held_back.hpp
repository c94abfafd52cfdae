// SPDX-License-Identifier: Apache-2.0
//
// Which shapes of a table only judge: about a fifth of them, whole, drawn by a hash of a text.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::calibrate {

// What the text is of. Shapes are drawn one by one, so that each is a neighbour of fitted ones. Layers are drawn with all
// their shapes (OperatorRows::layer): what a model has that nobody measured.
enum class Split { shapes, layers };

// The same on every machine.
std::uint64_t draw_of(std::string_view shape);
inline bool held_back(std::uint64_t draw) { return draw % 5 == 0; }
// Any of its dimensions is drawn.
bool held_back_layer(std::span<const std::string> dimensions);

// Of the layers of one table those that judge: the drawn ones. Few may be none, or all of them: then it is the one with the
// lowest hash alone.
class HeldBackLayers {
 public:
  explicit HeldBackLayers(const std::set<std::vector<std::string>>& layers);
  bool has(const std::vector<std::string>& layer) const {
    return alone_.empty() ? held_back_layer(layer) : layer == alone_;
  }

 private:
  std::vector<std::string> alone_;
};

}  // namespace roofcast::calibrate
