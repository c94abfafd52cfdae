// SPDX-License-Identifier: Apache-2.0
//
// What `roofcast kernel` and `roofcast collective` print.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/kernels/kernel_curve.hpp"

namespace roofcast::cli {

// One kernel: time, verdict, tile, terms and roofs. A curve: a table with a chart.
std::string kernel_text(const KernelQuestion& question, const KernelCurve& curve);
nlohmann::ordered_json kernel_json(const KernelQuestion& question, const KernelCurve& curve);
void write_kernel_csv(const KernelQuestion& question, const KernelCurve& curve,
                      const std::string& file);

}  // namespace roofcast::cli
