// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/catalogs.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"

namespace roofcast::cli {
namespace {

void list(const DocumentKind& kind) {
  const base::Catalog catalog = kind.catalog();
  TextTable table({std::string(catalog.kind), ""});
  for (const std::string& id : base::catalog_ids(catalog)) {
    const base::Node document = base::load_entry(catalog, id);
    // An example's references are not loaded only to list it: its question or first comment says
    // more.
    const base::Node* question = document.find("question");
    table.add({id, question != nullptr          ? question->text
                   : catalog.kind == "examples" ? "scenario"
                                                : kind.check(document)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_list(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand("list", "What the catalog holds");
  auto kind = std::make_shared<std::string>();
  command->add_option(
      "kind", *kind,
      "chips, systems, models, precisions, stacks, calibrated or examples; all when "
      "left out");
  command->callback([&chosen, kind] {
    chosen = [kind] {
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
