// SPDX-License-Identifier: Apache-2.0
//
// The measured tables that tests read.
#pragma once

#include <filesystem>
#include <string>

#include "calibrate/platforms/measurements.hpp"
#include "tests/catch.hpp"

namespace roofcast {

inline std::filesystem::path measured_table(const std::string& folder, const std::string& name) {
  const auto table = calibrate::find_table(calibrate::measurements() / folder, name);
  INFO(folder << "/" << name);
  REQUIRE(table.has_value());
  return *table;
}

}  // namespace roofcast
