// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/integers.hpp"
#include "models/training_footprint.hpp"
#include "models/work.hpp"
#include "sim/estimate.hpp"
#include "sim/numerics/rules.hpp"
#include "sim/training/exchange.hpp"
#include "sim/training/training.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::MathType;
using base::NumberFormat;
using workloads::WeightUpdate;

double half_unit(NumberFormat format) { return std::exp2(-significant_bits(format)); }

NumberFormat format_of(double bytes) {
  return bytes == 4.0 ? NumberFormat::fp32 : bytes == 2.0 ? NumberFormat::bf16 : NumberFormat::fp8;
}

// The smallest number above zero, subnormal ones included.
double smallest(NumberFormat format) {
  return format == NumberFormat::fp16 ? std::exp2(-24.0) : std::exp2(-133.0);
}

std::array<workloads::LinearFormat*, 7> linear_formats(workloads::Precision& p) {
  return {&p.attention, &p.attention_output, &p.recurrent, &p.mlp,
          &p.experts,   &p.shared,           &p.latent};
}

bool has_gated_layers(const workloads::Architecture& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [&](const auto& group) {
    return (group.ffn == workloads::Ffn::mlp && model.mlp.gated) ||
           (group.ffn == workloads::Ffn::moe && model.moe.gated);
  });
}

}  // namespace

void NumericRules::gradient_range() {
  const NumberFormat format = s_.precision->plain.activations;
  const bool scaled = format == NumberFormat::fp16;
  const double scale = scaled ? told_.loss_scale.value_or(software_->loss_scale) : 1.0;
  NumericRisk& risk =
      add("gradient_range", fmt::format("gradients of activations in {}", name(format)),
          "smallest gradient above zero", "", smallest(format) / scale,
          facts_.rule("gradient_range").threshold);
  risk.reason = !scaled        ? "the exponent of fp32"
                : scale == 1.0 ? "no loss scale"
                               : fmt::format("loss scale {:.6g}{}", scale,
                                             told_.loss_scale ? ""
                                             : published_     ? ", as " + software_name_
                                                              : ", which is usual");
  if (risk.at_risk) {
    risk.remedy =
        "numerics.loss_scale: 65536, lowered where gradients overflow; or precision: bf16";
    risk.cost = "no bytes and no FLOP; a step is skipped where a gradient overflows";
  }
}

void NumericRules::activation_range() {
  if (s_.precision->plain.activations != NumberFormat::fp16) {
    return;
  }
  NumericRisk& risk =
      add("activation_range", "activations in fp16, whose largest number is 65,504",
          "parameters of the model", "parameters", workloads::parameters(*s_.model).total(),
          facts_.rule("activation_range").threshold);
  risk.at_risk = risk.figure >= risk.threshold;
  risk.reason = "activations grow with the model and overflow";
  if (risk.at_risk) {
    workloads::Precision wider = *s_.precision;
    for (workloads::LinearFormat* format : linear_formats(wider)) {
      *format = {NumberFormat::bf16, NumberFormat::bf16};
    }
    wider.plain = wider.head = {NumberFormat::bf16, NumberFormat::bf16};
    ScenarioView other = s_;
    other.precision = &wider;
    risk.remedy = "precision: bf16";
    risk.cost = cost(other);
  }
}

void NumericRules::weight_update() {
  const WeightUpdate update = told_.weight_update.value_or(WeightUpdate::fp32);
  const NumberFormat format =
      update == WeightUpdate::fp32 ? NumberFormat::fp32 : s_.precision->plain.weights;
  const double rate = told_.learning_rate.value_or(facts_.learning_rate);
  const double step = rate * std::sqrt((1.0 - facts_.beta1) / (1.0 + facts_.beta1)) / facts_.weight;
  NumericRisk& risk =
      add("weight_update", fmt::format("updates of weights in {}", name(format)),
          "update over weight, at the highest learning rate", "", step, half_unit(format));
  risk.at_risk = update != WeightUpdate::stochastic && step < risk.threshold;
  risk.reason = update == WeightUpdate::fp32 ? "a copy of the weights in fp32"
                : update == WeightUpdate::stochastic
                    ? "rounded by chance, so that the mean of many updates is right"
                    : "rounding to nearest loses an update below half a unit of the last place";
  if (risk.at_risk) {
    const workloads::Mapping mapping = workloads::training_mapping(*s_.model, *s_.mapping);
    const models::RankParameters rank =
        models::rank_parameters(*s_.model, mapping, *s_.precision, *s_.training);
    risk.remedy = "numerics.weight_update: fp32, or stochastic";
    risk.cost = fmt::format(
        "fp32: a copy of {:.3g} GB on the fullest rank, which the estimate counts already; "
        "stochastic: random bits for each update",
        4.0 * updated_parameters(*s_.training, mapping, rank) / 1e9);
  }
}

void NumericRules::second_moment() {
  const NumberFormat format = format_of(s_.training->moment_bytes);
  NumericRisk& risk = add("second_moment", fmt::format("Adam's moments in {}", name(format)),
                          "change of the second moment in a step, over its value", "",
                          1.0 - told_.beta2.value_or(facts_.beta2), half_unit(format));
  risk.at_risk = risk.figure < risk.threshold;
  risk.reason = risk.at_risk ? "half a unit of the last place is more than a step changes"
                             : "a step changes more than half a unit of the last place";
  if (risk.at_risk) {
    const bool eight = format == NumberFormat::fp8;
    workloads::Training wider = *s_.training;
    wider.moment_bytes = eight ? 2.0 : 4.0;
    ScenarioView other = s_;
    other.training = &wider;
    risk.remedy = fmt::format("training.moments: {}", eight ? "bf16" : "fp32");
    risk.cost = cost(other);
  }
}

