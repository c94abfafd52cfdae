// SPDX-License-Identifier: Apache-2.0
//
// The rules of sim/numerics/numerics.hpp, over what they share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/numerics/facts.hpp"
#include "sim/numerics/risk.hpp"
#include "sim/numerics/sum_error.hpp"
#include "sim/result/serving_estimate.hpp"
#include "sim/scenario/scenario.hpp"
#include "workloads/graph/operator.hpp"

namespace roofcast::sim {

int significant_bits(base::NumberFormat format);

class NumericRules {
 public:
  // Without an estimate `now`, costs that need one are left out.
  NumericRules(const ScenarioView& scenario, const ServingEstimate* now);

  void serving();
  void training();
  std::vector<NumericRisk> risks() && { return std::move(risks_); }

 private:
  NumericRisk& add(std::string_view rule, std::string what, std::string quantity,
                   std::string_view unit, double figure, double threshold);
  std::string cost(const ScenarioView& other) const;
  std::optional<Accumulator> accumulator(base::MathType math) const;
  void products(const workloads::Graph& forward);
  void attention(const workloads::Graph& graph, double context);
  void sums(double context);
  void gradient_range();
  void activation_range();
  void weight_update();
  void second_moment();
  void gradient_sums();
  double run_tokens() const;
  void tensor_scales();
  void fp4_share(const workloads::Graph& forward);

  const ScenarioView& s_;
  const ServingEstimate* now_;
  const NumericFacts& facts_;
  const workloads::Numerics told_;
  const Platform* platform_ = nullptr;
  const Practice* software_ = nullptr;
  std::string software_name_;
  bool published_ = false;  // what the software does
  std::vector<NumericRisk> risks_;
};

}  // namespace roofcast::sim
