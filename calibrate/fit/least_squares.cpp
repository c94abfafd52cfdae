// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace roofcast::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStep = 0.01;       // of ln p to each side of a difference quotient
constexpr int kProbes = 6;           // rounds of probing and descending again
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
    double sum = hold() * (u - start()).cwiseQuotient(prior()).squaredNorm();
    for (const double x : r) {
      sum += std::abs(x) <= h ? x * x : 2.0 * h * std::abs(x) - h * h;
    }
    return sum;
  }
  // Weight of a parameter's distance from its start, in priors.
  double hold() const { return std::pow(options_.noise, 2.0); }
  VectorXd prior() const {
    VectorXd all(size());
    for (Eigen::Index j = 0; j < size(); ++j) {
      all[j] = unknown(j).prior;
    }
    return all;
  }
  // Weights that make squares of Huber's loss.
  VectorXd weights(const VectorXd& r) const {
    return r.unaryExpr(
        [h = options_.huber](double x) { return std::abs(x) <= h ? 1.0 : h / std::abs(x); });
  }
  MatrixXd jacobian(const VectorXd& u) const {
    MatrixXd jacobian;
    for (Eigen::Index j = 0; j < size(); ++j) {
      VectorXd low = u;
      VectorXd high = u;
      low[j] = std::max(u[j] - kStep, std::log(unknown(j).least));
      high[j] = std::min(u[j] + kStep, std::log(unknown(j).most));
      const VectorXd slope = (residuals(high) - residuals(low)) / (high[j] - low[j]);
      if (jacobian.size() == 0) {
        jacobian.resize(slope.size(), size());
      }
      jacobian.col(j) = slope;
    }
    return jacobian;
  }

 private:
  const std::vector<Unknown>& unknowns_;
  const Residuals& residuals_;
  const SolverOptions& options_;
};

struct Point {
  VectorXd u;
  VectorXd r;
  double loss = 0.0;
  bool moves_to(const Problem& problem, const VectorXd& next) {
    const VectorXd inside = problem.inside(next);
    const VectorXd residuals = problem.residuals(inside);
    const double lower = problem.loss(inside, residuals);
    if (!(lower < loss)) {
      return false;
    }
    u = inside;
    r = residuals;
    loss = lower;
    return true;
  }
};

// Levenberg–Marquardt until the loss falls no more; returns the last normal matrix.
MatrixXd descend(const Problem& problem, Point& at, int& iterations, int most) {
  MatrixXd normal = MatrixXd::Zero(problem.size(), problem.size());
  const VectorXd prior = problem.prior();
  double damping = 1e-3;
  for (; iterations < most; ++iterations) {
    const MatrixXd jacobian = problem.jacobian(at.u);
    const VectorXd w = problem.weights(at.r);
    normal = jacobian.transpose() * w.asDiagonal() * jacobian;
    const VectorXd slope =
        jacobian.transpose() * w.cwiseProduct(at.r) +
        problem.hold() * (at.u - problem.start()).cwiseQuotient(prior.cwiseAbs2());
    const double before = at.loss;
    bool better = false;
    while (!better && damping < 1e6) {
      MatrixXd system = normal;
      system.diagonal().array() += problem.hold() / prior.array().square();
      system.diagonal() *= 1.0 + damping;
      better = at.moves_to(problem, at.u - system.ldlt().solve(slope));
      damping *= better ? 0.1 : 4.0;
    }
    damping = std::clamp(damping, 1e-6, 1e3);
    if (!better || before - at.loss <= kConverged * before) {
      break;
    }
  }
  return normal;
}

// One parameter at a time by whole steps, over the kinks where a slope misleads.
bool probe(const Problem& problem, Point& at, double widest) {
  bool better = false;
  for (Eigen::Index j = 0; j < problem.size(); ++j) {
    for (const double step : {-widest, widest, -0.25, 0.25, -0.08, 0.08}) {
      VectorXd next = at.u;
      next[j] += step;
      better = at.moves_to(problem, next) || better;
    }
  }
  return better;
}

}  // namespace

Solution solve(const std::vector<Unknown>& unknowns, const Residuals& residuals,
               const SolverOptions& options) {
  const Problem problem(unknowns, residuals, options);
  Point at;
  at.u = problem.inside(problem.start());
  at.r = problem.residuals(at.u);
  at.loss = problem.loss(at.u, at.r);
  Solution solution;
  probe(problem, at, options.widest_step);
  MatrixXd normal = descend(problem, at, solution.iterations, options.max_iterations);
  for (int round = 0; round < kProbes && probe(problem, at, options.widest_step); ++round) {
    normal = descend(problem, at, solution.iterations, options.max_iterations);
  }
  solution.values = problem.values(at.u);
  solution.loss = at.loss;
  // Spread of the residuals, robustly, spreads the parameters.
  std::vector<double> sizes(static_cast<std::size_t>(at.r.size()));
  std::transform(at.r.begin(), at.r.end(), sizes.begin(), [](double x) { return std::abs(x); });
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2),
                   sizes.end());
  const double spread = std::max(1.4826 * sizes[sizes.size() / 2], options.least_spread);
  MatrixXd information = normal / (spread * spread);
  const VectorXd prior = problem.prior();
  information.diagonal().array() += 1.0 / prior.array().square();
  const MatrixXd covariance = information.inverse();
  for (Eigen::Index j = 0; j < problem.size(); ++j) {
    const double sigma = std::sqrt(covariance(j, j));
    solution.uncertainty.push_back(
        sigma < 0.9 * prior[j] ? 1.645 * sigma : std::numeric_limits<double>::infinity());
  }
  return solution;
}

}  // namespace roofcast::calibrate
