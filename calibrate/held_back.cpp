// SPDX-License-Identifier: Apache-2.0
#include "calibrate/held_back.hpp"

namespace roofcast::calibrate {

std::uint64_t draw_of(std::string_view shape) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : shape) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return hash ^ (hash >> 29);
}

}  // namespace roofcast::calibrate
