// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training.hpp"

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_trainers();

base::Catalog trainer_catalog() { return {"trainers", "trainer", embedded_trainers()}; }

Mapping training_mapping(const Architecture& model, Mapping mapping) {
  if (model.moe.experts > 0 && mapping.stage_ranks() % mapping.expert_parallel == 0) {
    mapping.expert_replicas = mapping.stage_ranks() / mapping.expert_parallel;
  }
  return mapping;
}

void read(base::Fields& f, Trainer& trainer) {
  trainer.id = f.node().reference;
  f.text("name", trainer.name);
  f.group("pace", [&](base::Fields& g) {
    g.number("slowdown", trainer.slowdown, {1.0, 10.0});
    g.quantity("operator", trainer.operator_time, base::not_negative);
    g.quantity("per_step", trainer.step_overhead, base::not_negative);
    g.source();
  });
  f.group(
      "post_training",
      [&](base::Fields& g) {
        g.quantity("switch", trainer.switch_overhead, base::not_negative);
        g.source();
      },
      base::optional);
}

void read(base::Fields& f, Training& training) {
  f.integer("global_batch", training.global_batch, {1.0, 1e9});
  f.integer("sequence_length", training.sequence_length, {1.0, 1e8});
  f.integer("micro_batch", training.micro_batch, {1.0, 1e6}, base::optional);
  f.integer("virtual_stages", training.virtual_stages, {1.0, 1e3}, base::optional);
  f.choice<Recompute>(
      "recompute", training.recompute,
      {{"none", Recompute::none}, {"attention", Recompute::attention}, {"full", Recompute::full}},
      base::optional);
  f.choice<Sharding>("sharding", training.sharding,
                     {{"none", Sharding::none},
                      {"optimizer", Sharding::optimizer},
                      {"parameters", Sharding::parameters}},
                     base::optional);
  f.choice<double>("gradients", training.gradient_bytes, {{"fp32", 4.0}, {"bf16", 2.0}},
                   base::optional);
  f.flag("overlap", training.overlap, base::optional);
  f.group("trainer", [&](base::Fields& g) { read(g, training.trainer); });
}

}  // namespace roofcast::workloads
