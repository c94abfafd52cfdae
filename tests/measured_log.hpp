// SPDX-License-Identifier: Apache-2.0
//
// tests/measured_logs: logs as the tools wrote them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace roofcast {

inline std::filesystem::path measured_log(const std::string& name) {
  const char* root = std::getenv("ROOFCAST_SOURCE_DIR");
  REQUIRE(root != nullptr);
  return std::filesystem::path(root) / "tests" / "measured_logs" / name;
}

}  // namespace roofcast
