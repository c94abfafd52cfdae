// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/assets/asset.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/completion.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/say.hpp"

namespace roofcast::cli {

namespace {

// What the scripts read: a proposal a line, with its note after a tab; ":files" for files.
void print(const Proposals& proposals) {
  for (const Proposal& each : proposals.words) {
    say("{}{}{}\n", each.word, each.note.empty() ? "" : "\t", each.note);
  }
  say("{}", proposals.files ? ":files\n" : "");
}

}  // namespace

void add_completion(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "completion",
      "Prints a script that completes commands, options, ids and knobs\n"
      "The script asks roofcast itself, so it knows your catalog and your scenario.");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "the shell that reads the script")
      ->required()
      ->one_of({"bash", "zsh", "fish"});
  command->footer(
      examples({"source <(roofcast completion bash)           # in ~/.bashrc",
                "roofcast completion zsh > _roofcast          # in a folder of $fpath",
                "roofcast completion fish > roofcast.fish     # in ~/.config/fish/completions"}));
  command->callback([&chosen, shell] {
    chosen = [shell] {
      say("{}", *shell == "bash"  ? asset_completion_bash()
                : *shell == "zsh" ? asset_completion_zsh()
                                  : asset_completion_fish());
      return kDone;
    };
  });

  auto* complete = app.add_subcommand("complete", "What the scripts call")->group("");
  auto words = std::make_shared<std::vector<std::string>>();
  complete->add_option("words", *words, "after --: the words after the program's name");
  complete->callback([&program = app.tree(), &chosen, words] {
    chosen = [&program, words] {
      print(propose(program, *words));
      return kDone;
    };
  });
}

}  // namespace roofcast::cli
