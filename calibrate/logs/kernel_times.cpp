// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/kernel_times.hpp"

#include <fmt/format.h>

#include "base/document/problems.hpp"

namespace roofcast::calibrate {

void finish(KernelProfile& profile) {
  if (profile.kernels.empty()) {
    throw base::InputError(fmt::format("{}: error: no kernel of a GPU\n", profile.name));
  }
  constexpr double kLeast = 1e-12;  // s, less than a cycle
  if (std::all_of(profile.kernels.begin(), profile.kernels.end(),
                  [](const KernelTime& kernel) { return !(kernel.seconds >= kLeast); })) {
    throw base::InputError(fmt::format("{}: error: its kernels take no time\n", profile.name));
  }
  std::sort(profile.kernels.begin(), profile.kernels.end(), [](const auto& a, const auto& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
}

}  // namespace roofcast::calibrate
