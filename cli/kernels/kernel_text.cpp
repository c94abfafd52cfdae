// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/kernels/kernel_answer.hpp"
#include "cli/kernels/kernel_parts.hpp"

namespace roofcast::cli {
namespace {

// One shape.
std::string point_text(const KernelQuestion& q, const KernelPoint& point) {
  const ExplainedKernel& k = point.kernel;
  const models::Machine& m = point.platform.machine;
  std::string out =
      fmt::format("{}\n{}\n\n", shape_text(q, point.shape), platform_text(point.platform));
  if (!k.reason.empty()) {
    return out + fmt::format("does not run: {}\n", k.reason);
  }
  for (const KernelLine& line : kernel_lines(point)) {
    out += fmt::format("{:<11} {}\n", line.name, line.text);
  }
  out += fmt::format("\n{}{}\n\n{}", terms_table(k, m.calibration.overlap_exponent).text(),
                     "(takes: alone; counts: of the time, in which compute, DRAM and L2 overlap)",
                     roofs_table(k).text());
  if (k.anatomy.plans.size() > 1) {
    out += "\n" + plans_table(k, m).text();
  }
  return out;
}

std::string curve_text(const KernelQuestion& q, const KernelCurve& curve) {
  const bool sends = std::holds_alternative<workloads::Collective>(curve.points.front().op);
  return fmt::format("{}\n{}\n\n{}(chart: {})\n", shape_text(q, q.shape),
                     platform_text(curve.points.front().platform),
                     curve_table(q, curve, Chart::letters).text(),
                     sends ? "busbw" : "FLOP/s; bytes/s where the tensor cores do nothing");
}

}  // namespace

std::string kernel_text(const KernelQuestion& question, const KernelCurve& curve) {
  return curve.varied.empty() ? point_text(question, curve.points.front())
                              : curve_text(question, curve);
}

}  // namespace roofcast::cli
