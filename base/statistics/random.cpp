// SPDX-License-Identifier: Apache-2.0
#include "base/statistics/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/fnv.hpp"
#include "base/scatter.hpp"

namespace roofcast::base {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += kGoldenRatio;
  return scatter(state);
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream) : state_{} {
  std::uint64_t filler = fnv(fnv(kFnvStart, seed), stream);
  for (std::uint64_t& word : state_) {
    word = split_mix(filler);
  }
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::int64_t Random::integer(std::int64_t least, std::int64_t most) {
  const std::uint64_t n = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
  std::uint64_t x = bits();
  if (n != 0) {  // n = 0 stands for all 2^64 numbers
    // The first 2^64 mod n numbers are rejected, so that all results are equally likely.
    const std::uint64_t few = (0 - n) % n;
    while (x < few) {
      x = bits();
    }
    x %= n;
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + x);
}

double Random::exponential(double mean) { return -mean * std::log1p(-uniform()); }

double Random::normal() {
  while (true) {
    const double x = uniform(-1.0, 1.0);
    const double y = uniform(-1.0, 1.0);
    const double s = x * x + y * y;
    if (s > 0.0 && s < 1.0) {
      return x * std::sqrt(-2.0 * std::log(s) / s);
    }
  }
}

double Random::lognormal(double mean, double cv) {
  const double variance = std::log1p(cv * cv);
  return mean * std::exp(std::sqrt(variance) * normal() - 0.5 * variance);
}

// Marsaglia and Tsang: d, c and v as in the paper. A shape below 1 is reduced to shape + 1.
double Random::gamma(double shape, double scale) {
  if (shape < 1.0) {
    const double larger = gamma(shape + 1.0, scale);
    return larger * std::pow(1.0 - uniform(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root > 0.0) {
      const double v = root * root * root;
      if (std::log(1.0 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
        return d * v * scale;
      }
    }
  }
}

Discrete::Discrete(std::span<const double> weights) {
  double sum = 0.0;
  for (const double weight : weights) {
    if (!(weight >= 0.0)) {
      throw std::logic_error("a weight is negative");
    }
    sum += weight;
    upto_.push_back(sum);
  }
  if (!(sum > 0.0) || !std::isfinite(sum)) {
    throw std::logic_error("the weights add up to nothing or to more than a number holds");
  }
}

std::size_t Discrete::operator()(Random& random) const {
  // The product may round up to the whole sum. Then the last positive weight is drawn.
  const double at = random.uniform() * upto_.back();
  const auto found = std::upper_bound(upto_.begin(), upto_.end(), at);
  const auto last = std::lower_bound(upto_.begin(), upto_.end(), upto_.back());
  return static_cast<std::size_t>(std::min(found, last) - upto_.begin());
}

Discrete zipf(std::size_t n, double exponent) {
  std::vector<double> weights;
  for (std::size_t k = 1; k <= n; ++k) {
    weights.push_back(std::pow(static_cast<double>(k), -exponent));
  }
  return Discrete(weights);
}

}  // namespace roofcast::base
