// SPDX-License-Identifier: Apache-2.0
//
// The points of `roofcast kernel` and `roofcast collective`: one shape, or a curve over what --vary names (varied.hpp).
#pragma once

#include <string>
#include <vector>

#include "cli/kernels/explained_kernel.hpp"
#include "cli/kernels/kernel_kinds.hpp"
#include "cli/kernels/kernel_platform.hpp"
#include "cli/kernels/varied.hpp"

namespace roofcast::cli {

struct KernelQuestion {
  const KernelKind* kind = nullptr;
  ShapeTexts shape;
  PlatformNames platform;
  KernelChoices choices;
  std::vector<std::string> vary;  // "m=1..16384", "chip=h100_sxm,b200_sxm"; at most two
};

struct KernelPoint {
  std::vector<std::string> values;  // of what varies, in its order
  ShapeTexts shape;                 // as it was given
  PlatformNames on;
  sim::Platform platform;
  workloads::Operator op;
  ExplainedKernel kernel;
};

struct KernelCurve {
  std::vector<std::string> varied;  // "m", "system.chip.compute.sms"; empty where nothing varies
  std::vector<KernelPoint> points;
};

// Of two that vary, the second one varies faster. A point whose choice is impossible has the reason.
KernelCurve kernel_curve(const KernelQuestion& question);

// "m=512 stack=vllm"
std::string label(const KernelCurve& curve, const KernelPoint& point);

}  // namespace roofcast::cli
