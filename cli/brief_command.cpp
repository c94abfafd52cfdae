// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/text_file.hpp"
#include "cli/brief.hpp"
#include "cli/commands.hpp"
#include "cli/compare_roadmap.hpp"
#include "cli/usage.hpp"

namespace roofcast::cli {
namespace {

struct Options {
  std::string roadmap;
  std::string output;
};

int run_brief(const Options& options) {
  const sim::Roadmap roadmap = sim::read_roadmap(base::load_document(options.roadmap));
  const sim::RoadmapResult result = sim::run_roadmap(roadmap);
  const Brief brief = brief_of(roadmap, result);
  if (options.output.empty()) {
    fmt::print("{}", markdown(brief));
    return kDone;
  }
  const std::filesystem::path file(options.output);
  base::write_text(file, file.extension() == ".html" ? html(brief) : markdown(brief));
  write_roadmap_csv(roadmap, result,
                    std::filesystem::path(file).replace_extension(".csv").string());
  return kDone;
}

}  // namespace

void add_brief(CLI::App& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "brief",
      "One page on a roadmap for people who decide\n"
      "The question, the answer, the evidence, what it assumes, how sure it is and what would "
      "change it. "
      "Numbers in [brackets] are rows of the CSV that is written beside the page.");
  auto options = std::make_shared<Options>();
  command->add_option("roadmap", options->roadmap, "the YAML of a roadmap")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "the page, HTML when it ends in .html, else Markdown; printed when left out")
      ->type_name(kFile)
      ->group("Output");
  command->footer(
      examples({"roofcast show example roadmap_features > roadmap.yaml",
                "roofcast brief roadmap.yaml", "roofcast brief roadmap.yaml -o brief.html"}));
  command->callback([&chosen, options] { chosen = [options] { return run_brief(*options); }; });
}

}  // namespace roofcast::cli
