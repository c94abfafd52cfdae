// SPDX-License-Identifier: Apache-2.0
//
// Versions of a stack's kernels on one chip. A calibration is that of the newest version that was measured. Older
// versions are steps back from it:
//
//   version: 1.3.0rc20
//   older_versions:                    # newest first
//     - version: 1.3.0rc15
//       measured: gemm_power, mamba2   # kinds of tables
//       corrections: […]               # of kernels that were others: in place of those of the next newer version
//
// The kernels of a version are those of the nearest measured one (base/version.hpp). A kernel that was not measured in
// that version is as in the next newer one in which it was.
//
// A server may tune a kernel when it starts, and the timer of a table may not have. Such a kernel is as another stack's,
// whatever the version:
//
//   tuned:
//     kernels_of: vllm
//     corrections: […]               # in place of those above
#pragma once

#include <string_view>

#include "hardware/calibration.hpp"

namespace roofcast::hardware {

// Turns a calibration into that of a version of a stack. Its name tells which version it is. A calibration of another
// stack stays as it is, and its name tells so.
void take_version(Calibration& calibration, std::string_view stack, std::string_view version);

// Turns a calibration into that of a server, which tunes its kernels.
void tune(Calibration& calibration);

}  // namespace roofcast::hardware
