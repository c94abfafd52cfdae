// SPDX-License-Identifier: Apache-2.0
//
// Changes of an architecture, over every model of the catalog.
#include "models/footprint.hpp"
#include "models/work.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/violations.hpp"
#include "tests/laws/catalog.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::laws::laws_transform {
namespace {

using workloads::Architecture;
using workloads::Mixer;

// A model with the change; nothing when it does not come out whole.
std::optional<Architecture> changed(const std::string& id, const std::string& change) {
  base::Problems problems;
  base::Node document =
      base::parse_document("test", fmt::format("model: {{base: \"{}\", {}}}", id, change));
  sim::load_references(document, problems);
  Architecture model = sim::read_model(document, problems);
  return problems.empty() ? std::optional(model) : std::nullopt;
}

std::string operators_of(const Architecture& model) {
  std::string text;
  workloads::Graph graph;
  for (const workloads::Batch& batch : batches()) {
    for (const workloads::Mapping& mapping : mappings(model)) {
      workloads::build_graph(model, precision("bf16"), mapping, {}, batch, graph);
      for (const workloads::Call& call : graph) {
        text += fmt::format("{} x {}: {}\n", call.count, call.name, describe(call.op));
      }
    }
  }
  return text;
}

TEST_CASE("A change by a factor of one is no change, operator by operator", "[laws]") {
  Violations law(0.0);
  std::size_t mixtures = 0;
  for (const Architecture& model : models()) {
    std::vector<std::string> changes;
    if (model.has(Mixer::attention)) {
      changes.push_back("replace_attention: {by: mamba, keep_every: 1}");
      changes.push_back("replace_attention: {by: delta_net, keep_every: 1}");
    }
    if (model.moe.experts > 0) {
      ++mixtures;
      changes.push_back("expert_granularity: 1");
      changes.push_back("latent_moe: {ratio: 1, variant: eff}");
      changes.push_back("latent_moe: {ratio: 1, variant: acc}");
    }
    changes.push_back("hold: {what: total parameters}");
    changes.push_back("hold: {what: active parameters}");
    for (const std::string& change : changes) {
      const auto same = changed(model.id, change);
      law.add(same && operators_of(*same) == operators_of(model) ? 0.0 : 1.0,
              [&] { return fmt::format("{}: {}", model.id, change); });
    }
  }
  CHECK(mixtures > 10);
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Experts at a latent width as wide as the hidden one are the standard mixture",
          "[laws]") {
  Violations law(0.0);
  for (const Architecture& model : models()) {
    if (model.moe.experts == 0 || model.projects_latent()) {
      continue;
    }
    const auto latent = changed(model.id, fmt::format("moe.latent: {}", model.hidden));
    law.add(latent && operators_of(*latent) == operators_of(model) &&
                    workloads::parameters(*latent).total() == workloads::parameters(model).total()
                ? 0.0
                : 1.0,
            [&] { return model.id; });
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Finer experts and accurate LatentMoE keep the experts' parameters and FLOP", "[laws]") {
  Violations parameters_law(1e-12);
  Violations flop_law(1e-12);
  const auto expert_flop = [](const Architecture& model) {
    workloads::Graph graph;
    workloads::build_graph(model, precision("bf16"), {}, {}, {64, 1, 1000, 0, 0, 0}, graph);
    double flop = 0.0;
    for (const workloads::Call& call : graph) {
      if (call.name == "moe.up" || call.name == "moe.down") {
        flop += call.count * models::work_of(call.op).flop.si();
      }
    }
    return flop;
  };
  for (const Architecture& model : models()) {
    if (model.moe.experts == 0 || model.projects_latent()) {
      continue;
    }
    for (const std::string change :
         {"expert_granularity: 2", "expert_granularity: 4", "latent_moe: {ratio: 2, variant: acc}",
          "latent_moe: {ratio: 4, variant: acc}"}) {
      const auto other = changed(model.id, change);
      if (!other) {
        continue;  // a width that does not divide
      }
      const auto tell = [&] { return fmt::format("{}: {}", model.id, change); };
      parameters_law.add(std::abs(workloads::parameters(*other).layers.experts /
                                      workloads::parameters(model).layers.experts -
                                  1.0),
                         tell);
      flop_law.add(std::abs(expert_flop(*other) / expert_flop(model) - 1.0), tell);
    }
  }
  CHECK(parameters_law.cases() > 40);
  ROOFCAST_CHECK_LAW(parameters_law);
  ROOFCAST_CHECK_LAW(flop_law);
}

TEST_CASE("Efficient LatentMoE divides a token's expert FLOP by its ratio, not the weights",
          "[laws]") {
  Violations law(1e-12);
  for (const Architecture& model : models()) {
    if (model.moe.experts == 0 || model.projects_latent()) {
      continue;
    }
    if (const auto eff = changed(model.id, "latent_moe: {ratio: 4, variant: eff}")) {
      const auto active = [](const Architecture& m) {
        return workloads::parameters(m).layers.experts * static_cast<double>(m.moe.top_k) /
               static_cast<double>(m.moe.experts);
      };
      law.add(std::abs(4.0 * active(*eff) / active(model) - 1.0), [&] { return model.id; });
      law.add(std::abs(workloads::parameters(*eff).layers.experts /
                           workloads::parameters(model).layers.experts -
                       1.0),
              [&] { return model.id; });
    }
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Held parameters come back to within the rounding of one width", "[laws]") {
  Violations law(1.0);
  for (const Architecture& model : models()) {
    for (const std::string what : {"total parameters", "active parameters"}) {
      const auto other = changed(
          model.id,
          fmt::format("replace_attention: {{by: sliding_attention, keep_every: 4, window: 512}}, "
                      "attention.kv_heads: {}, hold: {{what: {}, multiple_of: 8, at: {}}}",
                      model.attention.query_heads, what,
                      what == "total parameters" ? workloads::parameters(model).total()
                                                 : workloads::active_parameters(model)));
      if (!other) {
        continue;
      }
      const auto value = [&](const Architecture& m) {
        return what == "total parameters" ? workloads::parameters(m).total()
                                          : workloads::active_parameters(m);
      };
      // Half of 8 columns of every feed-forward that was widened.
      Architecture wider = *other;
      wider.moe.intermediate += 4;
      for (workloads::LayerGroup& group : wider.layers) {
        group.intermediate += group.ffn == workloads::Ffn::mlp ? 4 : 0;
      }
      const double step = value(wider) - value(*other);
      law.add(std::abs(value(*other) - value(model)) / step, [&] {
        return fmt::format("{}, {}: {} of {}", model.id, what, value(*other), value(model));
      });
    }
  }
  CHECK(law.cases() > 40);
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("Fewer layers of full attention keep less of a cache, in proportion", "[laws]") {
  Violations law(1e-12);
  for (const Architecture& model : models()) {
    const auto full = [](const Architecture& m) {
      double count = 0.0;
      for (const workloads::LayerGroup& group : m.layers) {
        count += group.mixer == Mixer::attention ? static_cast<double>(group.count) : 0.0;
      }
      return count;
    };
    const auto other = changed(model.id, "replace_attention: {by: delta_net, keep_every: 4}");
    const bool alike =
        std::all_of(model.layers.begin(), model.layers.end(), [&](const auto& group) {
          return group.mixer == model.layers.front().mixer &&
                 group.kv_heads == model.layers.front().kv_heads;
        });
    if (!other || !alike) {
      continue;
    }
    const auto cache = [](const Architecture& m) {
      return models::cache_bytes(4096.0, m, precision("bf16"), {}, 16).si();
    };
    law.add(std::abs(cache(*other) / cache(model) - full(*other) / full(model)),
            [&] { return model.id; });
  }
  CHECK(law.cases() > 10);
  ROOFCAST_CHECK_LAW(law);
}

}  // namespace
}  // namespace roofcast::laws::laws_transform
