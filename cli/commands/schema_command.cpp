// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/document/notes.hpp"
#include "base/document/problems.hpp"
#include "base/nearest.hpp"
#include "cli/catalog/json_schema.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

int print_schema(const std::string& kind, bool json) {
  const auto kinds = schema_kinds();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
    const auto near = base::nearest_name(kind, kinds);
    throw base::InputError(fmt::format("error: there is no schema \"{}\"{} (schemas: {})\n", kind,
                                       near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                                       fmt::join(kinds, ", ")));
  }
  const nlohmann::ordered_json schema = json_schema(kind);
  base::take_notes();  // of the documents that the readers were asked with
  if (json) {
    print_json(schema);
  } else {
    say("{}\n", schema.dump(2));
  }
  return kDone;
}

}  // namespace

void add_schema(Command& app, Run& chosen) {
  auto* command =
      app.add_subcommand("schema", "Prints the JSON Schema of a kind of document, for editors");
  auto kind = std::make_shared<std::string>();
  command
      ->add_option("kind", *kind,
                   "chip, architecture, system, price, calibration, model, precision, stack, "
                   "trainer, failure, "
                   "acceptance, score, "
                   "scenario, sweep or roadmap")
      ->required()
      ->type_name(kKind);
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "begin with the version, as every answer in JSON")
      ->group("Output");
  command->footer(
      examples({"roofcast schema scenario > scenario.schema.json", "roofcast schema chip"}));
  command->callback(
      [&chosen, kind, json] { chosen = [kind, json] { return print_schema(*kind, *json); }; });
}

}  // namespace roofcast::cli
