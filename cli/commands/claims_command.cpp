// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "base/document/text_file.hpp"
#include "cli/pages/claims_page.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"

namespace roofcast::cli {

void add_claims(Command& calibrate, Run& chosen) {
  auto* command = calibrate.add_subcommand(
      "claims",
      "Writes the page of published figures beside ours\n"
      "What was published and how it is computed are the claims of the catalog (roofcast list "
      "claims); those of ROOFCAST_CATALOG are on the page too.");
  auto output = std::make_shared<std::string>();
  command->add_option("-o,--output", *output, "the page, Markdown; printed when left out")
      ->type_name(kFile);
  command->footer(examples({"roofcast calibrate claims -o workloads.md"}));
  command->callback([&chosen, output] {
    chosen = [output] {
      const std::string page = claims_page();
      if (output->empty()) {
        fmt::print("{}", page);
        return kDone;
      }
      base::write_text(*output, page);
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
