// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog/catalogs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <vector>

#include "base/document/fields.hpp"
#include "base/document/notes.hpp"
#include "base/nearest.hpp"
#include "base/units/unit_text.hpp"
#include "calibrate/accuracy/claims.hpp"
#include "calibrate/conventions/conventions.hpp"
#include "cli/catalog/model_table.hpp"
#include "cli/tables/text_table.hpp"
#include "hardware/known_architectures.hpp"
#include "hardware/prices.hpp"
#include "hardware/system.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/roadmap/roadmap.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "workloads/architecture/scores.hpp"

namespace roofcast::cli {

std::span<const base::CatalogEntry> embedded_examples();

base::Catalog example_catalog() { return {"examples", "example", embedded_examples()}; }

namespace {

using base::Node;

// Reads a part whole, as it would be inside a scenario: references loaded, derivations made.
template <class T>
T read_part(const Node& document, std::string_view place) {
  const Node part = resolved(document, place);
  base::Problems problems;
  T value;
  base::Fields fields(part, "", problems);
  read(fields, value);
  fields.end();
  problems.throw_if_any();
  return value;
}

std::string check_sweep(const Node& document) {
  const sim::SweepPoints points(sim::read_sweep(document));
  return fmt::format("sweep of {} points", points.size());
}
std::string check_roadmap(const Node& document) {
  const sim::Roadmap roadmap = sim::read_roadmap(document);
  sim::check(roadmap);
  return fmt::format("roadmap of {} options and {} features for {} workloads",
                     roadmap.options.size(), roadmap.features.size(), roadmap.workloads.size());
}
std::string check_scenario(const Node& document) {
  const sim::Scenario s = sim::read_streamed_scenario(document).scenario;
  return fmt::format("scenario: {} on {}", s.model.name, s.platform.system.name);
}
std::string check_chip(const Node& document) {
  return read_part<hardware::Chip>(document, "system.chip").name;
}
std::string check_architecture(const Node& document) {
  base::Problems problems;
  hardware::ChipArchitecture value;
  base::Fields fields(document, "", problems);
  read(fields, value);
  fields.end();
  problems.throw_if_any();
  std::string text = value.name;
  if (!std::isnan(value.generation)) {
    text += fmt::format(", generation {:g}", value.generation);
  }
  if (!value.widths.empty()) {
    text +=
        fmt::format(", {} dense 16-bit FLOP of an SM and clock", fmt::join(value.widths, " or "));
  }
  return text;
}
std::string check_system(const Node& document) {
  return read_part<hardware::System>(document, "system").name;
}
std::string check_prices(const Node& document) {
  const auto prices = read_part<hardware::Prices>(document, "prices");
  return prices.name.empty() ? "prices" : prices.name;
}
std::string check_calibration(const Node& document) {
  return read_part<hardware::Calibration>(document, "system.calibration").name;
}
std::string check_model(const Node& document) {
  const auto model = read_part<workloads::Architecture>(document, "model");
  const ModelRow row = model_row(document);
  std::string text =
      fmt::format("{}, {:.4g} B parameters, {:.4g} B active", model.name,
                  row.total_parameters / base::giga, row.active_parameters / base::giga);
  for (const auto& [bytes, what] : {std::pair{row.cache_b_per_token, "of cache a token"},
                                    std::pair{row.state_b_per_sequence, "of state a sequence"}}) {
    if (bytes > 0.0) {
      text += fmt::format(", {} {}", base::format_quantity(base::Bytes::from_si(bytes)), what);
    }
  }
  if (model.native_precision.empty()) {
    return text + " (in bf16: no precision is named)";
  }
  return fmt::format("{} ({})", text, row.precision.empty() ? "its precision" : row.precision);
}
std::string check_precision(const Node& document) {
  const auto p = read_part<workloads::Precision>(document, "precision");
  std::string text =
      fmt::format("weights {}, activations {}, KV cache {}", base::name(p.mlp.weights),
                  base::name(p.mlp.activations), base::name(p.kv_cache));
  const std::pair<std::string_view, workloads::LinearFormat> parts[] = {
      {"attention", p.attention}, {"attention's output", p.attention_output},
      {"recurrent", p.recurrent}, {"experts", p.experts},
      {"shared", p.shared},       {"latent", p.latent}};
  for (const auto& [name, format] : parts) {
    if (format.weights != p.mlp.weights || format.activations != p.mlp.activations) {
      text += fmt::format(", {} {} x {}", name, base::name(format.weights),
                          base::name(format.activations));
    }
  }
  if (p.head.weights != p.plain.weights || p.head.activations != p.plain.activations) {
    text +=
        fmt::format(", head {} x {}", base::name(p.head.weights), base::name(p.head.activations));
  }
  const bool usual = p.state == base::NumberFormat::fp32;
  return text + (usual ? "" : fmt::format(", state {}", base::name(p.state)));
}
std::string check_stack(const Node& document) {
  return read_part<workloads::Stack>(document, "serving.stack").name;
}
std::string check_trainer(const Node& document) {
  return read_part<workloads::Trainer>(document, "training.trainer").name;
}
std::string check_failures(const Node& document) {
  const auto failures = read_part<workloads::FailureRates>(document, "run.failures");
  return fmt::format("{:.4g} failures per 1,000 GPU-days", failures.total());
}
std::string check_acceptance(const Node& document) {
  const auto measured =
      read_part<workloads::MeasuredAcceptance>(document, "serving.speculative.measured");
  std::vector<std::string> means;
  for (std::size_t i = 0; i < measured.draft_tokens.size(); ++i) {
    means.push_back(
        fmt::format("{} with {}", measured.tokens_per_iteration[i], measured.draft_tokens[i]));
  }
  return fmt::format("{}: {} draft tokens", measured.name, fmt::join(means, ", "));
}
std::string check_score(const Node& document) {
  const workloads::Scores scores = workloads::read_scores(document);
  std::set<std::string> benchmarks;
  for (const workloads::ScorePoint& point : scores.points) {
    benchmarks.insert(point.benchmark);
  }
  return fmt::format("{} scores: {}", scores.points.size(), fmt::join(benchmarks, ", "));
}
std::string check_convention(const Node& document) {
  const calibrate::Conventions conventions(std::vector{document});
  return fmt::format("convention of {} rules", conventions.rules());
}
std::string check_claim(const Node& document) {
  const calibrate::Claims claims = calibrate::read_claims(document);
  return fmt::format("{}: {} figures", claims.title, claims.claims.size());
}
std::string check_example(const Node& document) {
  return document.find("workloads") != nullptr ? check_roadmap(document)
         : document.find("axes") != nullptr    ? check_sweep(document)
                                               : check_scenario(document);
}

constexpr DocumentKind kDocumentKinds[] = {
    {"chip", "tensor", "system.chip", hardware::chip_catalog, check_chip,
     base::describe<hardware::Chip>},
    {"architecture", "sm", "", hardware::architecture_catalog, check_architecture,
     base::describe<hardware::ChipArchitecture>},
    {"system", "scale_up", "system", hardware::system_catalog, check_system,
     base::describe<hardware::System>},
    {"price", "pay", "prices", hardware::price_catalog, check_prices,
     base::describe<hardware::Prices>},
    {"calibration", "elementwise", "system.calibration", hardware::calibration_catalog,
     check_calibration, base::describe<hardware::Calibration>},
    {"model", "hidden", "model", workloads::model_catalog, check_model,
     base::describe<workloads::Architecture>},
    {"precision", "kv_cache", "precision", workloads::precision_catalog, check_precision,
     base::describe<workloads::Precision>},
    {"stack", "overhead", "serving.stack", workloads::stack_catalog, check_stack,
     base::describe<workloads::Stack>},
    {"trainer", "pace", "training.trainer", workloads::trainer_catalog, check_trainer,
     base::describe<workloads::Trainer>},
    {"failure", "per_thousand_gpu_days", "run.failures", workloads::failure_catalog, check_failures,
     base::describe<workloads::FailureRates>},
    {"acceptance", "tokens_per_iteration", "serving.speculative.measured",
     workloads::acceptance_catalog, check_acceptance,
     base::describe<workloads::MeasuredAcceptance>},
    {"score", "reports", "", workloads::score_catalog, check_score,
     base::describe<workloads::Scores>},
    {"claim", "claims", "", calibrate::claim_catalog, check_claim, nullptr},
    {"convention", "rules", "", calibrate::convention_catalog, check_convention, nullptr},
    {"example", "axes", "", example_catalog, check_example, nullptr},
};

}  // namespace

std::span<const DocumentKind> document_kinds() { return kDocumentKinds; }

Node resolved(const Node& document, std::string_view place) {
  base::Problems problems;
  Node scenario;
  Node* node = &scenario;
  for (std::string_view rest = place; !rest.empty();) {
    const auto dot = std::min(rest.find('.'), rest.size());
    node = &(*node)[rest.substr(0, dot)];
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  *node = document;
  sim::load_references(scenario, problems);
  problems.throw_if_any();
  return *scenario.find_path(place);
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DocumentKind& kind : kDocumentKinds) {
    names.emplace_back(kind.name);
  }
  return names;
}

void note_unread_entries() {
  namespace fs = std::filesystem;
  const auto is_document = [](const fs::path& file) {
    return file.extension() == ".yaml" || file.extension() == ".yml" || file.extension() == ".json";
  };
  const auto each = [](const fs::path& folder, const auto& look) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      look(at->path());
    }
  };
  const auto note = [](const fs::path& path, const std::string& instead) {
    base::add_note(fmt::format("note: {} is not read: {}", path.string(), instead));
  };
  std::vector<std::string> kinds;
  for (const DocumentKind& kind : kDocumentKinds) {
    kinds.emplace_back(kind.catalog().kind);
  }
  const std::string& own = base::user_catalog_directory();
  each(own.empty() ? fs::path() : fs::path(own), [&](const fs::path& path) {
    const std::string name = path.filename().string();
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (is_document(path)) {
        note(path, "entries are in folders such as chips/");
      }
    } else if (std::find(kinds.begin(), kinds.end(), name) != kinds.end()) {
      each(path, [&](const fs::path& file) {
        if (is_document(file) && file.extension() != ".yaml") {
          note(file, fmt::format("an entry is a file such as {}.yaml", file.stem().string()));
        }
      });
    } else if (!name.starts_with('.')) {
      const auto near = base::nearest_name(name, kinds);
      note(path, near ? fmt::format("did you mean {}/?", *near)
                      : fmt::format("folders are {}", fmt::join(kinds, ", ")));
    }
  });
}

