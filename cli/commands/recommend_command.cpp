// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/question/manifest_options.hpp"
#include "cli/question/recommend_question.hpp"
#include "cli/question/scenario_options.hpp"
#include "cli/recommend/recommend_answer.hpp"
#include "cli/recommend/recommend_rows.hpp"
#include "cli/recommend/recommended_row.hpp"
#include "cli/recommend/training_search_text.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/recommend/recommendation.hpp"
#include "sim/recommend/training_search.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

struct RecommendOptions : AskedRecommendation {
  ManifestFile manifest;
  std::string csv;
  std::string report;
  std::string format = "text";
  bool no_replay = false;
  bool strict = false;
  bool quiet = false;
};

int recommend_training(const RecommendOptions& options, Node document) {
  base::Problems problems;
  refuse_in_training({{"--kubernetes", options.manifest.file}, {"--report", options.report}},
                     problems);
  const sim::TrainingQuestion q =
      training_question_of(options, std::move(document), std::move(problems));
  note_question("scenario", q.base);
  const auto start = std::chrono::steady_clock::now();
  const sim::TrainingSearch search = sim::search_trainings(q, 0);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!options.csv.empty()) {
    write_training_rows(search, options.csv);
  }
  if (options.format == "json") {
    print_json(training_search_json(q, search));
  } else {
    say("{}", training_search_text(q, search));
  }
  if (!options.said.save.empty() && !search.best.empty()) {
    const sim::TrainedRow& best = search.best.front();
    save_scenario(options.said.save,
                  {training_search_title(q, search), "Found by roofcast recommend."},
                  sim::with_choice(search.candidates[best.candidate].document, best.choice));
  }
  if (!options.quiet) {
    fmt::print(stderr, "{} choices in {:.2f} s\n", search.rows, elapsed.count());
  }
  return options.strict && search.best.empty() ? kInfeasible : kDone;
}

int run_recommend(const RecommendOptions& options) {
  check(options.manifest);
  if (!options.said.scenario.empty()) {
    Node document = scenario_document(options.said.scenario, {});
    if (trains(document)) {
      return recommend_training(options, std::move(document));
    }
  }
  Heading heading;
  const sim::Question q = question_of(options, started_document(options.said), heading);
  note_question("scenario", q.base);
  const auto start = std::chrono::steady_clock::now();
  const sim::Recommendation r = [&] {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", options.quiet);
    return sim::recommend(q, {0, !options.no_replay, &rows});
  }();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  describe(q, r, heading);
  if (!options.csv.empty()) {
    write_rows(r, options.csv);
  }
  if (!options.report.empty()) {
    write_rows_page(q, heading, r, options.report);
  }
  if (options.format == "json") {
    print_json(recommend_json(q, heading, r));
  } else {
    say("{}", recommend_text(q, heading, r));
  }
  if (r.found()) {
    const Node best = scenario_of(r, *r.answers.front());
    if (!options.said.save.empty()) {
      save_scenario(options.said.save, {heading.title, "Found by roofcast recommend."}, best);
    }
    write_manifest(options.manifest, sim::read_scenario(best), "recommend");
  }
  if (!options.quiet) {
    fmt::print(stderr, "{} rows and {} replays in {:.2f} s\n", r.rows, r.replays, elapsed.count());
  }
  return options.strict && !r.found() ? kInfeasible : kDone;
}

}  // namespace

void add_recommend(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "recommend",
      "Finds the best deployment of a model on a budget of GPUs\n"
      "Mappings that divide the model (tensor, expert, pipeline parallelism, attention DP), "
      "replicas, one pool or separate pools for prompts and decodes, and numbers of clients are "
      "estimated. The best of each system are replayed in the simulator. What a replay contradicts "
      "is not recommended: the next is tried. The answer has the commands that start it, and "
      "--kubernetes writes a manifest. "
      "A scenario file is not needed; the options say what differs from it. Its `deployment` is "
      "replaced. With --rate or --clients, with arrivals or a trace in the scenario, the "
      "deployment must carry that load. Else the number of clients is searched, too. A system "
      "with fewer GPUs than the budget is joined with its like over its NICs.");
  auto options = std::make_shared<RecommendOptions>();
  add_scenario_file(*command, options->said);
  add_scenario_options(*command, options->said, Lists::yes)->required();
  command->add_option("--where", options->where, "another condition, such as 'ttft_p99_s <= 2'")
      ->type_name(kCondition)
      ->take_all();
  command
      ->add_option("--minimize", options->minimize,
                   "the metric to minimize, or cost; default: cost_usd_per_mtok")
      ->type_name(kMetric);
  command->add_option("--maximize", options->maximize, "the metric to maximize, or throughput")
      ->type_name(kMetric);
  command->add_option("--pools", options->pools, "the deployments to try")
      ->one_of({"one", "two", "both"})
      ->capture_default_str();
  add_set_and_save(*command, options->said, "write the scenario of the answer to this file");
  command->add_flag("--no-replay", options->no_replay, "no replays: the answer is estimated only");
  command->add_flag("--strict", options->strict, "exit with 3 if nothing meets the conditions");
  command
      ->add_option("-o,--csv", options->csv,
                   "write all rows to this file, as a sweep does; those with an empty replay are a "
                   "scan's, and rough")
      ->written();
  command
      ->add_option("--report", options->report,
                   "write a page of all rows that begins with the answer: one HTML file")
      ->written();
  add_manifest_options(*command, options->manifest);
  command->add_format(options->format, {"text", "json"});
  command->add_flag("--quiet", options->quiet, "print no progress and no timing")->group("Output");
  command->footer(examples(
      {"roofcast recommend --model qwen3-235b-a22b --precision fp8 --system hgx_h200,gb200_nvl72 "
       "--gpus 16 --input 4000 --output 1000 --ttft-p95 1s --tpot-p95 30ms",
       "roofcast recommend --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 1500 --output 250 --rate '4 /s' --ttft-p95 500ms --minimize gpus --save mine.yaml",
       "roofcast simulate mine.yaml",
       "roofcast recommend --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 1500 --output 250 --tpot-p95 30ms --kubernetes mine_pods.yaml --image "
       "vllm/vllm-openai:latest"}));
  command->callback([&chosen, options] { chosen = [options] { return run_recommend(*options); }; });
}

}  // namespace roofcast::cli
