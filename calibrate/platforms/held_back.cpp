// SPDX-License-Identifier: Apache-2.0
#include "calibrate/platforms/held_back.hpp"

#include "base/fnv.hpp"

namespace roofcast::calibrate {

std::uint64_t draw_of(std::string_view shape) {
  const std::uint64_t hash = base::fnv(base::kFnvStart, shape);
  return hash ^ (hash >> 29);
}

}  // namespace roofcast::calibrate
