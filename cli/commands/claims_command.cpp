// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "base/document/text_file.hpp"
#include "cli/pages/claims_page.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {

void add_claims(Command& calibrate, Run& chosen) {
  auto* command = calibrate.add_subcommand(
      "claims",
      "Writes a page with published figures beside ours\n"
      "The claims of the catalog say what was published and how to compute it (`roofcast list "
      "claims`). Claims in ROOFCAST_CATALOG are on the page too.");
  auto output = std::make_shared<std::string>();
  auto page = std::make_shared<std::string>("workloads");
  command->add_option("-o,--output", *output, "the file of the page, Markdown; default: print it")
      ->written();
  command
      ->add_option("--page", *page, "models and servers, whole training runs, or MLPerf Inference")
      ->one_of({"workloads", "runs", "mlperf"})
      ->capture_default_str();
  command->footer(examples({"roofcast calibrate claims -o workloads.md",
                            "roofcast calibrate claims --page runs -o runs.md"}));
  command->callback([&chosen, output, page] {
    chosen = [output, page] {
      const std::string text = claims_page(*page == "runs"     ? calibrate::ClaimsPage::runs
                                           : *page == "mlperf" ? calibrate::ClaimsPage::mlperf
                                                               : calibrate::ClaimsPage::workloads);
      if (output->empty()) {
        say("{}", text);
        return kDone;
      }
      base::write_text(*output, text);
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
