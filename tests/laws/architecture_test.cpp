// SPDX-License-Identifier: Apache-2.0
//
// Two descriptions of the same model forecast the same; every model runs where it can.
#include <cmath>
#include <map>

#include "models/work.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/scenario/references.hpp"
#include "tests/catch.hpp"
#include "tests/laws/cases/serving_cases.hpp"
#include "tests/laws/cases/violations.hpp"
#include "workloads/architecture/parameters.hpp"

namespace roofcast::laws::laws_architecture {
namespace {

using workloads::Architecture;
using workloads::Ffn;
using workloads::LayerGroup;
using workloads::Mixer;

bool same(const workloads::Graph& a, const workloads::Graph& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const workloads::Call& x, const workloads::Call& y) {
                      return x.op == y.op && x.name == y.name && x.count == y.count;
                    });
}

// Compares graphs, weights and caches of two descriptions over mappings, precisions and batches.
template <class Change>
void check_equal(Change change) {
  Violations law(0.0);
  workloads::Graph first;
  workloads::Graph second;
  for (const Architecture& model : models()) {
    Architecture other = model;
    if (!change(other)) {
      continue;
    }
    for (const auto& p : precisions()) {
      if (!natural(model, p)) {
        continue;
      }
      for (const auto& mapping : mappings(model)) {
        if (mapping.pipeline_parallel > 1) {
          continue;  // layers may be counted in other pieces
        }
        const auto where = [&] {
          return fmt::format("{} {} {}", model.id, p.id, describe(mapping));
        };
        for (const auto& batch : batches()) {
          workloads::build_graph(model, p, mapping, {}, batch, first);
          workloads::build_graph(other, p, mapping, {}, batch, second);
          law.add(same(first, second) ? 0.0 : 1.0, where);
        }
        const auto held = [&](const Architecture& m) {
          return models::weight_bytes(m, p, mapping) +
                 models::cache_bytes(5000.0, m, p, mapping, 16) +
                 models::state_bytes(m, p, mapping);
        };
        law.add(std::abs(held(other) / held(model) - 1.0) < 1e-12 ? 0.0 : 1.0, where);
      }
    }
    law.add(std::abs(workloads::parameters(other).total() / workloads::parameters(model).total() -
                     1.0) < 1e-12
                ? 0.0
                : 1.0,
            [&] { return model.id; });
  }
  ROOFCAST_CHECK_LAW(law);
}

// A hybrid whose layers are half layers, as Nemotron-H writes them, all of them attention.
TEST_CASE("A hybrid with all layers attention equals the dense model", "[laws]") {
  check_equal([](Architecture& m) {
    std::vector<LayerGroup> halves;
    for (LayerGroup group : m.layers) {
      if (!workloads::attends(group.mixer) || group.ffn == Ffn::none) {
        return false;
      }
      LayerGroup ffn = group;
      group.ffn = Ffn::none;
      group.intermediate = 0;
      ffn.mixer = Mixer::none;
      halves.push_back(group);
      halves.push_back(ffn);
    }
    m.layers = halves;
    m.mamba = {workloads::Recurrence::ssm, 128, 8, 128, 64, 4, 128};  // described, used by no layer
    return true;
  });
}

TEST_CASE("LatentMoE with latent = hidden equals the standard mixture", "[laws]") {
  check_equal([](Architecture& m) {
    const bool standard = m.moe.latent == 0;
    m.moe.latent = m.hidden;
    return m.moe.experts > 0 && m.layers_with(Ffn::moe) > 0 && standard;
  });
}

TEST_CASE("A window as long as the context equals full attention", "[laws]") {
  for (const Mixer limited : {Mixer::sliding_attention, Mixer::chunked_attention}) {
    Violations law(0.0);
    const auto p = precision("bf16");
    workloads::Graph full;
    workloads::Graph windowed;
    for (const Architecture& model : models()) {
      if (model.attention.kind != workloads::AttentionKind::gqa || !model.has(Mixer::attention)) {
        continue;
      }
      Architecture other = model;
      for (LayerGroup& group : other.layers) {
        if (group.mixer == Mixer::attention) {
          group.mixer = limited;
          group.window = 1'000'000'000;
        }
      }
      for (const auto& batch : batches()) {
        const auto work = [&](const Architecture& m, workloads::Graph& graph) {
          workloads::build_graph(m, p, {}, {}, batch, graph);
          models::Work sum;
          for (const auto& call : graph) {
            const models::Work one = models::work_of(call.op);
            sum.flop += call.count * one.flop;
            sum.bytes += call.count * one.bytes;
          }
          return sum;
        };
        const models::Work a = work(model, full);
        const models::Work b = work(other, windowed);
        law.add(
            std::abs(a.flop / b.flop - 1.0) + std::abs(a.bytes / b.bytes - 1.0) < 1e-12 ? 0.0 : 1.0,
            [&] { return model.id; });
      }
      law.add(models::cache_bytes(5000.0, model, p, {}, 16) ==
                      models::cache_bytes(5000.0, other, p, {}, 16)
                  ? 0.0
                  : 1.0,
              [&] { return model.id; });
    }
    ROOFCAST_CHECK_LAW(law);
  }
}

