// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogs.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/fields.hpp"
#include "base/nearest.hpp"
#include "cli/text_table.hpp"
#include "hardware/system.hpp"
#include "sim/scenario.hpp"
#include "sim/sweep_run.hpp"

namespace roofcast::cli {

std::span<const base::CatalogEntry> embedded_examples();

base::Catalog example_catalog() { return {"examples", "example", embedded_examples()}; }

namespace {

using base::Node;

template <class T>
T read_whole(const Node& document) {
  base::Problems problems;
  T value;
  base::Fields fields(document, "", problems);
  read(fields, value);
  fields.end();
  problems.throw_if_any();
  return value;
}

// A system's own references are loaded as they would be inside a scenario.
hardware::System read_system(const Node& document) {
  base::Problems problems;
  Node scenario;
  scenario["system"] = document;
  sim::load_references(scenario, problems);
  problems.throw_if_any();
  return read_whole<hardware::System>(*scenario.find("system"));
}

std::string check_sweep(const Node& document) {
  const sim::SweepPoints points(sim::read_sweep(document));
  return fmt::format("sweep of {} points", points.size());
}
std::string check_scenario(const Node& document) {
  const sim::Scenario s = sim::read_scenario(document);
  return fmt::format("scenario: {} on {}", s.model.name, s.platform.system.name);
}
std::string check_chip(const Node& document) { return read_whole<hardware::Chip>(document).name; }
std::string check_system(const Node& document) { return read_system(document).name; }
std::string check_calibration(const Node& document) {
  return read_whole<hardware::Calibration>(document).name;
}
std::string check_model(const Node& document) {
  const auto model = read_whole<workloads::Architecture>(document);
  return fmt::format("{}, {:.4g} B parameters, {:.4g} B active", model.name,
                     workloads::parameters(model).total() / base::giga,
                     workloads::active_parameters(model) / base::giga);
}
std::string check_precision(const Node& document) {
  const auto p = read_whole<workloads::Precision>(document);
  const std::string experts = p.experts.weights == p.mlp.weights
                                  ? ""
                                  : fmt::format(", experts {} x {}", base::name(p.experts.weights),
                                                base::name(p.experts.activations));
  return fmt::format("weights {}, activations {}, KV cache {}{}", base::name(p.mlp.weights),
                     base::name(p.mlp.activations), base::name(p.kv_cache), experts);
}
std::string check_stack(const Node& document) {
  return read_whole<workloads::Stack>(document).name;
}
std::string check_example(const Node& document) {
  return document.find("axes") != nullptr ? check_sweep(document) : check_scenario(document);
}

constexpr DocumentKind kKinds[] = {
    {"chip", "tensor", hardware::chip_catalog, check_chip},
    {"system", "scale_up", hardware::system_catalog, check_system},
    {"calibration", "elementwise", hardware::calibration_catalog, check_calibration},
    {"model", "vocab", workloads::model_catalog, check_model},
    {"precision", "kv_cache", workloads::precision_catalog, check_precision},
    {"stack", "overhead", workloads::stack_catalog, check_stack},
    {"example", "base", example_catalog, check_example},
};

}  // namespace

std::span<const DocumentKind> document_kinds() { return kKinds; }

const DocumentKind& kind_named(const std::string& name) {
  std::vector<std::string> names;
  std::vector<std::string> plurals;
  for (const DocumentKind& kind : kKinds) {
    if (kind.name == name || kind.catalog().kind == name) {
      return kind;
    }
    names.emplace_back(kind.name);
    plurals.emplace_back(kind.catalog().kind);
  }
  std::string message = fmt::format("error: there is no kind \"{}\"", name);
  if (const auto near = base::nearest_name(name, name.ends_with('s') ? plurals : names)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  }
  throw base::InputError(fmt::format("{} (kinds: {})\n", message, fmt::join(names, ", ")));
}

const DocumentKind* kind_of(const Node& document) {
  static constexpr std::string_view kScenarioKeys[] = {"axes", "traffic", "deployment"};
  for (const std::string_view key : kScenarioKeys) {
    if (document.find(key) != nullptr) {
      return &kind_named("example");
    }
  }
  for (const DocumentKind& kind : kKinds) {
    if (document.find(kind.telling_key) != nullptr) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace roofcast::cli
