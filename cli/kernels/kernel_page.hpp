// SPDX-License-Identifier: Apache-2.0
//
// The page of `roofcast kernel` and `roofcast collective`: what the terminal says, with drawings.
//
//   roofline   FLOP/s over FLOP a byte, both logarithmic: the roofs of the datasheet, and each point
//   waves      the SMs of one shape over its waves of thread blocks; what is empty waits for the tail
//   curve      what each cause takes of the time, by value
#pragma once

#include "cli/kernels/kernel_curve.hpp"
#include "cli/pages/brief.hpp"

namespace roofcast::cli {

Brief kernel_page(const KernelQuestion& question, const KernelCurve& curve);

// Empty where no point has FLOP and bytes of device memory.
std::string roofline_svg(const KernelCurve& curve);
// Empty where the model has no waves.
std::string waves_svg(const KernelPoint& point);
std::string causes_svg(const KernelCurve& curve);

}  // namespace roofcast::cli
