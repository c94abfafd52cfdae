// SPDX-License-Identifier: Apache-2.0
#include "calibrate/operators/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/integers.hpp"
#include "calibrate/operators/exchange_rows.hpp"
#include "calibrate/operators/kind_columns.hpp"
#include "calibrate/operators/recurrent_rows.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::calibrate {
namespace {

using base::NumberFormat;
using namespace workloads;

constexpr double kRowMaximum = 7e-9;   // seconds
constexpr double kEngineLayer = 6e-6;  // seconds

// Operands of a multiplication as the tables name them; no value for formats roofcast has not.
std::optional<LinearFormat> operands(std::string_view dtype) {
  static constexpr std::pair<std::string_view, LinearFormat> kOperands[] = {
      {"bfloat16", {NumberFormat::bf16, NumberFormat::bf16}},
      {"float16", {NumberFormat::fp16, NumberFormat::fp16}},
      {"fp8", {NumberFormat::fp8, NumberFormat::fp8}},
      {"fp8_block", {NumberFormat::fp8_block, NumberFormat::fp8_block}},
      {"nvfp4", {NumberFormat::nvfp4, NumberFormat::nvfp4}},
      {"sq", {NumberFormat::int8, NumberFormat::int8}},
      {"int8", {NumberFormat::int8, NumberFormat::int8}},
      {"tf32", {NumberFormat::tf32, NumberFormat::tf32}},
      {"int8_wo", {NumberFormat::int8, NumberFormat::bf16}},
      {"int4_wo", {NumberFormat::int4, NumberFormat::bf16}},
      {"w4a16_mxfp4", {NumberFormat::mxfp4, NumberFormat::bf16}},
      {"w4a8_mxfp4_mxfp8", {NumberFormat::mxfp4, NumberFormat::fp8}},
  };
  for (const auto& [name, format] : kOperands) {
    if (name == dtype) {
      return format;
    }
  }
  return std::nullopt;
}

Elementwise pass(double elements, NumberFormat format) {
  return {elements * kHiddenBytes, base::bytes_of(elements, format).si(), elements};
}

// Quantising [m,k] activations as the stack's linear layer does, where the row was measured with it.
void quantise(std::int64_t m, std::int64_t k, NumberFormat format, MeasuredOperator& measured) {
  const auto elements = static_cast<double>(m * k);
  const double wide = elements * 2.0;
  const double narrow = base::bytes_of(elements, format).si();
  auto& out = measured.operators;
  if (format != NumberFormat::fp8) {
    out.push_back(pass(elements, format));
  } else if (measured.stack == "vllm") {
    out.push_back(Elementwise{2.0 * wide, narrow, elements});
    measured.overhead_s = static_cast<double>(m) * kRowMaximum;
  } else {
    out.insert(out.end(), 2, Elementwise{});
    out.push_back(Elementwise{wide, 0.0, elements});
    out.push_back(Elementwise{wide, narrow, elements});
  }
}

// The kernel before prefill: rotates `rotated` elements of queries in place, and writes the `cached`
// ones of keys and values to the cache.
Elementwise rotate_and_append(std::int64_t rotated, std::int64_t cached, NumberFormat cache) {
  const auto queries = static_cast<double>(rotated) * kHiddenBytes;
  const auto keys_and_values = static_cast<double>(cached);
  return {queries + keys_and_values * kHiddenBytes,
          queries + base::bytes_of(keys_and_values, cache).si(), 0.0};
}

// Rows of every head, from one of its dimensions to another; the weights are in the L2 from the run before.
Gemm projected(std::int64_t rows, std::int64_t from, std::int64_t to, std::int64_t heads) {
  return {rows, to, from, heads, NumberFormat::bf16, NumberFormat::bf16, 1};
}

bool multiplies_fp8(std::string_view chip) {
  const hardware::Chip* known = chip_called(chip);
  return known == nullptr || known->peak(base::MathType::fp8).si() > 0.0;
}

// What vLLM's MLA does before prefill: writes the latents to the cache, expands them to keys and values,
// joins the keys with the rotated part and pads the values to the keys' width.
void expand_latents(std::int64_t tokens, AttentionHeads& heads, std::vector<Operator>& out) {
  const std::int64_t expanded = heads.query_heads * (128 + heads.value_dim);
  heads.value_dim = heads.qk_dim;
  const double joined = static_cast<double>(2 * tokens * heads.query_heads * heads.qk_dim);
  out.push_back(rotate_and_append(0, tokens * 576, heads.cache));
  out.push_back(projected(tokens, 512, expanded, 1));
  out.push_back(Elementwise{static_cast<double>(tokens * expanded) * kHiddenBytes,
                            joined * kHiddenBytes, 0.0});
}

constexpr std::pair<std::string_view, CollectiveKind> kCollectives[] = {
    {"all_reduce", CollectiveKind::all_reduce},
    {"all_gather", CollectiveKind::all_gather},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"alltoall", CollectiveKind::all_to_all},
};

