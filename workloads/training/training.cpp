// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/nearest.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_trainers();

namespace {

// One value or a list of them: `none`, `full`, or names of parts. `full` and `add` are called for what is found.
template <class Full, class Add>
void read_parts(base::Fields& f, std::string_view key, std::span<const std::string_view> parts,
                Full full, Add add) {
  const base::Node* node = f.take(key);
  if (node == nullptr) {
    return;
  }
  std::vector<std::string> names;
  if (!node->is_sequence()) {
    names.emplace_back("none");
    names.emplace_back("full");
  }
  names.insert(names.end(), parts.begin(), parts.end());
  const auto take = [&](const base::Node& item) {
    const auto name = std::find(names.begin(), names.end(), item.text);
    if (!item.is_scalar() || name == names.end()) {
      const auto near = base::nearest_name(item.text, names);
      f.problem(key, fmt::format("unknown value \"{}\"{} (allowed: {})", item.text,
                                 near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                                 fmt::join(names, ", ")));
    } else if (*name == "full") {
      full();
    } else if (*name != "none") {
      add(static_cast<std::size_t>(std::find(parts.begin(), parts.end(), *name) - parts.begin()));
    }
  };
  if (node->is_sequence()) {
    std::for_each(node->items.begin(), node->items.end(), take);
  } else {
    take(*node);
  }
}

void read_layout(base::Fields& f, PipelineLayout& layout) {
  std::string text;
  f.text("layout", text, base::optional);
  if (text.empty()) {
    return;
  }
  ParsedLayout parsed = parse_layout(text);
  if (!parsed.problem.empty()) {
    f.problem("layout", parsed.problem);
  }
  layout = std::move(parsed.layout);
}

}  // namespace

base::Catalog trainer_catalog() { return {"trainers", "trainer", embedded_trainers()}; }

PipelineLayout layout_of(const Training& training, std::int64_t layers, std::int64_t stages) {
  return training.layout.empty() ? even_layout(layers, stages * training.virtual_stages)
                                 : training.layout;
}

Mapping training_mapping(const Architecture& model, Mapping mapping) {
  if (model.moe.experts > 0 && mapping.stage_ranks() % mapping.expert_parallel == 0) {
    mapping.expert_replicas = mapping.stage_ranks() / mapping.expert_parallel;
  }
  return mapping;
}

std::int64_t replicas_together(const Architecture& model, const Mapping& mapping) {
  const std::int64_t parts = mapping.expert_parallel;
  return model.moe.experts > 0
             ? parts / std::gcd(parts, mapping.tensor_parallel * mapping.context_parallel)
             : 1;
}

Precision training_precision(Precision precision, const Training& training) {
  precision.kv_cache =
      training.fp8_attention ? base::NumberFormat::fp8 : precision.plain.activations;
  return precision;
}

std::int64_t ranks_of_stage(Schedule schedule) { return schedule == Schedule::dualpipe ? 2 : 1; }

std::int64_t rank_of_chunk(Schedule schedule, std::int64_t chunk, std::int64_t ranks) {
  return schedule == Schedule::zero_bubble_v && chunk >= ranks ? 2 * ranks - 1 - chunk
                                                               : chunk % ranks;
}

std::int64_t chunk_of_rank(Schedule schedule, std::int64_t rank, std::int64_t k,
                           std::int64_t ranks) {
  return schedule == Schedule::zero_bubble_v && k == 1 ? 2 * ranks - 1 - rank : rank + k * ranks;
}

double moments(const Training& training, double parameters, double tables) {
  return training.muon ? parameters + tables : 2.0 * parameters;
}

const LinearFormat* inference_format(const Precision& precision) {
  const LinearFormat* const formats[] = {
      &precision.attention, &precision.attention_output, &precision.recurrent, &precision.mlp,
      &precision.experts,   &precision.shared,           &precision.latent};
  const auto* const differs =
      std::find_if(std::begin(formats), std::end(formats), [](const LinearFormat* format) {
        return format->weights != format->activations || format->storage != base::WeightStorage{};
      });
  return differs == std::end(formats) ? nullptr : *differs;
}

