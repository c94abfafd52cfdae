// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/catalogs.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "cli/usage.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kWidth = 60;  // of a value; sources are long

// The tree as indented comments, so that what is shown stays a document; each value with the document
// it was written in.
void write_origins(const base::Node& node, int depth, TextTable& table) {
  for (const base::Entry& entry : node.entries) {
    const std::string key =
        "# " + std::string(static_cast<std::size_t>(2 * depth), ' ') + entry.key + ":";
    const base::Node& value = entry.value;
    if (value.is_map()) {
      table.add({key, "", ""});
      write_origins(value, depth + 1, table);
    } else {
      std::string text = value.is_scalar() ? value.text : base::to_yaml(value);
      std::replace(text.begin(), text.end(), '\n', ' ');
      table.add({key, text.size() > kWidth ? text.substr(0, kWidth) + " …" : text,
                 value.place.source ? "# " + value.place.source->name : ""});
    }
  }
}

std::string with_origins(const base::Node& node) {
  TextTable table({"", "", ""});
  write_origins(node, 0, table);
  return table.text();
}

}  // namespace

void add_show(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "show",
      "One entry of the catalog, with the sources of its figures\n"
      "What it prints is a document to start from: roofcast reads it back. Of a derived part it "
      "also prints the whole, with the document that each value comes from.");
  auto kind = std::make_shared<std::string>();
  auto id = std::make_shared<std::string>();
  command->add_option("kind", *kind, "chip, system, model, precision, stack, calibration, example")
      ->type_name(kKind)
      ->required();
  command->add_option("id", *id, "as `roofcast list` prints it, or a file")
      ->type_name(kId)
      ->required();
  command->footer(
      examples({"roofcast show chip h200_sxm", "roofcast show example llama-70b > mine.yaml"}));
  command->callback([&chosen, kind, id] {
    chosen = [kind, id] {
      const DocumentKind& kind_shown = kind_named(*kind);
      const base::Node document = base::load_entry(kind_shown.catalog(), *id);
      if (kind_shown.catalog().is_foreign(document)) {
        fmt::print("{}", base::to_yaml(resolved(document, kind_shown.place)));
        return kDone;
      }
      const std::string& text = document.place.source->text;
      fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
      if (document.find("base") != nullptr && !kind_shown.place.empty()) {
        fmt::print("\n# The whole, and where each value comes from:\n{}",
                   with_origins(resolved(document, kind_shown.place)));
      }
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
