// SPDX-License-Identifier: Apache-2.0
//
// Which number formats of a scenario risk a run that does not converge, or answers that are wrong.
//
//   symbol   meaning
//   p        significant bits of a format: bf16 8, fp16 and tf32 11, E4M3 4, fp32 24
//   k        elements that a sum adds up, n for tokens of a context
//   N, M     ranks that add up gradients; micro-batches of a rank
//
//   rule                 figure                                                      at risk if
//   gradient_range       smallest gradient above zero, over the loss scale:          above 2^-27
//                        2^-24 in fp16, 2^-133 in bf16
//   activation_range     parameters of a model that trains in fp16                   103e9 or more
//   forward_products     largest relative error of a sum over k: every `depth`       above 1/16
//                        elements cut it to `bits`, by up to 2^-(bits-1) (rounded
//                        2^-bits). A sum is promoted to fp32 every `promotion`
//   backward_products    the same of products with gradients; k is n or m            above 1 %
//                        of the product in the forward pass
//   attention_products   the same over the keys of a query, in an 8-bit cache        above 3 %
//   weight_update        update over weight, lr · √((1-β1)/(1+β1)) / weight: Adam's  below 2^-p
//                        mean step for gradients that are noise
//   second_moment        change in a step, over its value: 1 - β2                    below 2^-p
//   sums                 √n · 2^-(p+1), the error of n sums that are rounded;        above 1 %
//                        n is a context or the width of a norm
//   gradient_sums        √(N + M - 2) · 2^-(p+1)                                     above 1 %
//   tensor_scales        tokens of a run with one FP8 scale a tensor and SwiGLU      above 200e9
//   fp4_share            share of the FLOP of linear layers that train in FP4        above 0.85, or without
//                                                                                    the measures
//
// Where a scenario does not say what its software does (section `numerics`), it does what is published for the stack or
// the trainer. Lines, facts and their sources: sim/numerics/facts.yaml. Worst cases of sums are bounds: every element has
// the same sign. The figures are orders of magnitude; a rule that is `fine` is no proof.
#pragma once

#include <vector>

#include "sim/numerics/risk.hpp"
#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {

// A verdict of each rule that applies: to what trains if the scenario trains, else to what is served. The scenario fits.
// With its estimate, remedies are estimated beside it; without, costs of other formats are left out.
std::vector<NumericRisk> numerics(const ScenarioView& scenario);
std::vector<NumericRisk> numerics(const ScenarioView& scenario, const ServingEstimate& now);

}  // namespace roofcast::sim
