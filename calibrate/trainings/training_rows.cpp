// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trainings/training_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/problems.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::calibrate {
namespace {

struct Name {
  std::string_view theirs, ours;
};

constexpr Name kModels[] = {
    {"DeepSeekV3", "deepseek-v3"},
    {"GPT OSS 120B", "gpt-oss-120b"},
    {"Qwen3_30B_a3B", "qwen3-30b-a3b"},
    {"Qwen3_235B_a22B", "qwen3-235b-a22b"},
    {"Nemotron_3_Nano", "nemotron-3-nano-30b-a3b"},
    {"Nemotron_3_5_Lightning", "nemotron-3.5-lightning-30b-a3b"},
    {"Nemotron_3_Super", "nemotron-3-super-120b-a12b"},
    {"Nemotron_3_Ultra", "nemotron-3-ultra-550b-a55b"},
    {"LLAMA3.1_405B", "llama-3.1-405b"},
    {"LLAMA3_70B", "llama-3.1-70b"},
    {"LLAMA3_8B", "llama-3.1-8b"},
    {"Kimi_K2", "kimi-k2"},
};

constexpr Name kSystems[] = {
    {"DGX-H100", "h100_cluster_128"},      {"DGX-B200", "b200_cluster_128"},
    {"DGX-GB200", "gb200_nvl72_x8"},       {"DGX-GB300", "gb300_nvl72_x8"},
    {"H100", "h100_cluster_128"},          {"A100-80GB (DGX A100/Selene)", "a100_cluster_128"},
    {"A100-80GB SXM", "a100_cluster_128"},
};

// Of weights and activations of linear layers; attention is in bf16.
constexpr Name kPrecisions[] = {{"BF16", "bf16"},  {"FP8", "fp8"},   {"FP8-CS", "fp8"},
                                {"FP8-MX", "fp8"}, {"MXFP8", "fp8"}, {"NVFP4", "nvfp4"}};

std::string_view ours(std::span<const Name> names, std::string_view theirs) {
  for (const Name& name : names) {
    if (name.theirs == theirs) {
      return name.ours;
    }
  }
  return {};
}

bool with_experts(std::string_view id) { return !id.starts_with("llama"); }

std::string precision(std::string_view id) {
  return fmt::format("{{base: {}, kv_cache: bf16}}", id);
}

}  // namespace

TrainingRows::TrainingRows(const base::CsvTable& table, std::string calibration)
    : table_(table), calibration_(std::move(calibration)) {
  if (table.find_column("iteration_time_s")) {
    layout_ = Layout::iteration_times;
  } else if (table.find_column("model_parallel_size")) {
    layout_ = Layout::model_parallel;
  } else if (table.find_column("per_gpu_tflops")) {
    layout_ = Layout::weak_scaling;
  } else if (table.find_column("Tokens / sec / GPU") && table.find_column("GBS")) {
    layout_ = Layout::bridge;
  } else {
    throw base::InputError(
        "error: no table of training steps: none of the columns iteration_time_s, "
        "model_parallel_size, per_gpu_tflops, \"Tokens / sec / GPU\" and GBS\n");
  }
}

std::string_view TrainingRows::text(std::size_t row, std::string_view column) const {
  const auto at = table_.find_column(column);
  return at ? table_.cell(row, *at) : std::string_view();
}

double TrainingRows::number(std::size_t row, std::string_view column) const {
  std::string cell(text(row, column));
  cell.erase(std::remove(cell.begin(), cell.end(), ','), cell.end());
  return base::parse_number(cell).value_or(0.0);
}

void TrainingRows::read(const std::string& document, MeasuredTraining& measured) const {
  base::Node node = base::parse_document("row", document);
  if (!calibration_.empty()) {
    base::Problems problems;
    sim::set_knob(node, {"--set", fmt::format("system.calibration={}", calibration_), {}},
                  problems);
    problems.throw_if_any();
  }
  measured.scenario = sim::read_scenario(std::move(node));
}

MeasuredTraining TrainingRows::bridge_row(std::size_t row) const {
  MeasuredTraining m;
  // The shorter table names the model in its caption.
  std::string_view model = text(row, "Model");
  if (model.empty()) {
    const std::string_view section = text(row, "section");
    const auto colon = section.rfind("Model: ");
    model = colon == std::string_view::npos ? section : section.substr(colon + 7);
  }
  m.group = std::string(model);
  const std::string_view id = ours(kModels, model);
  const std::string_view system = ours(kSystems, text(row, "System"));
  const std::string_view format = ours(kPrecisions, text(row, "Precision"));
  m.chip = std::string(text(row, "System"));
  const auto size = [&](std::string_view column) {
    return std::max<std::int64_t>(1, std::llround(number(row, column)));
  };
  const std::int64_t gpus = size("#-GPUs");
  const std::int64_t tp = size("TP");
  const std::int64_t pp = size("PP");
  const std::int64_t cp = size("CP");
  const double tokens = number(row, "Tokens / sec / GPU");
  const double length = number(row, "Sequence Length");
  const double batch = number(row, "GBS");
  const std::string_view task = text(row, "section");
  if (task.find("Pre-Training") == std::string_view::npos) {
    m.reason = "no pre-training";
  } else if (id.empty()) {
    m.reason = "the model is not in the catalog";
  } else if (system.empty()) {
    m.reason = "no cluster of the system in the catalog";
  } else if (format.empty()) {
    m.reason = "a precision that is not in the catalog";
  } else if (!(tokens > 0.0) || !(length > 0.0) || !(batch > 0.0)) {
    m.reason = "no tokens a second, sequence length or batch";
  } else if (gpus % (tp * pp * cp) != 0) {
    m.reason = "the GPUs are not a multiple of TP x PP x CP";
  }
  if (!m.reason.empty()) {
    return m;
  }
  m.step_s = batch * length / (tokens * static_cast<double>(gpus));
  const std::string_view sharded = text(row, "FSDP");
  const bool fsdp = !sharded.empty() && sharded != "0" && sharded != "n/a";
  read(fmt::format(
           "system: {{base: {}, chips: {}}}\n"
           "model: {{base: {}, max_context: 1000000{}}}\nprecision: {}\n"
           "deployment: {{tensor_parallel: {}, pipeline_parallel: {}, context_parallel: {}, "
           "expert_parallel: {}, data_parallel: {}, sequence_parallel: {}}}\n"
           "training: {{global_batch: {}, sequence_length: {}, micro_batch: {}, "
           "virtual_stages: {}, gradients: bf16, sharding: {}, trainer: megatron}}\n",
           system, std::max<std::int64_t>(gpus, 576), id,
           with_experts(id) ? ", expert_load: {variation: 0, source: even}" : "", precision(format),
           tp, pp, cp, size("EP"), gpus / (tp * pp * cp), tp > 1, std::llround(batch),
           std::llround(length), size("MBS"), size("VP"), fsdp ? "parameters" : "optimizer"),
       m);
  return m;
}

