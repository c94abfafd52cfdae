// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep/asked_sweep.hpp"

#include <fmt/format.h>

#include "base/document/problems.hpp"
#include "cli/program/command.hpp"
#include "cli/program/usage.hpp"
#include "cli/text/quoted.hpp"

namespace roofcast::cli {

void add_asked_sweep(Command& command, AskedSweep& asked) {
  command.add_option("sweep", asked.sweep, "the YAML file of the sweep")
      ->type_name(kFile)
      ->required();
  command.add_flag("--simulate", asked.simulate,
                   "replay every row that fits; its metrics are the simulated ones");
  command
      .add_option("--as-if-unmeasured", asked.as_if_unmeasured,
                  "forecast as if the chips, or their whole architectures, had never been measured")
      ->one_of({"chip", "architecture"});
  command
      .add_flag("--all-columns", asked.all_columns,
                "write every column: also those that this sweep can have no value of")
      ->group(kOutput);
}

base::Node document_of(const AskedSweep& asked) {
  base::Node document = base::load_document(asked.sweep);
  if (document.find("axes") == nullptr && document.find("traffic") != nullptr) {
    throw base::InputError(
        fmt::format("error: {0} is one scenario: roofcast estimate {0}\n", asked.sweep));
  }
  // An axis of one value: it is set after an axis that chooses the system.
  if (base::Node* axes = document.find("axes");
      axes != nullptr && !asked.as_if_unmeasured.empty()) {
    base::Node& values = (*axes)["system.as_if_unmeasured"];
    values.kind = base::Node::Kind::sequence;
    values.place = axes->place;
    values.items = {base::scalar_node(asked.as_if_unmeasured, axes->place)};
  }
  if (asked.all_columns) {
    document["columns"] = base::scalar_node("all", document.place);
  }
  return document;
}

std::string shell_words(const AskedSweep& asked) {
  return fmt::format("{}{}{}{}", shell_word(asked.sweep), asked.simulate ? " --simulate" : "",
                     asked.as_if_unmeasured.empty()
                         ? ""
                         : " --as-if-unmeasured " + shell_word(asked.as_if_unmeasured),
                     asked.all_columns ? " --all-columns" : "");
}

}  // namespace roofcast::cli
