// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "sim/numerics/remedy_cost.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::sim {

using base::as_double;
using base::MathType;
using base::NumberFormat;

int significant_bits(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return 24;
    case NumberFormat::tf32:
    case NumberFormat::fp16:
      return 11;
    case NumberFormat::bf16:
      return 8;
    default:
      return 4;  // E4M3
  }
}

NumericRules::NumericRules(const ScenarioView& scenario, const ServingEstimate* now)
    : s_(scenario),
      now_(now),
      facts_(numeric_facts()),
      told_(scenario.numerics != nullptr ? *scenario.numerics : workloads::Numerics()) {
  const bool own = s_.pool_platforms != nullptr && s_.pool_platforms->decode != nullptr;
  platform_ = own ? s_.pool_platforms->decode.get() : s_.platform;
  const bool trains = s_.training != nullptr;
  software_ = &facts_.practice(trains ? s_.training->trainer.id : s_.serving->stack.id);
  published_ = software_ != &facts_.usual;
  software_name_ = trains ? s_.training->trainer.name : s_.serving->stack.name;
}

std::string NumericRules::cost(const ScenarioView& other) const {
  return now_ == nullptr ? std::string() : remedy_cost(*now_, other);
}

NumericRisk& NumericRules::add(std::string_view rule, std::string what, std::string quantity,
                               std::string_view unit, double figure, double threshold) {
  NumericRisk risk;
  risk.rule = rule;
  risk.what = std::move(what);
  risk.quantity = std::move(quantity);
  risk.unit = unit;
  risk.figure = figure;
  risk.threshold = threshold;
  risk.at_risk = figure > threshold;
  risk.source = facts_.rule(rule).source;
  return risks_.emplace_back(std::move(risk));
}

// How the tensor cores add up products of this type. None: in fp32, or as good as that.
std::optional<Accumulator> NumericRules::accumulator(MathType math) const {
  if (math == MathType::fp8) {
    const auto known = facts_.fp8_accumulators.find(platform_->system.chip.architecture);
    return known == facts_.fp8_accumulators.end() ? Accumulator() : known->second;
  }
  if (math == MathType::fp16 && told_.accumulator == NumberFormat::fp16) {
    Accumulator half;
    half.error.bits = significant_bits(NumberFormat::fp16);
    half.error.cuts = false;
    return half;
  }
  return std::nullopt;
}

namespace {

std::string sums_of(const SumError& error) {
  return fmt::format("sums of {:.0f} significant bits, {}", error.bits,
                     error.promotion > 0.0
                         ? fmt::format("promoted to fp32 every {:.0f} elements", error.promotion)
                         : "never promoted");
}

// Adds where a fact is from that the verdict rests on.
void cite(NumericRisk& risk, std::string_view what, const std::string& source) {
  if (!source.empty()) {
    risk.source += fmt::format(". {}: {}", what, source);
  }
}

// One product of a linear layer.
struct Product {
  std::string_view name;
  double k = 0.0;
  SumError error;
  MathType math = MathType::fp32;
  bool usual = false;  // promoted as the software does it

  double loss() const { return error.of(k); }
};

void keep_worse(std::optional<Product>& worst, const Product& product) {
  if (!worst || product.loss() > worst->loss()) {
    worst = product;
  }
}

}  // namespace

