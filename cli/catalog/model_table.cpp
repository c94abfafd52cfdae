// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/model_table.hpp"

#include <fmt/format.h>

#include <iostream>

#include "base/csv/csv.hpp"
#include "base/no_number.hpp"
#include "base/units/unit_text.hpp"
#include "cli/catalog/each_entry.hpp"
#include "cli/tables/text_table.hpp"
#include "models/footprint.hpp"
#include "models/work.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"
#include "workloads/architecture/parameters.hpp"
#include "workloads/graph/graph.hpp"

namespace roofcast::cli {
namespace {

using workloads::Ffn;
using workloads::Mixer;

std::string layers_of(const workloads::Architecture& model) {
  static constexpr std::pair<Mixer, std::string_view> kMixers[] = {
      {Mixer::attention, "attention"},
      {Mixer::sliding_attention, "sliding"},
      {Mixer::chunked_attention, "chunked"},
      {Mixer::bidirectional_attention, "bidirectional"},
      {Mixer::mamba, "mamba"},
      {Mixer::delta_net, "delta net"},
      {Mixer::mamba1, "mamba-1"}};
  std::vector<std::string> parts;
  for (const auto& [mixer, name] : kMixers) {
    std::int64_t count = 0;
    for (const workloads::LayerGroup& group : model.layers) {
      count += group.mixer == mixer ? group.count : 0;
    }
    if (count > 0) {
      const bool latent =
          workloads::attends(mixer) && model.attention.kind == workloads::AttentionKind::mla;
      parts.push_back(fmt::format("{} {}", count, latent ? "mla" : name));
    }
  }
  if (model.recommender) {
    parts.push_back(fmt::format("{} tables", model.recommender->vectors()));
  }
  for (const auto& [ffn, name] : {std::pair{Ffn::mlp, "mlp"}, std::pair{Ffn::moe, "moe"}}) {
    if (const std::int64_t count = model.layers_with(ffn); count > 0) {
      parts.push_back(fmt::format("{} {}", count, name));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

double flop_per_token(const workloads::Architecture& model, const workloads::Precision& precision) {
  workloads::Batch batch;
  batch.decode_sequences = 1;
  batch.context = kModelTableContext;
  workloads::Graph graph;
  workloads::build_graph(model, precision, {}, {}, batch, graph);
  double sum = 0.0;
  for (const workloads::Call& call : graph) {
    sum += call.count * models::work_of(call.op).flop.si();
  }
  return sum;
}

std::string billions(std::optional<double> parameters) {
  return parameters ? fmt::format("{:.4g} B", *parameters / base::giga) : "-";
}

}  // namespace

ModelRow model_row(const base::Node& model_document) {
  base::Problems problems;
  base::Node document;
  document.place = model_document.place;
  document["model"] = model_document;
  sim::load_references(document, problems);
  problems.throw_if_any();
  if (document.find("precision") == nullptr) {
    document["precision"] = base::scalar_node("bf16", model_document.place);
    sim::load_references(document, problems);
  }
  const workloads::Architecture model = sim::read_model(document, problems);
  const workloads::Precision precision = sim::read_precision(document, problems);
  problems.throw_if_any();
  ModelRow row;
  row.precision = precision.id;
  row.layers = layers_of(model);
  row.total_parameters = workloads::parameters(model).total();
  row.active_parameters = workloads::active_parameters(model);
  row.published_total = model.published_total;
  row.published_active = model.published_active;
  row.weights_b = models::weight_bytes(model, precision, {}).si();
  row.cache_b_per_token = models::cache_bytes(1.0, model, precision, {}, 1).si();
  row.state_b_per_sequence = models::state_bytes(model, precision, {}).si();
  row.flop_per_token = flop_per_token(model, precision);
  return row;
}

std::vector<ModelRow> model_rows() {
  std::vector<ModelRow> rows;
  each_entry(workloads::model_catalog(), [&](const std::string& id) {
    const base::Node document = base::parse_document(id, fmt::format("model: \"{}\"", id));
    rows.push_back(model_row(*document.find("model")));
    rows.back().id = id;
  });
  return rows;
}

std::string model_text(const std::vector<ModelRow>& rows) {
  TextTable table({"models", "layers", "parameters", "published", "active", "published",
                   "precision", "weights", "KV/token", "state/sequence", "FLOP/token"});
  const auto bytes = [](double b) {
    return b > 0.0 ? base::format_quantity(base::Bytes::from_si(b)) : "-";
  };
  for (const ModelRow& row : rows) {
    table.add({row.id, row.layers, billions(row.total_parameters), billions(row.published_total),
               billions(row.active_parameters), billions(row.published_active), row.precision,
               bytes(row.weights_b), bytes(row.cache_b_per_token), bytes(row.state_b_per_sequence),
               base::format_quantity(base::Flops::from_si(row.flop_per_token))});
  }
  return table.text() +
         fmt::format(
             "(weights, cache and state on one GPU; layers with a "
             "window\nkeep no more tokens than it holds; FLOP of a token decoded at a context of "
             "{}; "
             "active parameters\nwithout the input embedding, which some makers count)\n",
             kModelTableContext);
}

void print_model_csv(const std::vector<ModelRow>& rows) {
  base::CsvWriter csv(
      std::cout, {"model", "precision", "layers", "total_parameters", "published_total_parameters",
                  "active_parameters", "published_active_parameters", "weights_b",
                  "cache_b_per_token", "state_b_per_sequence", "flop_per_token_at_8k"});
  using base::kNoNumber;
  for (const ModelRow& row : rows) {
    csv.append(row.id);
    csv.append(row.precision);
    csv.append(row.layers);
    csv.append(row.total_parameters);
    csv.append(row.published_total.value_or(kNoNumber));
    csv.append(row.active_parameters);
    csv.append(row.published_active.value_or(kNoNumber));
    csv.append(row.weights_b);
    csv.append(row.cache_b_per_token);
    csv.append(row.state_b_per_sequence);
    csv.append(row.flop_per_token);
    csv.end_row();
  }
  csv.close();
}

}  // namespace roofcast::cli
