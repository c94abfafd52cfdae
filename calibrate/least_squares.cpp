// SPDX-License-Identifier: Apache-2.0
#include "calibrate/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStep = 0.01;       // of ln p to each side of a difference quotient
constexpr double kConverged = 1e-6;  // relative fall of the loss

class Problem {
 public:
  Problem(const std::vector<Unknown>& unknowns, const Residuals& residuals,
          const SolverOptions& options)
      : unknowns_(unknowns), residuals_(residuals), options_(options) {}

  Eigen::Index size() const { return static_cast<Eigen::Index>(unknowns_.size()); }
  const Unknown& unknown(Eigen::Index j) const { return unknowns_[static_cast<std::size_t>(j)]; }

  VectorXd start() const {
    VectorXd u(size());
    for (Eigen::Index j = 0; j < size(); ++j) {
      u[j] = std::log(unknown(j).start);
    }
    return u;
  }
  VectorXd inside(VectorXd u) const {
    for (Eigen::Index j = 0; j < size(); ++j) {
      u[j] = std::clamp(u[j], std::log(unknown(j).least), std::log(unknown(j).most));
    }
    return u;
  }
  std::vector<double> values(const VectorXd& u) const {
    std::vector<double> p(unknowns_.size());
    for (Eigen::Index j = 0; j < size(); ++j) {
      p[static_cast<std::size_t>(j)] = std::exp(u[j]);
    }
    return p;
  }
  VectorXd residuals(const VectorXd& u) const {
    const std::vector<double> r = residuals_(values(u));
    return Eigen::Map<const VectorXd>(r.data(), static_cast<Eigen::Index>(r.size()));
  }
  double loss(const VectorXd& u, const VectorXd& r) const {
    const double h = options_.huber;
    double sum = hold() * (u - start()).squaredNorm();
    for (const double x : r) {
      sum += std::abs(x) <= h ? x * x : 2.0 * h * std::abs(x) - h * h;
    }
    return sum;
  }
  // Weight of a parameter's distance from its start.
  double hold() const { return std::pow(options_.noise / options_.prior, 2.0); }
  // Weights that make squares of Huber's loss.
  VectorXd weights(const VectorXd& r) const {
    return r.unaryExpr(
        [h = options_.huber](double x) { return std::abs(x) <= h ? 1.0 : h / std::abs(x); });
  }
  MatrixXd jacobian(const VectorXd& u, const VectorXd& r) const {
    MatrixXd jacobian(r.size(), size());
    for (Eigen::Index j = 0; j < size(); ++j) {
      VectorXd low = u;
      VectorXd high = u;
      low[j] = std::max(u[j] - kStep, std::log(unknown(j).least));
      high[j] = std::min(u[j] + kStep, std::log(unknown(j).most));
      jacobian.col(j) = (residuals(high) - residuals(low)) / (high[j] - low[j]);
    }
    return jacobian;
  }

 private:
  const std::vector<Unknown>& unknowns_;
  const Residuals& residuals_;
  const SolverOptions& options_;
};

}  // namespace

Solution solve(const std::vector<Unknown>& unknowns, const Residuals& residuals,
               const SolverOptions& options) {
  const Problem problem(unknowns, residuals, options);
  const double precision = problem.hold();
  VectorXd u = problem.inside(problem.start());
  VectorXd r = problem.residuals(u);
  double loss = problem.loss(u, r);
  double damping = 1e-3;
  Solution solution;
  MatrixXd normal;
  for (; solution.iterations < options.max_iterations; ++solution.iterations) {
    const MatrixXd jacobian = problem.jacobian(u, r);
    const VectorXd w = problem.weights(r);
    normal = jacobian.transpose() * w.asDiagonal() * jacobian;
    const VectorXd slope =
        jacobian.transpose() * w.cwiseProduct(r) + precision * (u - problem.start());
    bool better = false;
    const double before = loss;
    for (; damping < 1e6 && !better; damping *= better ? 1.0 : 4.0) {
      MatrixXd system = normal;
      system.diagonal().array() += precision;
      system.diagonal() *= 1.0 + damping;
      const VectorXd next = problem.inside(u - system.ldlt().solve(slope));
      const VectorXd next_r = problem.residuals(next);
      const double next_loss = problem.loss(next, next_r);
      if (next_loss < loss) {
        u = next;
        r = next_r;
        loss = next_loss;
        better = true;
      }
    }
    damping = std::max(1e-6, damping / 10.0);
    if (!better || before - loss <= kConverged * before) {
      break;
    }
  }
  solution.values = problem.values(u);
  solution.loss = loss;
  // Spread of the residuals, robustly, spreads the parameters.
  std::vector<double> sizes(static_cast<std::size_t>(r.size()));
  std::transform(r.begin(), r.end(), sizes.begin(), [](double x) { return std::abs(x); });
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2),
                   sizes.end());
  const double spread = 1.4826 * sizes[sizes.size() / 2];
  MatrixXd information = normal / std::max(spread * spread, 1e-12);
  information.diagonal().array() += 1.0 / (options.prior * options.prior);
  const MatrixXd covariance = information.inverse();
  for (Eigen::Index j = 0; j < problem.size(); ++j) {
    const double sigma = std::sqrt(covariance(j, j));
    solution.uncertainty.push_back(
        sigma < 0.9 * options.prior ? 1.645 * sigma : std::numeric_limits<double>::infinity());
  }
  return solution;
}

}  // namespace roofcast::calibrate
