// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/catalog/catalogs.hpp"
#include "cli/catalog/model_table.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/text_table.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::cli {
namespace {

// What an example answers, without loading what it refers to: its question, or the comment on top.
std::string answer_of(const base::Node& document) {
  if (const base::Node* question = document.find("question")) {
    return question->text;
  }
  const std::string& text = document.place.source->text;
  return text.starts_with("# ") ? text.substr(2, text.find('\n') - 2) : "scenario";
}

// Of which versions of the stacks each chip's kernels were measured, newest first.
std::string measured_versions() {
  TextTable table({"chip", "stack and measured versions of its kernels"});
  const base::Catalog catalog = hardware::calibration_catalog();
  for (const std::string& id : base::catalog_ids(catalog)) {
    const base::Node document = base::load_entry(catalog, id);
    const base::Node* newest = document.find("version");
    if (newest == nullptr) {
      continue;
    }
    std::vector<std::string> versions = {newest->text};
    if (const base::Node* older = document.find("older_versions")) {
      for (const base::Node& item : older->items) {
        versions.push_back(item.find("version")->text);
      }
    }
    table.add({id.substr(0, id.find('.')),
               fmt::format("{} {}", document.find("stack")->text, fmt::join(versions, ", "))});
  }
  return table.text();
}

void list(const DocumentKind& kind) {
  const base::Catalog catalog = kind.catalog();
  if (catalog.kind == "models") {
    fmt::print("{}", model_text(model_rows()));
    return;
  }
  TextTable table({std::string(catalog.kind), ""});
  for (const std::string& id : base::catalog_ids(catalog)) {
    const base::Node document = base::load_entry(catalog, id);
    table.add({id, catalog.kind == "examples" ? answer_of(document) : kind.check(document)});
  }
  fmt::print("{}", table.text());
  if (catalog.kind == "stacks") {
    fmt::print("\n{}", measured_versions());
  }
}

}  // namespace

void add_list(Command& app, Run& chosen) {
  auto* command = app.add_subcommand("list", "Lists the entries of the catalog");
  auto kind = std::make_shared<std::string>();
  auto csv = std::make_shared<bool>(false);
  command
      ->add_option(
          "kind", *kind,
          "chips, systems, prices, calibrated, models, precisions, stacks, trainers, acceptance, "
          "scores, claims or examples; default: all")
      ->type_name(kKinds);
  command->add_flag("--csv", *csv, "print the models as CSV, in SI units");
  command->footer(
      examples({"roofcast list", "roofcast list models", "roofcast list models --csv"}));
  command->callback([&chosen, kind, csv] {
    chosen = [kind, csv] {
      if (*csv) {
        if (!kind->empty() && kind_named(*kind).name != "model") {
          throw base::InputError("error: --csv lists models only\n");
        }
        print_model_csv(model_rows());
        return kDone;
      }
      if (!kind->empty()) {
        list(kind_named(*kind));
        return kDone;
      }
      bool first = true;
      for (const DocumentKind& each : document_kinds()) {
        fmt::print("{}", first ? "" : "\n");
        list(each);
        first = false;
      }
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
