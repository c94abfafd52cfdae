// SPDX-License-Identifier: Apache-2.0
//
// CSV of Nsight Systems and Nsight Compute. What the tools, or the program that they watched, say before the header and
// behind an empty line is not read.
//
// Nsight Compute runs each kernel alone, with an empty cache and at a fixed clock unless it was told otherwise
// (--cache-control, --clock-control), so its times are longer than those of a running program.
#pragma once

#include <filesystem>

#include "calibrate/logs/kernel_times.hpp"
#include "calibrate/logs/measured_log.hpp"

namespace roofcast::calibrate {

// Of kernel_summary, kernel_list or kernel_counters.
KernelProfile read_nsight(const std::filesystem::path& file, LogFormat format);

}  // namespace roofcast::calibrate