// What the tensor cores lose of the deepest products: in the forward pass, and of gradients.
void NumericRules::products(const workloads::Graph& forward) {
  std::optional<Product> ahead;
  std::optional<Product> back;
  const auto examine = [&](std::string_view name, const auto& op, double rows) {
    const MathType math = base::math_of(op.activations, op.weights);
    const std::optional<Accumulator> sums = accumulator(math);
    if (!sums) {
      return;
    }
    const bool blocks =
        op.activations == NumberFormat::fp8_block || op.weights == NumberFormat::fp8_block;
    Product product{name, as_double(op.k), sums->error, math, !told_.promotion && !blocks};
    const auto promotion = [&](std::int64_t usual) {
      return as_double(told_.promotion.value_or(blocks ? facts_.block_promotion : usual));
    };
    product.error.promotion = promotion(0);
    keep_worse(ahead, product);
    product.error.promotion = promotion(math == MathType::fp8 ? software_->backward_promotion : 0);
    for (const double k : {as_double(op.n), rows}) {
      product.k = k;
      keep_worse(back, product);
    }
  };
  for (const workloads::Call& call : forward) {
    if (const auto* gemm = std::get_if<workloads::Gemm>(&call.op)) {
      examine(call.name, *gemm, as_double(gemm->m));
    } else if (const auto* grouped = std::get_if<workloads::GroupedGemm>(&call.op)) {
      examine(call.name, *grouped, grouped->pairs / std::max(1.0, grouped->distinct));
    }
  }
  const auto report = [&](std::string_view rule, const Product& product) -> NumericRisk& {
    NumericRisk& risk = add(
        rule, fmt::format("{} in {}, k = {:.0f}", product.name, name(product.math), product.k),
        "largest relative error of a sum", "share", product.loss(), facts_.rule(rule).threshold);
    risk.reason = sums_of(product.error);
    cite(risk, "Accumulator", accumulator(product.math)->source);
    if (risk.at_risk && product.math == MathType::fp8) {
      risk.remedy = "kernels that promote (numerics.promotion: 128), or precision: fp8_block";
      risk.cost = "no substantial overhead every 128 elements (arXiv 2412.19437 section 3.3.2)";
    } else if (risk.at_risk) {
      risk.remedy = "numerics.accumulator: fp32";
      risk.cost = "none: the estimate's tensor rates are those with sums in fp32";
    }
    return risk;
  };
  if (ahead) {
    report("forward_products", *ahead);
  }
  if (back && s_.training != nullptr) {
    NumericRisk& risk = report("backward_products", *back);
    if (back->usual && back->math == MathType::fp8 && published_) {
      cite(risk, software_name_, software_->source);
    }
  }
}

// Probabilities times values of an 8-bit cache: the sum over the keys of a context.
void NumericRules::attention(const workloads::Graph& graph, double context) {
  double keys = 0.0;
  for (const workloads::Call& call : graph) {
    if (const auto* op = std::get_if<workloads::DecodeAttention>(&call.op);
        op != nullptr && platform_->machine.attention_math(op->heads.cache) == MathType::fp8) {
      keys = std::max(
          keys, op->heads.window > 0 ? std::min(as_double(op->heads.window), context) : context);
    }
  }
  if (keys == 0.0) {
    return;
  }
  const std::optional<Accumulator> sums = accumulator(MathType::fp8);
  SumError error = sums->error;
  error.promotion = as_double(told_.promotion.value_or(software_->attention_promotion));
  NumericRisk& risk =
      add("attention_products", fmt::format("attention over a cache in 8 bits, {:.0f} keys", keys),
          "largest relative error of a sum", "share", error.of(keys),
          facts_.rule("attention_products").threshold);
  risk.reason = sums_of(error);
  cite(risk, "Accumulator", sums->source);
  if (!told_.promotion && !sums->source.empty()) {
    if (published_) {
      cite(risk, software_name_, software_->source);
    } else {
      risk.reason += fmt::format("; that kernels of {} promote is not published", software_name_);
    }
  }
  if (risk.at_risk) {
    workloads::Precision wider = *s_.precision;
    wider.kv_cache = wider.plain.activations;
    ScenarioView other = s_;
    other.precision = &wider;
    risk.remedy = "kernels that promote (numerics.promotion), or a cache in 16 bits";
    risk.cost = "in 16 bits: " + cost(other);
  }
}

// Sums of softmax and norms.
void NumericRules::sums(double context) {
  const NumberFormat format = told_.sums.value_or(NumberFormat::fp32);
  const double n = std::max(context, as_double(s_.model->hidden));
  NumericRisk& risk =
      add("sums", fmt::format("softmax and norms over {:.0f} elements", n),
          "relative error of a sum", "share",
          std::sqrt(n) * std::exp2(-1.0 - significant_bits(format)), facts_.rule("sums").threshold);
  risk.reason = fmt::format("sums in {}{}", name(format),
                            told_.sums ? "" : ", as flash attention and fused norms add up");
  if (risk.at_risk) {
    risk.remedy = "numerics.sums: fp32";
    risk.cost = "none: these kernels wait for memory (arXiv 1710.03740 section 3.3)";
  }
}

void NumericRules::serving() {
  const workloads::Traffic& traffic = *s_.traffic;
  const std::int64_t context = traffic.input_tokens + traffic.output_tokens;
  workloads::Batch batch;
  batch.prefill_sequences = 1;
  batch.prefill_tokens = std::max<std::int64_t>(traffic.input_tokens, 1);
  if (traffic.output_tokens > 1) {
    batch.decode_sequences = 1;
    batch.context = context;
  }
  workloads::Graph graph;
  workloads::build_graph(*s_.model, *s_.precision, *s_.mapping, {}, batch, graph);
  products(graph);
  attention(graph, as_double(context));
  sums(as_double(context));
}

}  // namespace roofcast::sim