void read(base::Fields& f, Trainer& trainer) {
  trainer.id = f.node().reference;
  f.text("name", trainer.name);
  f.text("stack", trainer.stack, base::optional);
  f.group("pace", [&](base::Fields& g) {
    g.number("slowdown", trainer.slowdown, {1.0, 10.0});
    g.quantity("operator", trainer.operator_time, base::not_negative);
    g.quantity("expert_kernel", trainer.expert_kernel, base::not_negative, base::optional);
    g.quantity("counts", trainer.counts, base::not_negative, base::optional);
    g.number("recurrence", trainer.recurrence, {0.1, 10.0}, base::optional);
    g.number("overlapped", trainer.overlapped, {1.0, 10.0}, base::optional);
    g.quantity("per_step", trainer.step_overhead, base::not_negative);
    g.source();
  });
  f.each(
      "kernels",
      [&](base::Fields& g) {
        TrainerKernels& kernels = trainer.kernels.emplace_back();
        g.text("chip", kernels.chip);
        g.number("gemm", kernels.gemm, {1.0, 10.0}, base::optional);
        g.number("all", kernels.all, {0.1, 10.0}, base::optional);
        g.quantity("expert_launch", kernels.expert_launch, base::positive, base::optional);
        g.source();
      },
      base::optional);
  f.group(
      "post_training",
      [&](base::Fields& g) {
        g.quantity("switch", trainer.switch_overhead, base::not_negative);
        g.source();
      },
      base::optional);
  f.group(
      "errors",
      [&](base::Fields& g) {
        StepErrors& errors = trainer.errors.emplace();
        g.number("low", errors.low, {0.1, 1.0});
        g.number("high", errors.high, {1.0, 10.0});
        g.source();
      },
      base::optional);
}

