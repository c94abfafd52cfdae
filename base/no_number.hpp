// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace roofcast::base {

inline constexpr double kNoNumber =
    std::numeric_limits<double>::quiet_NaN();  // of a figure that does not exist
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace roofcast::base
