// SPDX-License-Identifier: Apache-2.0
//
// How the weights of a linear layer are stored, beside their number format.
//
//   bits of a weight = element + scale                 one scale of 16 bits for `group_size` weights
//                    = element / 2 + 1 + scale         2:4 sparse: two of four elements, each with 2 bits that say which
//
// Without a group size the scale is that of the format (base/units/number_format.hpp).
#pragma once

#include <cstdint>

#include "base/units/number_format.hpp"

namespace roofcast::base {

struct WeightStorage {
  std::int64_t group_size = 0;  // weights of a scale; 0: as the format has it
  bool sparse = false;          // 2:4
  friend bool operator==(const WeightStorage&, const WeightStorage&) = default;
};

// Without scales.
constexpr double element_bits(NumberFormat format) {
  return static_cast<double>(static_cast<int>(bits(format)));
}

constexpr double bits(NumberFormat format, WeightStorage storage) {
  constexpr double kScale = 16.0;
  constexpr double kIndex =
      1.0;  // of a sparse weight: 2 bits for each of two kept elements of four
  const double element = element_bits(format);
  const double scale = storage.group_size > 0 ? kScale / static_cast<double>(storage.group_size)
                                              : bits(format) - element;
  return (storage.sparse ? element / 2.0 + kIndex : element) + scale;
}

constexpr Bytes bytes_of(double elements, NumberFormat format, WeightStorage storage) {
  return Bytes::from_si(elements * bits(format, storage) / 8.0);
}

}  // namespace roofcast::base
