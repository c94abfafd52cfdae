// SPDX-License-Identifier: Apache-2.0
#include "hardware/pooling.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace roofcast::hardware {
namespace {

constexpr double kReach = 3.0;  // generations
constexpr double kRoughness = 0.75;
constexpr double kCorrectionReach = 1.5;  // generations
constexpr double kSharedByKernels = 0.9;

double correlation(const PoolMember& a, const PoolMember& b, double generations) {
  const double shared = a.kernels != b.kernels ? kSharedByStacks
                        : a.stack != b.stack   ? kSharedByKernels
                                               : 1.0;
  return shared * std::exp(-std::pow(generations / kReach, kRoughness));
}

}  // namespace

Pooled pooled(const PoolMember& target, const std::vector<PoolMember>& members,
              double (*apart)(const ChipKind&, const ChipKind&)) {
  const auto alike = [&](const PoolMember& a, const PoolMember& b) {
    return correlation(a, b, apart(*a.chip, *b.chip));
  };
  const auto n = static_cast<Eigen::Index>(members.size());
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n + 1, n + 1);
  Eigen::VectorXd right = Eigen::VectorXd::Ones(n + 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    const PoolMember& member = members[static_cast<std::size_t>(i)];
    right(i) = alike(member, target);
    k(i, n) = k(n, i) = 1.0;
    for (Eigen::Index j = 0; j < n; ++j) {
      k(i, j) = alike(member, members[static_cast<std::size_t>(j)]);
    }
  }
  // Members at one place, such as like hosts, share a weight: of all solutions the one with the least squares.
  Eigen::VectorXd w = k.completeOrthogonalDecomposition().solve(right).head(n).cwiseMax(0.0);
  w /= w.sum();
  const double variance = 1.0 - 2.0 * w.dot(right.head(n)) + w.dot(k.topLeftCorner(n, n) * w);
  return {{w.begin(), w.end()}, std::max(0.0, variance)};
}

std::vector<double> faded_weights(const ChipKind& target,
                                  const std::vector<const ChipKind*>& members) {
  const auto alike = [](const ChipKind& a, const ChipKind& b) {
    return std::exp(-distance(a, b) / kCorrectionReach);
  };
  const auto n = static_cast<Eigen::Index>(members.size());
  Eigen::MatrixXd c(n, n);
  Eigen::VectorXd right(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const ChipKind& member = *members[static_cast<std::size_t>(i)];
    right(i) = alike(member, target);
    for (Eigen::Index j = 0; j < n; ++j) {
      c(i, j) = alike(member, *members[static_cast<std::size_t>(j)]);
    }
  }
  const Eigen::VectorXd w = c.completeOrthogonalDecomposition().solve(right).cwiseMax(0.0);
  return {w.begin(), w.end()};
}

std::string kernels_of(const std::string& stack, const ChipKind& chip, std::string_view group) {
  const bool shared = group == "attention" || group == "moe";
  return shared && chip.tensor_instruction == "tcgen05" ? "trtllm" : stack;
}

}  // namespace roofcast::hardware
