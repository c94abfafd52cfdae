// SPDX-License-Identifier: Apache-2.0
//
// The points of `roofcast kernel` and `roofcast collective`: one shape, or a curve over one of its dimensions.
#pragma once

#include <string>
#include <vector>

#include "cli/kernels/explained_kernel.hpp"
#include "cli/kernels/kernel_kinds.hpp"
#include "cli/kernels/kernel_platform.hpp"

namespace roofcast::cli {

struct KernelQuestion {
  const KernelKind* kind = nullptr;
  ShapeTexts shape;
  PlatformNames platform;
  KernelChoices choices;
  std::string vary;  // "m=1..16384", "format=bf16,fp8", "chip=h100_sxm,b200_sxm"
};

struct KernelPoint {
  std::string value;  // of what varies; empty where nothing does
  ShapeTexts shape;   // as it was given
  sim::Platform platform;
  workloads::Operator op;
  ExplainedKernel kernel;
};

struct KernelCurve {
  std::string varied;  // "m"; empty where nothing varies
  std::vector<KernelPoint> points;
};

// What may vary: the dimensions of the kind, `chip`, `system` and `stack`. A range A..B doubles from A, and ends with B.
KernelCurve kernel_curve(const KernelQuestion& question);

}  // namespace roofcast::cli
