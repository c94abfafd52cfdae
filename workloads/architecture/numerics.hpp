// SPDX-License-Identifier: Apache-2.0
//
// The `numerics:` section: how kernels and the trainer treat the number formats of a scenario. It changes no time. Rules
// about what converges read it (sim/numerics/numerics.hpp). A key that is absent means what the software does
// (sim/numerics/facts.yaml).
//
//   numerics:
//     loss_scale: 8           # factor on the loss, so that small gradients stay above zero; 1: none
//     promotion: 128          # elements of k that a product adds up before its sum goes on in fp32; 0: never
//     accumulator: fp16       # of products in 16 bits
//     weight_update: nearest  # fp32: a copy of the weights in fp32; nearest, stochastic: none, and so rounded
//     sums: bf16              # in which softmax and norms add up
//     fp4_recipe: plain       # training in NVFP4 without the measures of `full`
//     learning_rate: 3e-4     # the highest of the schedule
//     beta2: 0.95             # of Adam
#pragma once

#include <cstdint>
#include <optional>

#include "base/document/fields.hpp"
#include "base/units/number_format.hpp"

namespace roofcast::workloads {

enum class WeightUpdate : std::uint8_t { fp32, nearest, stochastic };

// Measures for training in NVFP4: 2-D scales of weights, random Hadamard transforms, stochastic rounding of gradients.
enum class Fp4Recipe : std::uint8_t { full, plain };

struct Numerics {
  std::optional<double> loss_scale;
  std::optional<std::int64_t> promotion;
  std::optional<base::NumberFormat> accumulator;
  std::optional<WeightUpdate> weight_update;
  std::optional<base::NumberFormat> sums;
  std::optional<Fp4Recipe> fp4_recipe;
  std::optional<double> learning_rate;
  std::optional<double> beta2;
};

void read(base::Fields& f, Numerics& numerics);

}  // namespace roofcast::workloads
