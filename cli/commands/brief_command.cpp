// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/document/standard_streams.hpp"
#include "base/document/text_file.hpp"
#include "cli/answers/briefs.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"

namespace roofcast::cli {
namespace {

struct BriefOptions : BriefQuestion {
  bool json = false;
};

int run_brief(BriefOptions question) {
  const std::filesystem::path file(std::exchange(
      question.output, base::is_standard_stream(question.output) ? "" : question.output));
  const base::Node document = base::load_document(question.name);
  note_question(document.find("workloads") != nullptr ? "roadmap"
                : document.find("axes") != nullptr    ? "sweep"
                                                      : "scenario",
                document);
  const Brief page = brief(document, question);
  if (question.output.empty()) {
    const Brief alone = without_citations(page);
    if (!file.empty()) {
      base::write_text(file, markdown(alone));
    }
    if (question.json) {
      print_json(json_of(alone));
    } else if (file.empty()) {
      say("{}", text(alone));
    }
    return kDone;
  }
  base::write_text(file, file.extension() == ".html" ? html(page, provenance_element(file.string()))
                                                     : markdown(page));
  if (question.json) {
    print_json(json_of(page));
  }
  return kDone;
}

}  // namespace

void add_brief(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "brief",
      "Writes one page about a roadmap, a sweep or a scenario, for decisions\n"
      "The page has the question, the answer, the evidence, the assumptions, the uncertainty, "
      "and what would change the answer. For a roadmap it names the best option or feature, "
      "for a sweep the best group, for a scenario its limit and what helps. The best points of a "
      "sweep or a roadmap, and a scenario, are replayed in the simulator. Numbers in "
      "[brackets] are rows of the CSV that is written beside the page; a page that is printed has "
      "none.");
  auto options = std::make_shared<BriefOptions>();
  command->add_option("document", options->name, "the YAML of a roadmap, a sweep or a scenario")
      ->type_name(kFile)
      ->required();
  command
      ->add_option(
          "--metric", options->metric,
          "the metric that decides; default for a sweep: its first objective; default for a "
          "scenario: TPOT, the training step or the whole run")
      ->type_name(kMetric);
  command
      ->add_option("-o,--output", options->output,
                   "the file of the page: HTML if it ends in .html, else Markdown; -: print "
                   "Markdown; default: print "
                   "it as text")
      ->written();
  command->add_json(options->json);
  command->add_flag("--no-replay", options->no_replay,
                    "replay nothing: what the page recommends is estimated only");
  command->footer(
      examples({"roofcast show example roadmap_features > roadmap.yaml",
                "roofcast brief roadmap.yaml -o roadmap.html",
                "roofcast show example token_prices > prices.yaml", "roofcast brief prices.yaml",
                "roofcast show example llama-70b > mine.yaml",
                "roofcast brief mine.yaml --metric ttft_mean_s -o mine.md"}));
  command->callback([&chosen, options] { chosen = [options] { return run_brief(*options); }; });
}

}  // namespace roofcast::cli
