// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/document/problems.hpp"

namespace roofcast::calibrate {

// `place`: the file, and the line where one is known.
[[noreturn]] inline void refuse(const std::string& place, std::string_view message) {
  throw base::InputError(fmt::format("{}: error: {}\n", place, message));
}

}  // namespace roofcast::calibrate
