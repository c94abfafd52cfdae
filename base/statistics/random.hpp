// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same with every compiler and standard library, to the last digit of the
// machine's log, exp and sqrt. (The distributions of <random> are not.)
//
// The generator is xoshiro256** (Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators, ACM TOMS
// 47, 2021; period 2^256 - 1). SplitMix64 fills its state. A stream is a seed and a name. Each cause of
// chance has its own stream, so that more draws for one cause leave the others as they were, and two variants
// of a system get the same requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace roofcast::base {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::string_view stream = "");
  explicit Random(const std::array<std::uint64_t, 4>& state) : state_(state) {}  // not all zero

  std::uint64_t bits();
  // [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  double uniform(double least, double below) { return least + (below - least) * uniform(); }
  // Each of least..most is equally likely; least <= most.
  std::int64_t integer(std::int64_t least, std::int64_t most);
  double exponential(double mean);  // by inversion; finite
  double normal();                  // mean 0, variance 1; Marsaglia's polar method
  double normal(double mean, double deviation) { return mean + deviation * normal(); }
  // The mean and the coefficient of variation are those of the variable, not of its logarithm.
  double lognormal(double mean, double cv);
  // Marsaglia, Tsang: A Simple Method for Generating Gamma Variables (ACM TOMS 26, 2000).
  // mean = shape * scale, variance = shape * scale^2.
  double gamma(double shape, double scale);

 private:
  std::array<std::uint64_t, 4> state_;
};

// Draws 0, 1, …, weights.size() - 1 with probabilities in proportion to the weights, by inversion: O(log n).
class Discrete {
 public:
  // Weights are finite and not negative, and at least one is positive. Otherwise std::logic_error.
  explicit Discrete(std::span<const double> weights);
  std::size_t operator()(Random& random) const;

 private:
  std::vector<double> upto_;  // sums of the weights
};

// Draws rank k of 0, 1, …, n - 1 with a probability in proportion to (k + 1)^-exponent.
Discrete zipf(std::size_t n, double exponent);

}  // namespace roofcast::base
