// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_curve.hpp"

#include <fmt/format.h>

namespace roofcast::cli {
namespace {

using Of = Varied::Of;

// The question with a value of what varies.
void vary(KernelQuestion& q, const Varied& varied, const std::string& value) {
  if (varied.of == Of::dimension) {
    q.shape[varied.name] = value;
  } else if (varied.of == Of::tile) {
    q.choices.tile = value;
  } else if (varied.of == Of::algorithm) {
    q.choices.algorithm = value;
  } else if (varied.of == Of::protocol) {
    q.choices.protocol = value;
  } else {
    vary(q.platform, varied, value);
  }
}

KernelPoint point_of(const KernelQuestion& q, const KernelPoint* neighbour) {
  base::Problems problems;
  KernelPoint point;
  point.shape = q.shape;
  const Shape shape(*q.kind, q.shape, problems);
  problems.throw_if_any();
  point.on = q.platform;
  point.platform = neighbour != nullptr && neighbour->on == q.platform
                       ? neighbour->platform
                       : kernel_platform(q.platform);
  point.op = q.kind->make(shape);
  try {
    point.kernel = explain_kernel(point.op, point.platform, q.choices);
  } catch (const ImpossibleChoice& choice) {
    if (q.vary.empty()) {
      throw;
    }
    point.kernel.reason = choice.reason;  // the others of the curve may be possible
  }
  return point;
}

}  // namespace

std::string label(const KernelCurve& curve, const KernelPoint& point) {
  std::string text;
  for (std::size_t i = 0; i < curve.varied.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", curve.varied[i], point.values[i]);
  }
  return text;
}

KernelCurve kernel_curve(const KernelQuestion& question) {
  std::vector<Varied> all = varied_of(question.vary, *question.kind, question.platform);
  KernelCurve curve;
  std::size_t count = 1;
  for (const Varied& varied : all) {
    curve.varied.push_back(varied.name);
    count *= varied.values.size();
  }
  for (std::size_t i = 0; i < count; ++i) {
    KernelQuestion q = question;
    std::vector<std::string> values(all.size());
    std::size_t rest = i;
    for (std::size_t v = all.size(); v > 0; --v) {  // the last one varies fastest
      const Varied& varied = all[v - 1];
      values[v - 1] = varied.values[rest % varied.values.size()];
      rest /= varied.values.size();
    }
    for (std::size_t v = 0; v < all.size(); ++v) {
      vary(q, all[v], values[v]);
    }
    KernelPoint point = point_of(q, curve.points.empty() ? nullptr : &curve.points.back());
    point.values = std::move(values);
    curve.points.push_back(std::move(point));
  }
  return curve;
}

}  // namespace roofcast::cli
