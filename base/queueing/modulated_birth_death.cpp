// SPDX-License-Identifier: Apache-2.0
#include "base/queueing/modulated_birth_death.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cstddef>

#include "base/queueing/birth_death.hpp"

namespace roofcast::base::queueing {

std::vector<std::vector<double>> modulated_birth_death(const std::vector<BirthPhase>& phases) {
  const std::size_t levels = phases.front().deaths.size();
  if (phases.size() == 1) {
    const std::vector<double> births(levels, phases.front().births);
    return {birth_death(births, phases.front().deaths)};
  }
  const auto count = static_cast<Eigen::Index>(phases.size());
  const auto at = [&](Eigen::Index i) -> const BirthPhase& {
    return phases[static_cast<std::size_t>(i)];
  };
  Eigen::MatrixXd changes = Eigen::MatrixXd::Zero(count, count);  // of phases
  Eigen::VectorXd births(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    changes(i, i) -= at(i).leaves;
    changes(i, (i + 1) % count) += at(i).leaves;
    births(i) = at(i).births;
  }
  const auto deaths = [&](std::size_t n) {
    Eigen::VectorXd d = Eigen::VectorXd::Zero(count);
    for (Eigen::Index i = 0; i < count && n > 0; ++i) {
      d(i) = at(i).deaths[n - 1];
    }
    return d;
  };
  const Eigen::MatrixXd up = births.asDiagonal();
  std::vector<Eigen::MatrixXd> ratios(levels);  // R(n)
  Eigen::MatrixXd beyond = Eigen::MatrixXd::Zero(count, count);
  for (std::size_t n = levels; n > 0; --n) {
    // Rates from phase to phase, with a stay above in between. What leaves a phase is a sum of these: no difference that
    // rounding could make negative (Grassmann, Taksar, Heyman: Operations Research 33, 1985).
    Eigen::MatrixXd flow = changes + beyond;
    flow.diagonal().setZero();
    Eigen::MatrixXd out = -flow;
    out.diagonal() = deaths(n) + flow.rowwise().sum();
    ratios[n - 1] = up * out.inverse();
    beyond = ratios[n - 1] * deaths(n).asDiagonal();
  }
  // Level 0: p(0) (changes − up + R(0)·deaths(1)) = 0, with any scale. The rows sum to 0.
  Eigen::MatrixXd flow = changes + beyond;
  flow.diagonal().setZero();
  flow.diagonal() = -flow.rowwise().sum();
  Eigen::MatrixXd balance = flow.transpose();
  balance.row(0).setOnes();
  Eigen::VectorXd first = Eigen::VectorXd::Zero(count);
  first(0) = 1.0;
  Eigen::RowVectorXd p = balance.partialPivLu().solve(first).transpose();
  std::vector<std::vector<double>> result(phases.size(), std::vector<double>(levels + 1));
  double sum = 0.0;
  for (std::size_t n = 0;; ++n) {
    for (Eigen::Index i = 0; i < count; ++i) {
      const double x = std::max(0.0, p(i));
      result[static_cast<std::size_t>(i)][n] = x;
      sum += x;
    }
    if (n == levels) {
      break;
    }
    p = p * ratios[n];
    if (sum > 1e100) {  // far below the most probable level
      for (auto& phase : result) {
        for (std::size_t m = 0; m <= n; ++m) {
          phase[m] *= 1e-100;
        }
      }
      p *= 1e-100;
      sum *= 1e-100;
    }
  }
  for (auto& phase : result) {
    for (double& x : phase) {
      x /= sum;
    }
  }
  return result;
}

}  // namespace roofcast::base::queueing
