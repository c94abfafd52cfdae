// SPDX-License-Identifier: Apache-2.0
//
// How many tokens a prompt or an answer has, as a distribution:
//
//   1024                                            all lengths are equal
//   {uniform: [820, 1024]}                          each of 820..1024 equally often
//   {lognormal: {mean: 1000, cv: 1.2, max: 8192}}   rounded, then clamped to 1..max; mean and cv are those
//                                                   before clamping
//
// The lengths of a recorded trace are a distribution too (measured_lengths).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/document/fields.hpp"
#include "base/statistics/random.hpp"

namespace roofcast::workloads {

struct Lengths {
  enum class Shape : std::uint8_t { fixed, uniform, lognormal, measured };

  Shape shape = Shape::fixed;
  std::int64_t least = 1;  // tokens; with fixed, least and most are both the length
  std::int64_t most = 1;   // tokens
  double mean = 1.0;       // tokens, of lognormal and measured
  double cv = 0.0;         // of lognormal and measured
  std::shared_ptr<const std::vector<std::int32_t>> samples = nullptr;  // of measured, sorted
};

// Each of these lengths is equally likely. There is at least one; none is more than 1e9 tokens.
Lengths measured_lengths(std::vector<std::int32_t> samples);

// `key` of `f` is a number or a map. An optional key that is absent gives the fixed length `least`.
void read(base::Fields& f, std::string_view key, Lengths& lengths,
          base::Need need = base::required);

double mean(const Lengths& lengths);  // of drawn lengths, without their rounding
inline std::int64_t longest(const Lengths& lengths) { return lengths.most; }
// Variance over mean² of drawn lengths.
double squared_variation(const Lengths& lengths);

// The probability that a drawn length has at most so many tokens.
double share_up_to(const Lengths& lengths, std::int64_t tokens);

std::int64_t draw(const Lengths& lengths, base::Random& random);

}  // namespace roofcast::workloads
