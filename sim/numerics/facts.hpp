// SPDX-License-Identifier: Apache-2.0
//
// What is published about number formats (sim/numerics/facts.yaml), as rules use it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sim/numerics/sum_error.hpp"

namespace roofcast::sim {

struct Accumulator {
  SumError error;
  std::string source;
};

// What software does with number formats.
struct Practice {
  double loss_scale = 1.0;
  std::int64_t backward_promotion = 0;  // elements of k; 0: never
  std::int64_t attention_promotion = 0;
  std::string source;
};

struct Line {
  double threshold = 0.0;
  std::string source;
};

struct NumericFacts {
  std::map<std::string, Accumulator, std::less<>> fp8_accumulators;  // by architecture of the chip
  std::map<std::string, Practice, std::less<>> software;             // by id of a stack or trainer
  Practice usual;
  double learning_rate = 0.0;
  double weight = 0.0;  // root mean square
  double beta1 = 0.0;
  double beta2 = 0.0;
  std::int64_t block_promotion = 0;
  double tokens_per_parameter = 0.0;
  std::map<std::string, Line, std::less<>> rules;

  const Practice& practice(std::string_view id) const;
  const Line& rule(std::string_view name) const { return rules.find(name)->second; }
};

// Read once. Throws InputError if a file of the user in their place is wrong.
const NumericFacts& numeric_facts();

}  // namespace roofcast::sim
