// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/within_context.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "workloads/traffic/even_sample.hpp"

namespace roofcast::workloads {
namespace {

constexpr double kFew = 1e-4;           // share of the requests
constexpr std::size_t kCoarse = 200;    // lengths of one distribution
constexpr std::size_t kSamples = 2000;  // of what is left

std::vector<double> lengths_of(const Lengths& lengths, std::size_t n) {
  return lengths.shape == Lengths::Shape::fixed
             ? std::vector<double>(1, static_cast<double>(lengths.least))
             : quantiles(lengths, n);
}

// Lengths of one distribution, given that the other one leaves them room.
Lengths beside(const Lengths& lengths, const Lengths& other, std::int64_t context) {
  if (lengths.shape == Lengths::Shape::fixed) {
    return lengths;
  }
  const std::vector<double> all = quantiles(lengths, kSamples);
  std::vector<double> upto;  // sums of the probabilities that there is room
  double sum = 0.0;
  for (const double length : all) {
    sum += share_up_to(other, context - static_cast<std::int64_t>(length));
    upto.push_back(sum);
  }
  std::vector<std::int32_t> left;
  std::size_t at = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const double wanted = sum * (static_cast<double>(i) + 0.5) / static_cast<double>(kSamples);
    while (at + 1 < all.size() && upto[at] < wanted) {
      ++at;
    }
    left.push_back(static_cast<std::int32_t>(all[at]));
  }
  return measured_lengths(std::move(left));
}

}  // namespace

double share_beyond(const Traffic& t, std::int64_t context) {
  if (t.agents || t.input_tokens + t.output_tokens > context ||
      longest(t.input) + longest(t.output) <= context) {
    return 0.0;
  }
  // One of both is longer than the half.
  if (2.0 - share_up_to(t.input, context / 2) - share_up_to(t.output, context / 2) < kFew) {
    return 0.0;
  }
  // The lengths of a distribution that varies are exact.
  const bool fixed_input = t.input.shape == Lengths::Shape::fixed;
  const Lengths& coarse = fixed_input ? t.input : t.output;
  const Lengths& exact = fixed_input ? t.output : t.input;
  double beyond = 0.0;
  const std::vector<double> each = lengths_of(coarse, kCoarse);
  for (const double length : each) {
    beyond += 1.0 - share_up_to(exact, context - static_cast<std::int64_t>(length));
  }
  beyond /= static_cast<double>(each.size());
  return beyond < kFew ? 0.0 : beyond;
}

Traffic within_context(const Traffic& traffic, std::int64_t context, double beyond) {
  Traffic t = traffic;
  t.input = beside(traffic.input, traffic.output, context);
  t.output = beside(traffic.output, traffic.input, context);
  t.input_tokens =
      std::max(std::llround(mean(t.input)), static_cast<long long>(t.cached_tokens + 1));
  t.output_tokens = std::llround(mean(t.output));
  if (t.arrivals) {
    t.arrivals->rate = (1.0 - beyond) * t.arrivals->rate;
    for (base::Hertz& rate : t.arrivals->rates) {
      rate = (1.0 - beyond) * rate;
    }
  }
  return t;
}

}  // namespace roofcast::workloads
