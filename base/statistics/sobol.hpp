// SPDX-License-Identifier: Apache-2.0
//
// Which inputs cause the variance of an output? Sobol's indices of f(u₁ … u_d), with u uniform in the unit
// cube.
//
//   first order  S_i = V[E(f | u_i)] / V[f]             variance that knowing u_i alone would remove
//   total        T_i = 1 − V[E(f | all but u_i)] / V[f]  variance that would stay if only u_i were not known
//
// T_i − S_i is the effect of u_i together with other inputs. For an additive f, S_i = T_i and they sum to 1.
//
// Saltelli's design has rows of d + 2 points: A, B and, for each i, AB_i, which is A with the coordinate u_i
// of B. With f centred, over the rows
//
//   S_i = mean(f(B)·(f(AB_i) − f(A))) / V,   T_i = mean((f(A) − f(AB_i))²) / 2V
//
// (Saltelli et al., Computer Physics Communications 181, 2010; Jansen, ibid. 117, 1999). (A, B) is a
// Kronecker sequence in 2d dimensions with the powers of the root of x^(2d+1) = x + 1. There are kBatches
// copies, each shifted by a random vector of its own (Cranley and Patterson, SIAM J. Numer. Anal. 13, 1976).
// So each copy is an unbiased sample, and the 90 % interval follows from leaving out one copy after another
// (jackknife, Student's t). The same seed gives the same points, and a longer sample begins with the shorter
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/statistics/random.hpp"

namespace roofcast::base {

class SaltelliDesign {
 public:
  static constexpr std::size_t kBatches = 16;

  SaltelliDesign(std::size_t inputs, std::uint64_t seed);  // inputs ≥ 1
  std::size_t points_per_row() const { return inputs_ + 2; }
  // The points A, B, AB_0, AB_1, … of a row. Rows 0, 1, … belong to the batches in turn.
  std::vector<std::vector<double>> row(std::size_t index) const;

 private:
  std::size_t inputs_;
  std::vector<double> steps_;
  std::vector<std::vector<double>> shifts_;  // by batch
};

struct SobolIndex {
  double value = 0.0;
  double half_width90 = 0.0;
};
struct SobolIndices {
  double variance = 0.0;
  std::vector<SobolIndex> first;  // by input; NaN where the variance is zero
  std::vector<SobolIndex> total;
  std::size_t rows = 0;  // rows that were used
};

// `values`: f at the points of rows 0, 1, … one after another. Rows with a value that is not finite are left out.
SobolIndices sobol_indices(std::span<const double> values, std::size_t inputs);

}  // namespace roofcast::base