void read(base::Fields& f, Training& training) {
  f.integer("global_batch", training.global_batch, {1.0, 1e9});
  f.integer("sequence_length", training.sequence_length, {1.0, 1e8});
  f.integer("micro_batch", training.micro_batch, {1.0, 1e6}, base::optional);
  f.integer("virtual_stages", training.virtual_stages, {1.0, 1e3}, base::optional);
  f.choice<Schedule>("schedule", training.schedule,
                     {{"1f1b", Schedule::one_forward_one_backward},
                      {"zero_bubble", Schedule::zero_bubble},
                      {"dualpipe", Schedule::dualpipe},
                      {"zb_v", Schedule::zero_bubble_v}},
                     base::optional);
  if (training.schedule == Schedule::zero_bubble_v) {
    if (training.virtual_stages != 2) {
      f.problem("schedule", "zb_v has two chunks of layers a rank: virtual_stages: 2");
    }
  } else if (training.schedule != Schedule::one_forward_one_backward &&
             training.virtual_stages > 1) {
    f.problem("schedule",
              "only 1f1b and zb_v have several chunks of layers a rank (virtual_stages)");
  }
  read_layout(f, training.layout);
  read_parts(
      f, "recompute", kModuleNames, [&] { training.recompute.full = true; },
      [&](std::size_t at) { training.recompute.add(static_cast<Module>(at)); });
  f.integer("recompute_layers", training.recompute.layers, {1.0, 1e6}, base::optional);
  if (training.recompute.layers > 0 && !training.recompute.full) {
    f.problem("recompute_layers", "layers are computed again with recompute: full only");
  }
  f.group(
      "offload",
      [&](base::Fields& g) {
        g.integer("layers", training.offload.layers, {0.0, 1e6});
        g.quantity("bandwidth", training.offload.bandwidth);
      },
      base::optional);
  f.choice<Sharding>("sharding", training.sharding,
                     {{"none", Sharding::none},
                      {"optimizer", Sharding::optimizer},
                      {"gradients", Sharding::gradients},
                      {"parameters", Sharding::parameters}},
                     base::optional);
  f.choice<bool>("optimizer", training.muon, {{"adam", false}, {"muon", true}}, base::optional);
  if (training.muon && training.sharding >= Sharding::gradients) {
    f.problem("optimizer",
              "muon multiplies whole matrices, and sharding of gradients or parameters cuts them: "
              "sharding optimizer or none");
  }
  f.choice<double>("gradients", training.gradient_bytes, {{"fp32", 4.0}, {"bf16", 2.0}},
                   base::optional);
  f.choice<double>("moments", training.moment_bytes, {{"fp32", 4.0}, {"bf16", 2.0}, {"fp8", 1.0}},
                   base::optional);
  f.choice<bool>("parameters", training.quantised_parameters,
                 {{"bf16", false}, {"quantised", true}}, base::optional);
  f.flag("fused_loss", training.fused_loss, base::optional);
  f.flag("fused_attention", training.fused_attention, base::optional);
  if (!training.fused_attention && !training.recompute.full &&
      !training.recompute.has(Module::attention)) {
    f.problem("fused_attention",
              "scores that attention keeps for the backward pass are not in the memory here: "
              "recompute must be full or have attention");
  }
  f.flag("fused_rope", training.fused_rope, base::optional);
  f.flag("fused_experts", training.fused_experts, base::optional);
  f.flag("dropout", training.dropout, base::optional);
  f.choice<RankOrder>("rank_order", training.rank_order,
                      {{"tp-cp-dp-pp", RankOrder::data_then_pipeline},
                       {"tp-cp-pp-dp", RankOrder::pipeline_then_data}},
                      base::optional);
  f.flag("overlap", training.overlap, base::optional);
  f.flag("tensor_overlap", training.tensor_overlap, base::optional);
  f.flag("expert_overlap", training.expert_overlap, base::optional);
  if (training.expert_overlap && training.schedule == Schedule::zero_bubble_v) {
    f.problem("expert_overlap",
              "zb_v runs no forward beside a backward pass: schedule 1f1b or dualpipe");
  }
  f.choice<Dispatcher>("dispatcher", training.dispatcher,
                       {{"fused", Dispatcher::fused}, {"all_to_all", Dispatcher::all_to_all}},
                       base::optional);
  f.choice<bool>("dispatch", training.quantised_dispatch, {{"bf16", false}, {"quantised", true}},
                 base::optional);
  f.flag("grouped_experts", training.grouped_experts, base::optional);
  f.choice<bool>("expert_activations", training.fp8_expert_activations,
                 {{"bf16", false}, {"fp8", true}}, base::optional);
  read_parts(
      f, "cuda_graphs", kGraphedPartNames, [&] { training.cuda_graphs.full = true; },
      [&](std::size_t at) { training.cuda_graphs.add(static_cast<GraphedPart>(at)); });
  f.choice<bool>("attention", training.fp8_attention, {{"bf16", false}, {"fp8", true}},
                 base::optional);
  f.integer("mtp", training.predicted_tokens, {0.0, 100.0}, base::optional);
  f.integer("packed", training.packed, {1.0, 1e8}, base::optional);
  f.group(
      "lora",
      [&](base::Fields& g) {
        g.integer("rank", training.lora.rank, {1.0, 1e5});
        read_parts(
            g, "layers", kAdaptedLayerNames, [] {},
            [&](std::size_t at) { training.lora.add(static_cast<AdaptedLayer>(at)); });
        if (const base::Node* layers = g.node().find("layers");
            layers != nullptr && training.lora.layers == 0) {
          g.problem("layers", "an adapter is beside a layer: qkv, out, up or down");
        } else if (layers == nullptr) {
          training.lora.layers = 0xf;
        }
      },
      base::optional);
  if (training.lora.trains() && training.sharding == Sharding::parameters) {
    f.problem("lora",
              "adapters beside parameters that are sharded are not described: sharding optimizer "
              "or gradients");
  }
  if (training.lora.trains() && training.muon) {
    f.problem("optimizer", "adapters (lora) are trained by adam");
  }
  f.group(
      "jitter",
      [&](base::Fields& g) {
        g.number("deviation", training.jitter.deviation, {0.0, 1.0}, base::optional);
        g.number("slow_hosts", training.jitter.slow_hosts, {0.0, 1.0}, base::optional);
        g.number("slower_by", training.jitter.slower_by, {0.0, 10.0}, base::optional);
      },
      base::optional);
  f.group("trainer", [&](base::Fields& g) { read(g, training.trainer); });
}

}  // namespace roofcast::workloads
