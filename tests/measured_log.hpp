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

// What the client of a server with the example llama-70b would write.
inline constexpr const char* kLogOfLlama70b =
    R"({"max_concurrency": 64, "completed": 640, "total_input_tokens": 1310720,
        "total_output_tokens": 327680, "mean_ttft_ms": 417.0, "mean_tpot_ms": 22.7})";

}  // namespace roofcast
