// SPDX-License-Identifier: Apache-2.0
//
// Robust nonlinear least squares for a handful of positive parameters.
//
// Minimises Σ ρ(rᵢ(p)) + noise² Σ ((ln pⱼ − ln startⱼ)/priorⱼ)², ρ Huber's loss, by Levenberg–Marquardt
// in ln p with numerical derivatives. The second term holds parameters the rows say nothing about where
// they were. Before and after a descent single parameters are tried by whole steps, and the descent goes on
// from what is better. Deterministic. Valid where the residuals are piecewise smooth: steps (tiles, algorithms) are
// crossed by the size of the difference quotient.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace roofcast::calibrate {

struct Unknown {
  double start = 1.0;  // > 0
  double least = 0.0;
  double most = 0.0;
  double prior =
      1.0;  // standard deviation of ln p around its start, of a parameter known no better
};

struct SolverOptions {
  double huber = 0.15;         // residuals beyond it count linearly
  double noise = 0.03;         // of residuals; a parameter `prior` off weighs like one of this size
  double least_spread = 1e-6;  // of the residuals, where there are too few to tell it
  double widest_step = 0.7;    // of ln p, when single parameters are tried
  int max_iterations = 120;    // of all descents
};

struct Solution {
  std::vector<double> values;
  // ln p is known to ± this with 90 % confidence, were residuals independent; infinite where the rows
  // say less than the prior.
  std::vector<double> uncertainty;
  double loss = 0.0;
  int iterations = 0;
};

using Residuals = std::function<std::vector<double>(std::span<const double>)>;

Solution solve(const std::vector<Unknown>& unknowns, const Residuals& residuals,
               const SolverOptions& options = {});

}  // namespace roofcast::calibrate
