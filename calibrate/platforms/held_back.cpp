// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/held_back.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fnv.hpp"

namespace roofcast::calibrate {

std::uint64_t draw_of(std::string_view shape) {
  const std::uint64_t hash = base::fnv(base::kFnvStart, shape);
  return hash ^ (hash >> 29);
}

bool held_back_layer(std::span<const std::string> dimensions) {
  return std::any_of(dimensions.begin(), dimensions.end(), [&](std::string_view dimension) {
    return draw_of(dimension) % (5 * dimensions.size()) == 0;
  });
}

HeldBackLayers::HeldBackLayers(const std::set<std::vector<std::string>>& layers) {
  const auto drawn = static_cast<std::size_t>(std::ranges::count_if(
      layers, [](const std::vector<std::string>& layer) { return held_back_layer(layer); }));
  if (layers.size() > 1 && (drawn == 0 || drawn == layers.size())) {
    alone_ = *std::ranges::min_element(layers, {}, [](const std::vector<std::string>& layer) {
      return draw_of(fmt::format("{}", fmt::join(layer, " ")));
    });
  }
}

}  // namespace roofcast::calibrate
