// SPDX-License-Identifier: Apache-2.0
//
// The system that a kernel runs on, named by its chip or by itself, without a model and a traffic.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace roofcast::cli {

struct PlatformNames {
  std::string
      chip;  // an id or a path; in the system that it was measured in, else in one that has it, else alone
  std::string system;  // an id or a path
  std::string stack = "vllm";
  std::vector<std::string> set;     // "system.chip.hbm.bandwidth=x1.5"
  std::vector<std::string> varied;  // the same, of --vary
  bool operator==(const PlatformNames&) const = default;
};

// Whether it is a path into system or serving.stack.
bool is_kernel_knob(const std::string& path);

// As in a scenario: the calibration is the nearest to the chip and the stack. Throws InputError.
sim::Platform kernel_platform(const PlatformNames& names);
// The document that it is read from, with every part.
base::Node kernel_document(const PlatformNames& names);

}  // namespace roofcast::cli