void NumericRules::gradient_sums() {
  const NumberFormat format = format_of(s_.training->gradient_bytes);
  const std::int64_t ranks = s_.mapping->data_parallel * s_.mapping->context_parallel;
  const std::int64_t batches = micro_batches(s_).count;
  NumericRisk& risk =
      add("gradient_sums",
          fmt::format("gradients in {}, {} ranks, {} micro-batches", name(format), ranks, batches),
          "relative error of a sum", "share",
          std::sqrt(as_double(std::max<std::int64_t>(ranks + batches - 2, 0))) *
              std::exp2(-1.0 - significant_bits(format)),
          facts_.rule("gradient_sums").threshold);
  risk.reason = "each addition rounds to the format of the gradients";
  if (risk.at_risk) {
    workloads::Training wider = *s_.training;
    wider.gradient_bytes = 4.0;
    ScenarioView other = s_;
    other.training = &wider;
    risk.remedy = "training.gradients: fp32, twice the bytes";
    risk.cost = cost(other);
  }
}

double NumericRules::run_tokens() const {
  const workloads::TrainingRun& run = *s_.run;
  if (run.days > 0.0) {
    Workspace workspace;
    const ServingEstimate e = now_ != nullptr ? *now_ : estimate(s_, workspace);
    return e.workflow && e.workflow->run ? e.workflow->run->tokens : 0.0;
  }
  const workloads::Training& t = *s_.training;
  return run.tokens > 0.0 ? run.tokens : run.steps * as_double(t.global_batch * t.sequence_length);
}

void NumericRules::tensor_scales() {
  workloads::Precision blocks = *s_.precision;
  bool tensors = false;
  for (workloads::LinearFormat* format : linear_formats(blocks)) {
    if (format->activations == NumberFormat::fp8) {
      *format = {NumberFormat::fp8_block, NumberFormat::fp8_block};
      tensors = true;
    }
  }
  if (!tensors || (s_.post_training != nullptr && s_.run == nullptr)) {
    return;
  }
  double tokens = facts_.tokens_per_parameter * workloads::active_parameters(*s_.model);
  if (s_.run != nullptr) {
    tokens = run_tokens();
  }
  NumericRisk& risk = add("tensor_scales", "linear layers with one FP8 scale a tensor",
                          s_.run != nullptr ? "tokens of the run" : "tokens at 20 a parameter",
                          "tokens", tokens, facts_.rule("tensor_scales").threshold);
  const bool gated = has_gated_layers(*s_.model);
  risk.at_risk = risk.at_risk && gated;
  risk.reason = gated ? "SwiGLU makes outliers late in a run; in E4M3 (2^-9 to 448) they leave few "
                        "steps to the other values of the tensor"
                      : "no gated feed-forward, whose products make outliers";
  if (risk.at_risk) {
    ScenarioView other = s_;
    other.precision = &blocks;
    risk.remedy = "precision: fp8_block, with a scale for each 128 elements";
    risk.cost = cost(other);
  }
}

void NumericRules::fp4_share(const workloads::Graph& forward) {
  double all = 0.0;
  double four = 0.0;
  for (const workloads::Call& call : forward) {
    const auto count = [&](const auto& op) {
      const double flop = call.in_layers ? call.count * models::work_of(op).flop.si() : 0.0;
      all += flop;
      four += base::math_of(op.activations, op.weights) == MathType::fp4 ? flop : 0.0;
    };
    if (const auto* gemm = std::get_if<workloads::Gemm>(&call.op)) {
      count(*gemm);
    } else if (const auto* grouped = std::get_if<workloads::GroupedGemm>(&call.op)) {
      count(*grouped);
    }
  }
  if (four == 0.0) {
    return;
  }
  const bool plain = told_.fp4_recipe == workloads::Fp4Recipe::plain;
  NumericRisk& risk = add("fp4_share", "linear layers that train in FP4", "share of their FLOP",
                          "share", four / all, facts_.rule("fp4_share").threshold);
  const bool many = risk.at_risk;
  risk.at_risk = many || plain;
  risk.reason = many    ? "training diverges if no layer stays in 16 bits"
                : plain ? "without 2-D scales, Hadamard transforms and stochastic rounding"
                        : "with 2-D scales, Hadamard transforms and stochastic rounding";
  if (risk.at_risk) {
    const models::Machine& machine = platform_->machine;
    const double ratio = machine.tensor_rate(MathType::fp4) / machine.tensor_rate(MathType::bf16);
    risk.remedy = many ? "the last layers, 15 % of the FLOP, in bf16" : "numerics.fp4_recipe: full";
    risk.cost = many ? fmt::format(
                           "{:.0f} % more time of the linear layers: bf16 has 1/{:.1f} of "
                           "the rate of FP4 here",
                           100.0 * (four / all - risk.threshold) * (ratio - 1.0), ratio)
                     : "kernels of their own, whose time is not published";
  }
}

void NumericRules::training() {
  const workloads::Training& t = *s_.training;
  const workloads::Graph forward =
      forward_graph(s_, workloads::training_mapping(*s_.model, *s_.mapping), micro_batches(s_));
  gradient_range();
  activation_range();
  products(forward);
  weight_update();
  second_moment();
  sums(as_double(t.sequence_length));
  gradient_sums();
  tensor_scales();
  fp4_share(forward);
}

}  // namespace roofcast::sim
