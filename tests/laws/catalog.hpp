// SPDX-License-Identifier: Apache-2.0
//
// Everything the catalogs hold, for laws that must be true of all of it. A new YAML file is covered
// with no edit here.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/overloaded.hpp"
#include "models/operators/operator_cost.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/section_readers.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::laws {

// Every entry of one catalog, read as the section of a scenario that names it. `text` is the
// section with {} for the id.
template <class T, class Read>
std::vector<T> load_all(const base::Catalog& catalog, fmt::format_string<const std::string&> text,
                        Read read) {
  std::vector<T> values;
  for (const std::string& id : base::catalog_ids(catalog)) {
    base::Problems problems;
    base::Node document = base::parse_document("catalog", fmt::format(text, id));
    sim::load_references(document, problems);
    problems.throw_if_any();
    values.push_back(read(document, problems));
    problems.throw_if_any();
  }
  return values;
}

inline const std::vector<hardware::Chip>& chips() {
  static const auto all = load_all<hardware::Chip>(
      hardware::chip_catalog(), "system: {{chip: {}}}",
      [](const base::Node& document, base::Problems& problems) {
        hardware::Chip chip;
        base::Fields fields(*document.find_path("system.chip"), "chip", problems);
        hardware::read(fields, chip);
        fields.end();
        return chip;
      });
  return all;
}
inline const std::vector<sim::Platform>& platforms() {
  static const auto all =
      load_all<sim::Platform>(hardware::system_catalog(), "system: {}", sim::read_platform);
  return all;
}
inline const std::vector<workloads::Architecture>& models() {
  static const auto all =
      load_all<workloads::Architecture>(workloads::model_catalog(), "model: {}", sim::read_model);
  return all;
}
inline const std::vector<workloads::Precision>& precisions() {
  static const auto all = load_all<workloads::Precision>(workloads::precision_catalog(),
                                                         "precision: {}", sim::read_precision);
  return all;
}
inline const std::vector<workloads::Serving>& servings() {
  static const auto all = load_all<workloads::Serving>(workloads::stack_catalog(),
                                                       "serving: {{stack: {}}}", sim::read_serving);
  return all;
}

template <class T>
const T& named(const std::vector<T>& all, std::string_view id) {
  for (const T& value : all) {
    if (value.id == id) {
      return value;
    }
  }
  throw std::out_of_range(std::string(id));
}
inline const sim::Platform& platform(std::string_view id) {
  for (const sim::Platform& p : platforms()) {
    if (p.system.id == id) {
      return p;
    }
  }
  throw std::out_of_range(std::string(id));
}
inline const workloads::Architecture& model(std::string_view id) { return named(models(), id); }
inline const workloads::Precision& precision(std::string_view id) {
  return named(precisions(), id);
}
// What an unquantised model runs in: bf16, or fp16 on chips without it.
inline const workloads::Precision& plain_precision(const sim::Platform& p) {
  return precision(p.machine.supports(base::MathType::bf16) ? "bf16" : "fp16");
}

// A precision that sets apart what a model does not have says nothing new about it.
inline bool natural(const workloads::Architecture& model, const workloads::Precision& p) {
  const auto same = [](workloads::LinearFormat a, workloads::LinearFormat b) {
    return a.weights == b.weights && a.activations == b.activations;
  };
  const bool recurrent =
      model.has(workloads::Mixer::mamba) || model.has(workloads::Mixer::delta_net);
  return (model.moe.experts > 0 || (same(p.experts, p.mlp) && same(p.shared, p.mlp))) &&
         (model.projects_latent() || same(p.latent, p.mlp) || same(p.latent, p.attention)) &&
         (recurrent || same(p.recurrent, p.attention) || same(p.recurrent, p.mlp));
}

// Mappings of up to 16 ranks that divide the model: tensor, expert, data and pipeline parallelism
// alone and together, with and without sequence parallelism.
inline std::vector<workloads::Mapping> mappings(const workloads::Architecture& model) {
  // tensor, pipeline, expert, data
  const workloads::Mapping candidates[] = {
      {1, 1, 1, 1, false},  {2, 1, 1, 1, false}, {8, 1, 1, 1, false}, {8, 1, 1, 1, true},
      {8, 1, 8, 1, false},  {1, 1, 8, 8, false}, {4, 2, 1, 1, false}, {2, 1, 4, 4, false},
      {8, 1, 16, 2, false}, {16, 1, 1, 1, false}};
  std::vector<workloads::Mapping> valid;
  for (const workloads::Mapping& mapping : candidates) {
    if (workloads::fault_of(model, mapping) == workloads::MappingFault::none) {
      valid.push_back(mapping);
    }
  }
  return valid;
}

// Decodes alone, few and many; a prompt alone; both together.
inline std::vector<workloads::Batch> batches() {
  return {{1, 1, 1000, 0, 0, 0},
          {64, 1, 4096, 0, 0, 0},
          {0, 1, 0, 1, 2048, 0},
          {200, 1, 1500, 2, 1000, 3000}};
}

