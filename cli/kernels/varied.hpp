// SPDX-License-Identifier: Apache-2.0
//
// What --vary of `roofcast kernel` and `roofcast collective` names, and its values.
//
//   m=1,100,4096               a list
//   m=1..16384                 a range that doubles from its low end, and ends with the high one
//   m=256..4096+256            a range of equal steps
//   system.chip.compute.sms=   any knob of the system or the stack, with a list or a range, of factors too: x0.5..x2+0.25
#pragma once

#include <string>
#include <vector>

#include "cli/kernels/kernel_kinds.hpp"
#include "cli/kernels/kernel_platform.hpp"

namespace roofcast::cli {

struct Varied {
  enum class Of { dimension, chip, system, stack, tile, algorithm, protocol, knob };
  std::string name;  // "m", "system.chip.compute.sms"
  Of of = Of::dimension;
  std::vector<std::string> values;
};

// `texts`: of --vary, in their order. `on`: where the kernel runs, which units of a range are compared with. Throws InputError.
std::vector<Varied> varied_of(const std::vector<std::string>& texts, const KernelKind& kind,
                              const PlatformNames& on);

// Another chip, system, stack or knob; nothing of what is not of them.
void vary(PlatformNames& names, const Varied& varied, const std::string& value);

}  // namespace roofcast::cli