TEST_CASE("Recurrent layers cost the same whatever the context", "[laws]") {
  Violations law(0.0);
  workloads::Graph graph;
  for (const Architecture& model : models()) {
    if (!model.has(Mixer::mamba) && !model.has(Mixer::delta_net) && !model.has(Mixer::mamba1)) {
      continue;
    }
    const auto recurrent_work = [&](std::int64_t context) {
      workloads::build_graph(model, precision("bf16"), {}, {}, {64, 1, context, 0, 0, 0}, graph);
      double bytes = 0.0;
      for (const auto& call : graph) {
        const bool recurrent = call.name.starts_with("mamba.") ||
                               call.name.starts_with("delta_net.") ||
                               call.name.starts_with("mamba1.");
        bytes += recurrent ? call.count * models::work_of(call.op).bytes.si() : 0.0;
      }
      return bytes;
    };
    law.add(
        recurrent_work(100) > 0.0 && recurrent_work(100) == recurrent_work(1'000'000) ? 0.0 : 1.0,
        [&] { return model.id; });
  }
  ROOFCAST_CHECK_LAW(law);
}

TEST_CASE("A part derived with no change equals its base", "[laws]") {
  const auto text_of = [](std::string_view section, const std::string& value) {
    base::Problems problems;
    base::Node document = base::parse_document("test", fmt::format("{}: {}", section, value));
    sim::load_references(document, problems);
    CHECK(problems.empty());
    return base::to_yaml(*document.find(section));
  };
  const std::pair<std::string_view, base::Catalog> kinds[] = {
      {"system", hardware::system_catalog()},
      {"model", workloads::model_catalog()},
      {"precision", workloads::precision_catalog()}};
  for (const auto& [section, catalog] : kinds) {
    for (const std::string& id : base::catalog_ids(catalog)) {
      INFO(section << " " << id);
      CHECK(text_of(section, fmt::format("{{base: \"{}\"}}", id)) ==
            text_of(section, fmt::format("\"{}\"", id)));
    }
  }
  for (const std::string& id : base::catalog_ids(hardware::chip_catalog())) {
    INFO("chip " << id);
    CHECK(text_of("system", fmt::format("{{base: hgx_h100, chip: {{base: \"{}\"}}}}", id)) ==
          text_of("system", fmt::format("{{base: hgx_h100, chip: \"{}\"}}", id)));
  }
}

TEST_CASE("A precision that was published for models names models of the catalog", "[laws]") {
  std::size_t named = 0;
  for (const workloads::Precision& p : precisions()) {
    INFO(p.id);
    for (const std::string& id : p.published_for) {
      INFO(id);
      CHECK(workloads::is_meant_for(p, model(id).id));
      ++named;
    }
    CHECK(workloads::is_meant_for(p, "llama-3.1-70b") == p.published_for.empty());
  }
  CHECK(named > 0);
  for (const workloads::Architecture& m : models()) {
    INFO(m.id);
    CHECK((m.native_precision.empty() ||
           workloads::is_meant_for(precision(m.native_precision), m.id)));
  }
}

// The question an architect starts with: all models, all systems, each in its own precision.
TEST_CASE("Every model on every system runs in its own precision or says why not", "[laws]") {
  std::string systems;
  std::string names;
  for (const auto& p : platforms()) {
    systems += fmt::format("{}\"{}\"", systems.empty() ? "" : ", ", p.system.id);
  }
  for (const auto& m : models()) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", m.id);
  }
  const sim::SweepPoints points(sim::read_sweep(base::parse_document(
      "test", fmt::format("base:\n"
                          "  serving: {{stack: vllm}}\n"
                          "  deployment: {{tensor_parallel: 1}}\n"
                          "  traffic: {{input_tokens: 1000, output_tokens: 20, concurrency: 4}}\n"
                          "axes:\n"
                          "  system: [{}]\n"
                          "  model: [{}]\n"
                          "  deployment.tensor_parallel: [1, 2, 4, 8, 16]\n"
                          "  deployment.pipeline_parallel: [1, 8]\n",
                          systems, names))));
  const std::vector<sim::ServingEstimate> estimates = sim::sweep_estimates(points, 0);
  REQUIRE(points.size() == platforms().size() * models().size() * 10);
  Violations law(0.0);
  std::map<std::string, int> fits;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const sim::ServingEstimate& e = estimates[i];
    const sim::ScenarioView s = points.scenario(i);
    if (e.fits()) {
      ++fits[s.model->id];
      ++fits[s.platform->system.id];
    }
    const bool finite = std::isfinite(e.steady.tpot.si()) && e.steady.tpot.si() > 0.0 &&
                        std::isfinite(e.steady.ttft_mean.si()) && e.steady.ttft_mean.si() > 0.0;
    law.add((e.fits() ? finite : !sim::reason(e).empty()) ? 0.0 : 1.0, [&] {
      return fmt::format("{} on {}: {}", s.model->id, s.platform->system.id, describe(*s.mapping));
    });
    if (!s.model->native_precision.empty()) {
      law.add(s.precision->id == s.model->native_precision ? 0.0 : 1.0,
              [&] { return s.model->id; });
    }
  }
  ROOFCAST_CHECK_LAW(law);
  for (const auto& m : models()) {
    INFO(m.id);
    CHECK((fits[m.id] > 0) == m.autoregressive);  // others have one pass and no answer of tokens
  }
}

}  // namespace
}  // namespace roofcast::laws::laws_architecture