std::optional<CollectiveKind> collective_kind(std::string_view name) {
  for (const auto& [known, kind] : kCollectives) {
    if (known == name) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view collective_name(CollectiveKind kind) {
  for (const auto& [name, known] : kCollectives) {
    if (known == kind) {
      return name;
    }
  }
  return workloads::name(kind);
}

std::vector<std::string> operator_kinds() {
  std::vector<std::string> names;
  for (const KindColumns& columns : kind_columns()) {
    names.emplace_back(columns.kind);
  }
  return names;
}

bool has_layers(const std::string& kind) { return !columns_of(kind).layer.empty(); }

OperatorRows::OperatorRows(std::string kind, const base::CsvTable& table)
    : kind_(std::move(kind)),
      table_(table),
      chip_(table.column("system")),
      stack_(table.column("fw")),
      format_(table.column(columns_of(kind_).format)),
      cells_(table),
      neighbours_(kind_ == "gemm_power" ? PowerNeighbours(table) : PowerNeighbours()) {
  for (const std::string_view name : columns_of(kind_).shape) {
    shape_.push_back(table.column(name));
  }
  for (const std::string_view name : columns_of(kind_).layer) {
    if (const auto column = table.find_column(name)) {
      layer_.push_back(*column);
    }
  }
  for (const std::string_view name : columns_of(kind_).latencies) {
    latencies_.push_back(table.column(name));
    unit_s_ = (name.ends_with("_us") ? base::microsecond : base::millisecond) / base::second;
  }
}

std::string OperatorRows::shape(std::size_t row) const {
  // Those behind power_limit_w are roofcast-bench's.
  static const std::vector<std::string> not_shape = {"system",         "fw",
                                                     "fw_version",     "kernel_source",
                                                     "power_w",        "power_limit_w",
                                                     "latency_p10_ms", "latency_p90_ms",
                                                     "samples",        "tflop_per_s",
                                                     "reason",         "cache_bandwidth_gb_per_s",
                                                     "power_p10_w",    "power_p90_w",
                                                     "sm_clock_mhz",   "memory_clock_mhz",
                                                     "temperature_c"};
  std::string text;
  for (std::size_t column = 0; column < table_.columns().size(); ++column) {
    const bool measured =
        std::find(latencies_.begin(), latencies_.end(), column) != latencies_.end();
    const std::string& name = table_.columns()[column];
    if (!measured && column != format_ &&
        std::find(not_shape.begin(), not_shape.end(), name) == not_shape.end()) {
      text += table_.cell(row, column);
      text += ' ';
    }
  }
  return text;
}

std::vector<std::string> OperatorRows::layer(std::size_t row) const {
  std::vector<std::string> dimensions;
  for (const std::size_t column : layer_) {
    dimensions.emplace_back(table_.cell(row, column));
  }
  if (kind_.starts_with("gemm") || dimensions.empty()) {
    return dimensions;
  }
  return {fmt::format("{}", fmt::join(dimensions, " "))};
}

double OperatorRows::number(std::size_t row, std::size_t shape_column) const {
  return base::parse_number(table_.cell(row, shape_[shape_column])).value_or(std::nan(""));
}

std::int64_t OperatorRows::integer(std::size_t row, std::size_t shape_column) const {
  const double value = number(row, shape_column);
  return std::isfinite(value) ? static_cast<std::int64_t>(value) : 0;
}

// Empty where the table has no such column.
std::string_view OperatorRows::text(std::size_t row, std::string_view column) const {
  const auto found = table_.find_column(column);
  return found ? std::string_view(table_.cell(row, *found)) : std::string_view();
}

std::string OperatorRows::chip(std::size_t row) const {
  const hardware::Chip* known = chip_called(table_.cell(row, chip_));
  return known != nullptr ? known->id : std::string(table_.cell(row, chip_));
}

MeasuredOperator OperatorRows::row(std::size_t row) const {
  MeasuredOperator measured;
  measured.chip = chip(row);
  measured.stack = stack(row);
  measured.version = version(row);
  measured.format = table_.cell(row, format_);
  for (const std::size_t column : latencies_) {
    measured.measured_s += base::parse_number(table_.cell(row, column)).value_or(0.0) * unit_s_;
  }
  if (!(measured.measured_s > 0.0 && std::isfinite(measured.measured_s))) {
    measured.reason = "no measured latency";
    return measured;
  }
  if (kind_ == "gemm_power") {
    measured.measured_w = base::parse_number(text(row, "power_w")).value_or(0.0);
    measured.neighbours = neighbours_.of(row);
    if (!(measured.measured_w > 0.0)) {
      measured.reason = "no measured power";
      return measured;
    }
  }
  measured.reason = cells_.wrong(row);
  if (measured.reason.empty()) {
    read_shape(row, measured);
  }
  return measured;
}

void OperatorRows::read_shape(std::size_t row, MeasuredOperator& measured) const {
  const auto at = [&](std::size_t column) { return integer(row, column); };
  const auto settings = [&](const Gemm* gemm) -> const OperatorSettings& {
    return conventions_.of(
        {kind_, measured.stack, measured.format, text(row, "kernel_source"), gemm});
  };
  auto& out = measured.operators;
  if (kind_ == "nccl" || kind_ == "custom_allreduce") {
    const bool custom = kind_ == "custom_allreduce";
    const auto kind = custom ? CollectiveKind::all_reduce : collective_kind(measured.format);
    if (!kind) {
      measured.reason = "collective " + measured.format + " is not modelled";
      return;
    }
    const double bytes = number(row, 1);
    AllReduceKernels kernels = AllReduceKernels::library;
    if (custom) {
      kernels = measured.format == "TRTLLM" ? AllReduceKernels::flags : AllReduceKernels::barriers;
      measured.host = settings(nullptr).host;
    }
    if (measured.host.launches > 0.0) {
      out.push_back(Elementwise{bytes, bytes, 0.0});
    }
    Collective op{*kind, bytes, at(0), 1, kernels};
    op.sums_int8 = !custom && text(row, "nccl_dtype") == "int8" &&
                   (*kind == CollectiveKind::all_reduce || *kind == CollectiveKind::reduce_scatter);
    out.push_back(op);
    return;
  }
  const auto named = [&](std::string_view column) {
    const double value = base::parse_number(table_.cell(row, table_.column(column))).value_or(0.0);
    return static_cast<std::int64_t>(value);
  };
  if (kind_ == "mamba2" || kind_ == "gdn") {
    if (const auto op = recurrent_operator(kind_, measured.format, measured.stack, named)) {
      out.push_back(*op);
    } else {
      measured.reason = "kernel " + measured.format + " is not modelled";
    }
    return;
  }
  const auto format = operands(kind_.starts_with("deepep") ? "fp8" : measured.format);
  if (format && (kind_.starts_with("deepep") || kind_ == "trtllm_alltoall")) {
    const std::string_view name = text(row, "op_name");
    ExchangeRow exchange =
        exchange_row(kind_, name, text(row, "kernel_source"), format->activations, named);
    out = std::move(exchange.operators);
    measured.overhead_s = exchange.overhead_s;
    if (out.empty()) {
      measured.reason = std::string(name) + " is not modelled";
    }
    return;
  }
  if (!format) {
    measured.reason = "number format " + measured.format + " is not modelled";
    return;
  }
  if (kind_ == "gemm" || kind_ == "gemm_power") {
    Gemm gemm{at(0), at(1), at(2), 1, format->activations, format->weights};
    const OperatorSettings& known = settings(&gemm);
    measured.host = known.host;
    if (measured.format == "sq" || measured.format.ends_with("_wo")) {
      measured.overhead_s = kEngineLayer;
    } else {
      gemm.copies = known.weight_copies;
      if (base::bits(format->activations) < 16.0 && measured.stack != kBench) {
        quantise(gemm.m, gemm.k, format->activations, measured);
      }
    }
    out.push_back(gemm);
  } else if (kind_ == "attention_context" || kind_ == "attention_generation") {
    const AttentionHeads heads{at(3),          at(4), at(5), at(5), at(6), 2 * at(4) * at(5),
                               format->weights};
    if (kind_ == "attention_context") {
      if (measured.stack == "trtllm") {
        const std::int64_t tokens = at(0) * at(1);
        out.push_back(
            rotate_and_append(tokens * at(3) * at(5), tokens * heads.cache_elements, heads.cache));
      }
      if (measured.stack == "vllm" && at(1) == 1) {
        out.push_back(DecodeAttention{heads, at(0), 1, 1 + at(2), true});
      } else {
        const bool widened = measured.stack == "trtllm" && text(row, "attn_dtype") == "bfloat16" &&
                             heads.cache == NumberFormat::fp8;
        out.push_back(PrefillAttention{heads, at(0), at(1), at(2), widened});
      }
    } else {
      out.push_back(DecodeAttention{heads, at(0), 1, at(1) + at(2), true});
    }
  } else if (kind_ == "mla_context") {
    // DeepSeek's dimensions: 128 + 64 for queries and keys, 128 for values; 512 + 64 are cached.
    AttentionHeads heads{at(3), at(3), 192, 128, 0, at(3) * (192 + 128), format->weights};
    measured.host = settings(nullptr).host;
    const std::int64_t tokens = at(0) * at(1);
    if (measured.stack == "vllm") {
      expand_latents(tokens, heads, out);
    } else {
      out.push_back(rotate_and_append(tokens * at(3) * 64, tokens * 576, heads.cache));
      if (heads.cache == NumberFormat::fp8 && multiplies_fp8(measured.chip)) {
        out.push_back(pass(static_cast<double>(tokens * at(3) * (192 + 192 + 128)), heads.cache));
      }
    }
    out.push_back(PrefillAttention{heads, at(0), at(1), at(2)});
  } else if (kind_ == "mla_generation") {
    const AttentionHeads heads{at(3), 1, 576, 512, 0, 576, format->weights};
    measured.host = settings(nullptr).host;
    const DecodeAttention attention{heads, at(0), 1, at(1) + at(2), true};
    if (measured.stack == "vllm") {
      out = {projected(at(0), 128, 512, at(3)), rotate_and_append(0, at(0) * 576, heads.cache),
             attention, projected(at(0), 512, 128, at(3))};
    } else {
      out.push_back(attention);
    }
  } else {
    const std::string_view distribution =
        table_.find_column("distribution") ? text(row, "distribution") : "balanced";
    if (!is_distribution(distribution)) {
      measured.reason = fmt::format("distribution \"{}\" is not modelled", distribution);
      return;
    }
    const std::int64_t hidden = at(1);
    const std::int64_t width = at(2) / at(5);
    const ExpertKernel& kernel = kernels_.of(text(row, "kernel_source"), measured.chip,
                                             {hidden, at(4), at(3), std::string(measured.format)});
    const auto [pairs, distinct] =
        loads_.of({at(0), at(3), at(4), at(6), kernel.groups, kernel.kept_groups}, distribution);
    const bool gated = kernel.gated ? *kernel.gated : has_gated_experts(at(4), at(3), at(2));
    const std::int64_t up = (gated ? 2 : 1) * width;
    const bool balanced = distribution == "balanced";
    const bool even = balanced && kernel.groups == 1;
    const bool second = kernel.alternative_kernel;
    measured.untuned = kernel.untuned || (kernel.groups > 1 && !balanced);
    const NumberFormat a = format->activations;
    const double rows = kernel.keeps_all_rows ? static_cast<double>(at(0) * at(3)) : pairs;
    out.push_back(
        ExpertRouting{at(0), rows, hidden, at(4), at(3), a, second,
                      kernel.searches_experts && !second ? base::ceil_div(at(4), at(6)) : 0});
    out.push_back(GroupedGemm{pairs, distinct, up, hidden, a, format->weights, even, second});
    out.push_back(Elementwise{rows * static_cast<double>(up) * 2.0,
                              base::bytes_of(rows * static_cast<double>(width), a).si(), 0.0});
    out.push_back(GroupedGemm{pairs, distinct, hidden, width, a, format->weights, even, second});
  }
}

}  // namespace roofcast::calibrate
