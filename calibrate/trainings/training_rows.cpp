// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trainings/training_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/document/problems.hpp"
#include "calibrate/platforms/held_back.hpp"
#include "calibrate/platforms/named_parts.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::calibrate {
namespace {

constexpr std::pair<Layout, std::string_view> kLayouts[] = {
    {Layout::iteration_times, "iteration_times"},
    {Layout::model_parallel, "model_parallel"},
    {Layout::weak_scaling, "weak_scaling"},
    {Layout::bridge, "bridge"},
    {Layout::simumax, "simumax"},
    {Layout::mpt, "mpt"},
};

// The cluster that the table names; empty where the catalog knows none.
std::string system_called(std::string_view name) {
  return base::id_called(hardware::system_catalog(), name).value_or("");
}

// The number that follows `key` in a name of parts with underscores between them; `missing` without it.
std::int64_t numbered(std::string_view name, std::string_view key, std::int64_t missing) {
  std::size_t start = 0;
  while (start <= name.size()) {
    const std::size_t end = std::min(name.find('_', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    const auto value =
        part.starts_with(key) ? base::parse_number(part.substr(key.size())) : std::nullopt;
    if (value) {
      return std::llround(*value);
    }
    start = end + 1;
  }
  return missing;
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
  } else if (table.find_column("real_step_ms")) {
    layout_ = Layout::simumax;
  } else if (table.find_column("throughput_t_s_gpu")) {
    layout_ = Layout::mpt;
  } else {
    throw base::InputError(
        "error: no table of training steps: none of the columns iteration_time_s, "
        "model_parallel_size, per_gpu_tflops, \"Tokens / sec / GPU\" and GBS, real_step_ms, "
        "throughput_t_s_gpu\n");
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

Facts TrainingRows::facts(std::size_t row) const {
  Facts facts;
  facts.set("layout",
            std::find_if(std::begin(kLayouts), std::end(kLayouts), [&](const auto& named) {
              return named.first == layout_;
            })->second);
  facts.set("mode", text(row, "mode"));
  for (const std::string_view column : {"container", "Model", "System", "Precision", "PP", "VP"}) {
    facts.set(fmt::format("table.{}", column), text(row, column));
  }
  facts.set("table.model", "");
  facts.set("task", "pre-training");
  facts.set("experts", "no");
  facts.set("fsdp", "no");
  return facts;
}

void TrainingRows::read(const std::string& document, const Settings& settings,
                        MeasuredTraining& measured) const {
  base::Problems problems;
  base::Node node = base::parse_document("row", document);
  set(node, settings, problems);
  if (!calibration_.empty()) {
    sim::set_knob(node, {"--calibration", fmt::format("system.calibration={}", calibration_), {}},
                  problems);
  }
  problems.throw_if_any();
  measured.scenario = sim::read_scenario(std::move(node));
}

MeasuredTraining TrainingRows::bridge_row(std::size_t row) const {
  MeasuredTraining m;
  const std::string_view model = text(row, "Model");
  const std::string_view section = text(row, "section");
  const bool adapts = section.find("LoRA") != std::string_view::npos;
  const bool tunes = section.find("SFT") != std::string_view::npos;
  m.group = fmt::format("{}{}", model, adapts ? ", LoRA" : tunes ? ", SFT" : "");
  const workloads::Architecture* known_model = model_called(model);
  const std::string system = system_called(text(row, "System"));
  const std::string_view sharded = text(row, "FSDP");
  Facts known = facts(row);
  known.set("fsdp", !sharded.empty() && sharded != "0" && sharded != "n/a" ? "yes" : "no");
  known.set("task", adapts ? "lora" : tunes ? "sft" : "pre-training");
  known.set("experts", known_model != nullptr && known_model->moe.experts > 0 ? "yes" : "no");
  const Settings settings = conventions_.settings(known);
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
  if (known_model == nullptr) {
    m.reason = table_.find_column("Model") ? "the model is not in the catalog"
                                           : "the table has no column Model";
  } else if (system.empty()) {
    m.reason = "no cluster of the system in the catalog";
  } else if (find(settings, "precision") == nullptr) {
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
  // A setting of several releases is in one half.
  m.sets_trainer = !adapts && !tunes &&
                   draw_of(fmt::format("{} {} {}", model, m.chip, text(row, "Precision"))) % 2 == 0;
  read(
      fmt::format("system: {{base: {}, chips: {}}}\n"
                  "model: {{base: {}}}\n"
                  "deployment: {{tensor_parallel: {}, pipeline_parallel: {}, context_parallel: {}, "
                  "expert_parallel: {}, data_parallel: {}, sequence_parallel: {}}}\n"
                  "training: {{global_batch: {}, sequence_length: {}, micro_batch: {}, "
                  "virtual_stages: {}}}\n",
                  system, std::max<std::int64_t>(gpus, 576), known_model->id, tp, pp, cp,
                  size("EP"), gpus / (tp * pp * cp), tp > 1, std::llround(batch),
                  std::llround(length), size("MBS"), size("VP")),
      settings, m);
  return m;
}

// Of GPT's shape: heads of hidden / heads, a feed-forward four times as wide.
MeasuredTraining TrainingRows::gpt_row(std::size_t row) const {
  MeasuredTraining m;
  m.chip = std::string(text(row, "gpu"));
  const std::string system = system_called(m.chip);
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
  // On H100 stages exchange activations beside passes, which needs chunks (validate_args of megatron/training/arguments.py).
  // Each is a layer: 92 layers on 4 stages, a row of the table, leave no other choice. Its batches are of 4 sequences for each
  // stage of a replica; without stages they are one micro-batch.
  const double virtual_stages = timed  ? number(row, "interleave")
                                : !old ? std::max(1.0, pp > 1.0 ? layers / pp : 1.0)
                                : pp > 1.0 && std::fmod(layers / pp, 2) == 0.0 ? 2.0
                                                                               : 1.0;
  const double micro_batch = timed ? number(row, "micro_batch") : pp == 1.0 ? 4.0 : 1.0;
  read(fmt::format("system: {{base: {}, chips: {}}}\n"
                   "model: {{hidden: {}, vocab: {}, attention: {{query_heads: {}, kv_heads: {}, "
                   "head_dim: {}}}, mlp: {{intermediate: {}}}, layers: [{{count: {}, mixer: "
                   "attention, ffn: mlp}}]}}\n"
                   "deployment: {{tensor_parallel: {}, pipeline_parallel: {}, data_parallel: {}, "
                   "sequence_parallel: {}}}\n"
                   "training: {{global_batch: {}, sequence_length: {}, micro_batch: {}, "
                   "virtual_stages: {}}}\n",
                   system, std::max(576.0, gpus), hidden, vocab, heads, heads,
                   std::floor(hidden / heads), 4.0 * hidden, layers, tp, pp, gpus / (tp * pp),
                   tp > 1.0 && !old && mode != "full_recompute", batch, length, micro_batch,
                   virtual_stages),
       conventions_.settings(facts(row)), m);
  return m;
}

MeasuredTraining TrainingRows::simumax_row(std::size_t row) const {
  MeasuredTraining m;
  const std::string_view name = text(row, "case");
  m.group = std::string(name.substr(0, std::min(name.find("_l"), name.find("_tp"))));
  m.step_s = number(row, "real_step_ms") * 1e-3;
  m.memory = base::Bytes::from_si(number(row, "real_alloc_gib") * base::gibi);
  const auto size = [&](std::string_view key) { return numbered(name, key, 1); };
  const std::int64_t layers = size("l");
  Facts known = facts(row);
  known.set("table.model", m.group);
  const Settings settings = conventions_.settings(known);
  if (const base::Node* chip = find(settings, "run.chip")) {
    m.chip = chip->text;
  }
  const base::Node* first = find(settings, "run.dense_layers");  // the others have experts
  const std::int64_t dense =
      first == nullptr ? layers : std::llround(base::parse_number(first->text).value_or(0.0));
  read(
      fmt::format("model: {{layers: [{{count: {}, mixer: attention, ffn: mlp}}{}]}}\n"
                  "deployment: {{tensor_parallel: {}, pipeline_parallel: {}, context_parallel: {}, "
                  "expert_parallel: {}, data_parallel: {}, sequence_parallel: {}}}\n"
                  "training: {{global_batch: {}, sequence_length: {}}}\n",
                  dense,
                  layers > dense
                      ? fmt::format(", {{count: {}, mixer: attention, ffn: moe}}", layers - dense)
                      : std::string(),
                  size("tp"), size("pp"), size("cp"), size("ep"), size("dp"), size("tp") > 1,
                  size("mbc") * size("dp"), numbered(name, "seq", 4096)),
      settings, m);
  return m;
}

MeasuredTraining TrainingRows::mpt_row(std::size_t row) const {
  MeasuredTraining m;
  const std::string model(text(row, "model"));
  m.chip = std::string(text(row, "gpu"));
  m.group = fmt::format("MPT {}", model);
  const std::string system = system_called(m.chip);
  Facts known = facts(row);
  known.set("table.model", model);
  for (const std::string_view column :
       {"section", "precision", "sharding_strategy", "activation_checkpointing"}) {
    known.set(fmt::format("table.{}", column), text(row, column));
  }
  const Settings settings = conventions_.settings(known);
  const base::Node* layers = find(settings, "run.layers");
  if (layers == nullptr || system.empty()) {
    m.reason = layers == nullptr ? "the model is not in the conventions"
                                 : "no cluster of the system in the catalog";
    return m;
  }
  const double gpus = number(row, "gpus");
  const double batch = number(row, "globalbatchsize");
  const double length = number(row, "seqlen_t");
  m.step_s = batch * length / (number(row, "throughput_t_s_gpu") * gpus);
  read(fmt::format("system: {{base: {}, chips: {}}}\n"
                   "model: {{layers: [{{count: {}, mixer: attention, ffn: mlp}}]}}\n"
                   "deployment: {{data_parallel: {}}}\n"
                   "training: {{global_batch: {}, sequence_length: {}, micro_batch: {}}}\n",
                   system, std::max(8.0, gpus), layers->text, gpus, batch, length,
                   number(row, "microbatchsize")),
       settings, m);
  return m;
}

MeasuredTraining TrainingRows::row(std::size_t row) const {
  switch (layout_) {
    case Layout::bridge:
      return bridge_row(row);
    case Layout::simumax:
      return simumax_row(row);
    case Layout::mpt:
      return mpt_row(row);
    case Layout::iteration_times:
    case Layout::model_parallel:
    case Layout::weak_scaling:
      break;
  }
  return gpt_row(row);
}

}  // namespace roofcast::calibrate
