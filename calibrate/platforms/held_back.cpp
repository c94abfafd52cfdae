// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/held_back.hpp"

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

}  // namespace roofcast::calibrate