inline std::string describe(const workloads::Mapping& m) {
  return fmt::format("TP{} PP{} EP{} DP{}{}", m.tensor_parallel, m.pipeline_parallel,
                     m.expert_parallel, m.data_parallel, m.sequence_parallel ? " SP" : "");
}

inline std::string describe(const workloads::AttentionHeads& h) {
  return fmt::format("heads {}/{} dims {}+{} window {}{}{} cache {} x {}", h.query_heads,
                     h.kv_heads, h.qk_dim, h.value_dim, h.window, h.chunked ? " chunked" : "",
                     h.bidirectional ? " bidirectional" : "", h.cache_elements,
                     base::name(h.cache));
}

inline std::string describe(const workloads::RecurrentHeads& h) {
  return fmt::format("{} heads {}/{} state {} x {} {}", name(h.kind), h.heads, h.key_heads,
                     h.key_dim, h.value_dim, base::name(h.state));
}

// The whole shape: two operators are equal when their descriptions are.
inline std::string describe(const workloads::Operator& op) {
  using namespace workloads;
  return std::visit(
      base::overloaded{
          [](const Gemm& o) {
            return fmt::format("gemm m={} n={} k={} batch={} {}x{}", o.m, o.n, o.k, o.batch,
                               base::name(o.activations), base::name(o.weights));
          },
          [](const GroupedGemm& o) {
            return fmt::format("grouped gemm pairs={} distinct={} n={} k={} {}x{}", o.pairs,
                               o.distinct, o.n, o.k, base::name(o.activations),
                               base::name(o.weights));
          },
          [](const PrefillAttention& o) {
            return fmt::format("prefill {} x {} new, {} cached, {}", o.sequences, o.new_tokens,
                               o.cached_tokens, describe(o.heads));
          },
          [](const DecodeAttention& o) {
            return fmt::format("decode {} x {} on {}, {}", o.sequences, o.query_tokens, o.context,
                               describe(o.heads));
          },
          [](const IndexScores& o) {
            return fmt::format("index {} x {} top {}, {} x {} queries, {} cached, {}", o.heads,
                               o.dim, o.top_k, o.sequences, o.queries, o.cached,
                               base::name(o.keys));
          },
          [](const StateScan& o) {
            return fmt::format("scan {} x {} by {}, {}", o.sequences, o.tokens, o.chunk,
                               describe(o.heads));
          },
          [](const StateUpdate& o) {
            return fmt::format("update {} x {}, {}", o.sequences, o.tokens, describe(o.heads));
          },
          [](const Elementwise& o) {
            return fmt::format("elementwise {} + {} B, {} FLOP", o.read_bytes, o.written_bytes,
                               o.flop);
          },
          [](const TableLookup& o) {
            return fmt::format("lookup {} rows {} distinct {} bags of {} {}", o.rows, o.distinct,
                               o.bags, o.width, base::name(o.format));
          },
          [](const ExpertRouting& o) {
            return fmt::format("routing {} tokens {} pairs hidden {} experts {} {}", o.tokens,
                               o.pairs, o.hidden, o.experts, base::name(o.activations));
          },
          [](const Collective& o) {
            return fmt::format("{} {} B {} ranks stride {} {}", name(o.kind), o.bytes, o.ranks,
                               o.stride, name(o.custom));
          }},
      op);
}

// Every distinct operator that the models ask one rank for.
inline const std::vector<workloads::Operator>& operators() {
  static const auto all = [] {
    std::vector<workloads::Operator> ops;
    std::unordered_set<std::string> seen;
    workloads::Graph graph;
    using workloads::AllReduceKernels;
    using workloads::QuantiseFusion;
    const workloads::Fusion fusions[] = {{QuantiseFusion::tensors, AllReduceKernels::barriers},
                                         {QuantiseFusion::all, AllReduceKernels::flags, true},
                                         {QuantiseFusion::none, AllReduceKernels::library}};
    for (const auto& m : models()) {
      for (const auto& p : precisions()) {
        if (!natural(m, p)) {
          continue;
        }
        for (const auto& mapping : mappings(m)) {
          for (const auto& batch : batches()) {
            for (const auto& fusion : fusions) {
              workloads::build_graph(m, p, mapping, fusion, batch, graph);
              for (const auto& call : graph) {
                if (seen.insert(describe(call.op)).second) {
                  ops.push_back(call.op);
                }
              }
            }
          }
        }
      }
    }
    return ops;
  }();
  return all;
}

// Whether the system has the multiplier and the ranks an operator needs.
inline bool runs_on(const workloads::Operator& op, const sim::Platform& p) {
  if (const auto* c = std::get_if<workloads::Collective>(&op)) {
    return c->ranks * c->stride <= p.system.chips;
  }
  return p.machine.supports(models::math_of(op, p.machine));
}

}  // namespace roofcast::laws