// Of GPT's shape: heads of hidden / heads, a feed-forward four times as wide.
MeasuredTraining TrainingRows::gpt_row(std::size_t row) const {
  MeasuredTraining m;
  m.chip = std::string(text(row, "gpu"));
  const std::string_view system = ours(kSystems, m.chip);
  const bool old = layout_ == Layout::model_parallel;
  const bool timed = layout_ == Layout::iteration_times;
  m.group = std::string(text(row, timed ? "mode" : "gpu"));
  const double hidden = number(row, timed ? "hidden" : "hidden_size");
  const double layers = number(row, timed ? "layers" : "num_layers");
  const double gpus = number(row, timed ? "n_gpus" : "num_gpus");
  const double batch = number(row, timed ? "global_batch" : "batch_size_seqs");
  const double vocab = old || timed ? 51200.0 : number(row, "vocab");
  const double length = old ? 2048.0 : number(row, "seq_len");
  const double parallel = number(row, "model_parallel_size");
  const double tp = old ? std::min(8.0, parallel) : number(row, "tp");
  const double pp = old ? std::max(1.0, parallel / 8.0) : number(row, "pp");
  // Of arXiv 2104.04473 the heads are not in the table, and matter little.
  const double heads = timed ? number(row, "heads")
                       : old ? std::max(8.0 * std::round(hidden / 128.0 / 8.0), 8.0)
                             : number(row, "attention_heads");
  if (system.empty()) {
    m.reason = "no cluster of the system in the catalog";
    return m;
  }
  const double s_h = length / hidden;
  const double v_lh = vocab / (layers * hidden);
  const double flop =
      batch * length * layers * hidden * hidden *
      (old ? 96.0 * (1.0 + s_h / 6.0 + v_lh / 16.0) : 72.0 * (1.0 + s_h / 6.0 + v_lh / 12.0));
  const double rate = number(row, old ? "tflops_per_gpu" : "per_gpu_tflops") * base::tera;
  m.step_s = timed ? number(row, "iteration_time_s") : flop / (gpus * rate);
  const std::string_view mode = text(row, "mode");
  const bool selective = mode.find("selective") != std::string_view::npos;
  const double virtual_stages = timed ? number(row, "interleave")
                                : old && pp > 1.0 && std::fmod(layers / pp, 2) == 0.0 ? 2.0
                                                                                      : 1.0;
  const double micro_batch = timed ? number(row, "micro_batch") : old && pp == 1.0 ? 4.0 : 1.0;
  read(
      fmt::format(
          "system: {{base: {}, chips: {}}}\n"
          "model: {{base: megatron-1.7b, max_context: 1000000, hidden: {}, vocab: {}, attention: "
          "{{query_heads: {}, "
          "kv_heads: {}, head_dim: {}}}, mlp: {{intermediate: {}}}, layers: [{{count: {}, mixer: "
          "attention, ffn: mlp}}]}}\n"
          "precision: {}\n"
          "deployment: {{tensor_parallel: {}, pipeline_parallel: {}, data_parallel: {}, "
          "sequence_parallel: {}}}\n"
          "training: {{global_batch: {}, sequence_length: {}, micro_batch: {}, virtual_stages: {}, "
          "recompute: {}, sharding: {}, trainer: megatron}}\n",
          system, std::max(576.0, gpus), hidden, vocab, heads, heads, std::floor(hidden / heads),
          4.0 * hidden, layers, layout_ == Layout::weak_scaling ? "bf16" : "fp16", tp, pp,
          gpus / (tp * pp), tp > 1.0 && !old && mode != "full_recompute", batch, length,
          micro_batch, virtual_stages,
          selective                         ? "attention"
          : layout_ == Layout::weak_scaling ? "none"
                                            : "full",
          layout_ == Layout::weak_scaling ? "optimizer" : "none"),
      m);
  return m;
}

MeasuredTraining TrainingRows::row(std::size_t row) const {
  return layout_ == Layout::bridge ? bridge_row(row) : gpt_row(row);
}

}  // namespace roofcast::calibrate
