// SPDX-License-Identifier: Apache-2.0
//
// What an explanation of a kernel is made of, for the terminal (kernel_text.cpp) and for the page (kernel_page.hpp).
#pragma once

#include <string>
#include <vector>

#include "cli/kernels/kernel_curve.hpp"
#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

std::string shape_text(const KernelQuestion& question, const ShapeTexts& shape);
std::string platform_text(const sim::Platform& platform);

// How long the kernel takes, what limits it, and how it runs: "tile", "128 x 256"; one for each thing that its model has.
struct KernelLine {
  std::string name;
  std::string text;
};
std::vector<KernelLine> kernel_lines(const KernelPoint& point);

// The parts of the time, which add up to it. `overlap_exponent` is the calibration's.
TextTable terms_table(const ExplainedKernel& kernel, double overlap_exponent);
TextTable roofs_table(const ExplainedKernel& kernel);
TextTable plans_table(const ExplainedKernel& kernel, const models::Machine& machine);

// What a chart shows: busbw, else FLOP/s of tensor cores, else bytes/s.
double charted(const ExplainedKernel& kernel);
// A row for each point, with or without a chart of letters.
enum class Chart { letters, none };
TextTable curve_table(const KernelQuestion& question, const KernelCurve& curve, Chart chart);

}  // namespace roofcast::cli
