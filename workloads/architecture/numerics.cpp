// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/numerics.hpp"

namespace roofcast::workloads {
namespace {

template <class E>
void read_choice(base::Fields& f, std::string_view key, std::optional<E>& target,
                 const base::Choices<E>& choices) {
  E value = choices.front().second;
  f.choice(key, value, choices, base::optional);
  if (f.has(key)) {
    target = value;
  }
}

void read_number(base::Fields& f, std::string_view key, std::optional<double>& target,
                 base::Range range) {
  double value = range.least;
  f.number(key, value, range, base::optional);
  if (f.has(key)) {
    target = value;
  }
}

}  // namespace

void read(base::Fields& f, Numerics& numerics) {
  using base::NumberFormat;
  read_number(f, "loss_scale", numerics.loss_scale, {1.0, 1e12});
  f.integer("promotion", numerics.promotion, {0.0, 1e9});
  read_choice<NumberFormat>(f, "accumulator", numerics.accumulator,
                            {{"fp32", NumberFormat::fp32}, {"fp16", NumberFormat::fp16}});
  read_choice<WeightUpdate>(f, "weight_update", numerics.weight_update,
                            {{"fp32", WeightUpdate::fp32},
                             {"nearest", WeightUpdate::nearest},
                             {"stochastic", WeightUpdate::stochastic}});
  read_choice<NumberFormat>(
      f, "sums", numerics.sums,
      {{"fp32", NumberFormat::fp32}, {"bf16", NumberFormat::bf16}, {"fp16", NumberFormat::fp16}});
  read_choice<Fp4Recipe>(f, "fp4_recipe", numerics.fp4_recipe,
                         {{"full", Fp4Recipe::full}, {"plain", Fp4Recipe::plain}});
  read_number(f, "learning_rate", numerics.learning_rate, {1e-9, 1.0});
  read_number(f, "beta2", numerics.beta2, {0.5, 0.99999});
}

}  // namespace roofcast::workloads