const DocumentKind& kind_named(const std::string& name, std::span<const std::string_view> other) {
  std::vector<std::string> plurals(other.begin(), other.end());
  for (const DocumentKind& kind : kDocumentKinds) {
    if (kind.name == name || kind.catalog().kind == name) {
      return kind;
    }
    plurals.emplace_back(kind.catalog().kind);
  }
  std::vector<std::string> names = kind_names();
  names.insert(names.end(), other.begin(), other.end());
  std::string message = fmt::format("error: there is no kind \"{}\"", name);
  if (const auto near = base::nearest_name(name, name.ends_with('s') ? plurals : names)) {
    message += fmt::format("; did you mean \"{}\"?", *near);
  }
  throw base::InputError(fmt::format("{} (kinds: {})\n", message, fmt::join(names, ", ")));
}

const DocumentKind* kind_of(const Node& document) {
  static constexpr std::string_view kScenarioKeys[] = {"axes", "traffic", "deployment", "training",
                                                       "workloads"};
  for (const std::string_view key : kScenarioKeys) {
    if (document.find(key) != nullptr) {
      return &kind_named("example");
    }
  }
  for (const DocumentKind& kind : kDocumentKinds) {
    if (document.find(kind.telling_key) != nullptr || kind.catalog().is_foreign(document)) {
      return &kind;
    }
  }
  // A derived part is of its base's kind.
  const Node* parent = document.find("base");
  for (const DocumentKind& kind : kDocumentKinds) {
    const auto ids = base::catalog_ids(kind.catalog());
    if (parent != nullptr && std::find(ids.begin(), ids.end(), parent->text) != ids.end()) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace roofcast::cli
