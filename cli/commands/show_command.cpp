// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/catalog/calibration_table.hpp"
#include "cli/catalog/catalogs.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/json_answer.hpp"
#include "hardware/calibration.hpp"
#include "hardware/chip.hpp"
#include "hardware/nearest_calibration.hpp"
#include "workloads/serving/serving.hpp"

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
  return table.text({});
}

bool has(const base::Catalog& catalog, const std::string& id) {
  const auto ids = base::catalog_ids(catalog);
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// What a system with this chip takes; tells, as comments unless `quiet`, what it is under each stack.
base::Node calibration_of(const std::string& chip, bool quiet) {
  const base::Node document = base::load_entry(hardware::chip_catalog(), chip);
  std::string text = fmt::format(
      "# {} has no calibration of this name; by serving.stack a system with it takes\n", chip);
  for (const std::string& stack : base::catalog_ids(workloads::stack_catalog())) {
    const base::Node taken = hardware::nearest_calibration(document, stack);
    text +=
        fmt::format("#   {}: {}\n", stack,
                    taken.is_scalar() ? taken.text : taken.find("base")->text + ", transferred");
  }
  if (!quiet) {
    say("{}# and without a stack\n", text);
  }
  const base::Node taken = hardware::nearest_calibration(document, "");
  return base::load_entry(hardware::calibration_catalog(),
                          taken.is_scalar() ? taken.text : taken.find("base")->text);
}

base::Node document_of(const DocumentKind& kind, const std::string& id, bool quiet) {
  const base::Catalog catalog = kind.catalog();
  return kind.name == "calibration" && !has(catalog, id) && has(hardware::chip_catalog(), id)
             ? calibration_of(id, quiet)
             : base::load_entry(catalog, id);
}

int show(const DocumentKind& kind, const std::string& id, bool as_json) {
  if (as_json) {
    const base::Node document = document_of(kind, id, true);
    nlohmann::ordered_json json = {{"units", "as written"}, {"kind", kind.name}, {"id", id}};
    json["document"] = document_json(document);
    if (document.find("base") != nullptr || kind.catalog().is_foreign(document)) {
      json["whole"] = document_json(resolved(document, kind.place));
    }
    print_json(json);
    return kDone;
  }
  const base::Node document = document_of(kind, id, false);
  if (kind.catalog().is_foreign(document)) {
    say("{}", base::to_yaml(resolved(document, kind.place)));
    return kDone;
  }
  const std::string& text = document.place.source->text;
  say("{}{}", text, text.ends_with('\n') ? "" : "\n");
  if (kind.name == "calibration") {
    say("\n{}", calibration_table(resolved(document, kind.place)));
  } else if (document.find("base") != nullptr && !kind.place.empty()) {
    say("\n# The whole, and where each value comes from:\n{}",
        with_origins(resolved(document, kind.place)));
  }
  return kDone;
}

}  // namespace

void add_show(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "show",
      "Prints one entry of the catalog, with the sources of its figures\n"
      "The output is a document that roofcast can read, so you can start from it. For a "
      "derived part the whole part is printed too, with the document that each value comes "
      "from.");
  auto kind = std::make_shared<std::string>();
  auto id = std::make_shared<std::string>();
  command->add_option("kind", *kind, fmt::format("{}", fmt::join(kind_names(), ", ")))
      ->type_name(kKind)
      ->required();
  command
      ->add_option("id", *id,
                   "an id that `roofcast list` prints, or a file; for a calibration also a chip")
      ->type_name(kId)
      ->required();
  auto json = std::make_shared<bool>(false);
  command->add_json(*json);
  command->footer(
      examples({"roofcast show chip h200_sxm", "roofcast show example llama-70b > mine.yaml"}));
  command->callback([&chosen, kind, id, json] {
    chosen = [kind, id, json] { return show(kind_named(*kind), *id, *json); };
  });
}

}  // namespace roofcast::cli
