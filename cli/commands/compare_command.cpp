// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/csv/csv.hpp"
#include "base/csv/file_ending.hpp"
#include "base/document/problems.hpp"
#include "base/document/renamed.hpp"
#include "base/document/standard_streams.hpp"
#include "calibrate/logs/measured_log.hpp"
#include "cli/compare/compare_measured.hpp"
#include "cli/compare/compare_results.hpp"
#include "cli/compare/compare_roadmap.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/question/logged_scenario.hpp"

namespace roofcast::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> files;
  CompareResultsOptions results;
  std::string report;
  bool no_replay = false;
  CompareMeasuredOptions measured;
  ScenarioOptions said;  // of measured logs: what differs from the file, or all of the scenario
  // Of `measured`, by their names before.
  std::optional<std::int64_t> steps;
  std::optional<std::string> step;
};

constexpr std::string ScenarioOptions::*kScenarioTexts[] = {
    &ScenarioOptions::model, &ScenarioOptions::system,  &ScenarioOptions::precision,
    &ScenarioOptions::stack, &ScenarioOptions::input,   &ScenarioOptions::output,
    &ScenarioOptions::rate,  &ScenarioOptions::clients, &ScenarioOptions::ttft,
    &ScenarioOptions::tpot};

bool is_document(const std::string& file) {
  return file.ends_with(".yaml") || file.ends_with(".yml");
}

void refuse_options_of_results(const CompareResultsOptions& results) {
  for (const auto* named : {&results.key, &results.metrics, &results.maximize, &results.minimize,
                            &results.tolerances}) {
    if (!named->empty()) {
      throw base::InputError(
          "error: --key, --metric, --maximize, --minimize and --tolerance are of two CSVs of "
          "results\n");
    }
  }
}

// A file that is alone must be a roadmap. Others say what they are to be compared with.
base::Node roadmap_document(const std::string& file) {
  const auto refuse = [&](const std::string& wanted) {
    throw base::InputError(fmt::format("error: {} is {}\n", file, wanted));
  };
  if (!is_document(file) && !base::is_standard_stream(file)) {
    if (base::ending_of(base::unpacked_name(file)) == ".csv") {
      refuse("one CSV of results: compare wants the other one, too");
    }
  }
  base::Node document = base::load_document(file);
  if (document.find("traffic") != nullptr || document.find("training") != nullptr) {
    refuse(fmt::format("one scenario: compare wants logs of its runs, too: roofcast compare {} LOG",
                       file));
  }
  if (document.find("axes") != nullptr) {
    refuse("a sweep: compare wants the CSVs of two of them, or a roadmap");
  }
  return document;
}

// The value of an option by its name before.
template <class T>
void rename(const std::optional<T>& before, std::string_view old_name, T& value,
            std::string_view name) {
  if (before) {
    value = *before;
    base::note_renamed_option(old_name, name);
  }
}

bool says_anything(const ScenarioOptions& said) {
  return said.gpus > 0 || std::any_of(std::begin(kScenarioTexts), std::end(kScenarioTexts),
                                      [&](auto text) { return !(said.*text).empty(); });
}

// Whether the files are logs without a scenario: options say it, or each file is known as a log.
bool are_logs(const CompareOptions& options) {
  return says_anything(options.said) ||
         std::all_of(options.files.begin(), options.files.end(), [](const std::string& file) {
           return !base::is_standard_stream(file) && !is_document(file) &&
                  calibrate::known_format(file).has_value();
         });
}

// What options say of lengths and load wins over a log, as --set does.
void override_log(CompareMeasuredOptions& measured, const ScenarioOptions& said) {
  measured.set = said.set;
  for (const auto& [path, value] : {std::pair{"traffic.input_tokens", &said.input},
                                    {"traffic.output_tokens", &said.output},
                                    {"traffic.concurrency", &said.clients},
                                    {"traffic.arrivals.rate", &said.rate}}) {
    if (!value->empty()) {
      measured.set.push_back(fmt::format("{}={}", path, *value));
    }
  }
}

MeasuredScenarios scenarios_of(const ScenarioOptions& said) {
  if (!said.scenario.empty()) {
    const auto document = [said](const auto&) { return described_scenario(said, "compare"); };
    return {[document](const calibrate::ServingLog& log) {
              return LoggedScenario{document(log), {}};
            },
            document, document};
  }
  return {[said](const calibrate::ServingLog& log) {
            LoggedScenario scenario;
            scenario.document = logged_scenario(said, log, scenario.from_log);
            return scenario;
          },
          [said](const std::string& log) { return profiled_scenario(said, log); },
          [said](const std::string& log) { return collectives_scenario(said, log); }};
}

// One file is a roadmap; a scenario and others, in any order, measured logs; two others, results. Logs may come without a
// scenario.
int run_compare(CompareOptions& options) {
  note_asked();
  if (options.no_replay && options.files.size() > 1) {
    throw base::InputError("error: --no-replay is of a roadmap\n");
  }
  rename(options.steps, "--steps", options.measured.iterations, "--iterations");
  rename(options.step, "--step", options.measured.iteration, "--iteration");
  CompareResultsOptions& results = options.results;
  if (std::count_if(options.files.begin(), options.files.end(), is_document) == 1) {
    std::stable_partition(options.files.begin(), options.files.end(), is_document);
  }
  const bool has_scenario = options.files.size() > 1 && is_document(options.files.front());
  if (has_scenario || (!is_document(options.files.front()) && are_logs(options))) {
    if (!options.report.empty()) {
      throw base::InputError("error: --report is of a roadmap, or of two CSVs of results\n");
    }
    refuse_options_of_results(results);
    CompareMeasuredOptions& measured = options.measured;
    if (measured.iterations < 0) {
      throw base::InputError("error: --iterations expects a number of iterations\n");
    }
    measured.scenario = has_scenario ? options.files.front() : "";
    measured.logs.assign(options.files.begin() + (has_scenario ? 1 : 0), options.files.end());
    options.said.scenario = measured.scenario;
    override_log(measured, options.said);
    measured.scenarios = scenarios_of(options.said);
    measured.csv = results.csv;
    measured.strict = results.strict;
    return compare_measured(measured);
  }
  if (const CompareMeasuredOptions none; says_anything(options.said) || !options.said.set.empty() ||
                                         options.measured.anyway ||
                                         options.measured.iterations != none.iterations ||
                                         options.measured.iteration != none.iteration) {
    throw base::InputError(
        "error: --set, --anyway, --iterations, --iteration and what says a scenario (--model, …) "
        "are of measured logs\n");
  }
  results.json = options.measured.format == "json";
  if (options.files.size() == 2) {
    results.old_results = options.files[0];
    results.new_results = options.files[1];
    results.report = options.report;
    return compare_results(results);
  }
  if (options.files.size() > 2) {
    throw base::InputError(
        "error: expects a roadmap, two CSVs of results, the old one first, or a scenario (.yaml) "
        "and "
        "measured logs\n");
  }
  refuse_options_of_results(results);
  return compare_roadmap(
      roadmap_document(options.files.front()),
      {results.csv, options.report, results.json, results.strict, options.no_replay});
}

}  // namespace

void add_compare(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "compare",
      "Compares options of a roadmap, two results, or logs with the forecast\n"
      "A roadmap: shows what each option gains over a portfolio of workloads and what limits "
      "it. Shows what each feature gains alone, on top of all others and in the best order, "
      "and its Shapley share. The points that count for options, and for the features in their "
      "order, are replayed in the simulator; a point that the replay breaks gives way to the next "
      "best. Two CSVs of results, old and new: rows with equal key columns "
      "belong together. A metric that moves by more than its tolerance is a gain or a loss; a "
      "smaller move is a drift. Rows can also be missing or new, and can begin or cease to fit "
      "or to meet the constraints (columns fits and meets). The tables need not be roofcast's: "
      "--maximize and --minimize say which values of a column are better. A scenario and logs "
      "of runs: the content tells the kind of a log. Results of `vllm bench serve`, "
      "sglang.bench_serving (JSON or printed text) and trtllm-bench are compared with the "
      "metrics of the scenario under the log's load. Results of nccl-tests are compared with "
      "the collectives of its system. Logs of Megatron-LM and Megatron Bridge are compared with "
      "the training step. Traces of the PyTorch profiler and the CSV of nsys stats "
      "(cuda_gpu_kern_sum, cuda_gpu_trace) and ncu are compared with the operators of one "
      "iteration and their roofline. Without a scenario file the log and options say it: what "
      "neither does is asked for by name.");
  auto options = std::make_shared<CompareOptions>();
  CompareResultsOptions& results = options->results;
  command
      ->add_option(
          "files", options->files,
          "the YAML of a roadmap; or an old CSV and a new one; or logs, with their scenario or "
          "options that say it")
      ->type_name(kFile)
      ->required();
  command
      ->add_option("--key", results.key,
                   "columns that identify a row; default: all that are not metrics")
      ->type_name(kColumn);
  command
      ->add_option("--metric", results.metrics,
                   "metrics to compare; default: all that both tables have")
      ->type_name(kColumn);
  command->add_option("--maximize", results.maximize, "columns that are better when higher")
      ->type_name(kColumn);
  command->add_option("--minimize", results.minimize, "columns that are better when lower")
      ->type_name(kColumn);
  command
      ->add_option(
          "--tolerance", results.tolerances,
          "the difference that counts as equal: 1%, or COLUMN=1%, or COLUMN=0.001 in its unit; a "
          "later one wins (default: 1%)")
      ->type_name(kText)
      ->take_all();
  command
      ->add_option("--csv", results.csv,
                   "write every number as CSV; for two results, every row and what happened to it")
      ->written();
  command
      ->add_option(
          "--report", options->report,
          "write an HTML report; of a roadmap: options, features, and weights that a reader can "
          "change; of two results: both fronts in one chart, and the rows that moved most")
      ->written();
  CompareMeasuredOptions& measured = options->measured;
  add_scenario_options(*command, options->said, Lists::no);
  command
      ->add_option("--set", options->said.set,
                   "change a knob of the scenario; it wins over what a log says")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_flag("--anyway", measured.anyway,
                    "compare a log, too, whose model, GPU, parallel sizes or lengths are not those "
                    "of the scenario");
  command
      ->add_option("--iterations", measured.iterations,
                   "how many iterations a profile holds; default: what the log says")
      ->type_name(kNumber);
  command
      ->add_option("--iteration", measured.iteration, "the kind of iteration that a profile shows")
      ->one_of({"decode", "prompts"})
      ->capture_default_str();
  command->add_option("--steps", options->steps, "")->group("");
  command->add_option("--step", options->step, "")->one_of({"decode", "prompts"})->group("");
  command->add_flag("--no-replay", options->no_replay,
                    "of a roadmap: replay nothing; every gain is estimated only");
  command->add_format(measured.format, {"text", "json"});
  command->add_flag(
      "--strict", results.strict,
      "exit with 3 if an option cannot run a workload, if a row is missing, no longer fits or "
      "meets, or has a loss, or if the scenario does not run or is of another model or GPU than a "
      "log");
  command->footer(examples(
      {"roofcast show example roadmap_features > roadmap.yaml",
       "roofcast compare roadmap.yaml --csv roadmap.csv --report roadmap.html",
       "roofcast show example llama-70b > llama-70b.yaml",
       "roofcast show example llama70b_h200_hbm > old.yaml",
       "roofcast sweep old.yaml --csv old.csv --quiet",
       "sed 's/stack: vllm/stack: trtllm/' llama-70b.yaml > trtllm.yaml",
       "sed 's/base: .*/base: trtllm.yaml/' old.yaml > new.yaml",
       "roofcast sweep new.yaml --csv new.csv --quiet", "roofcast compare old.csv new.csv",
       "roofcast compare old.csv new.csv --metric tpot_mean_s --tolerance 2% --csv changes.csv",
       "roofcast compare old.csv new.csv --report changes.html",
       "roofcast compare new.csv new.csv --strict",
       "roofcast compare llama-70b.yaml bench.json   # of vllm bench serve --save-result",
       "roofcast compare bench.json --model llama-3.1-70b --system hgx_h200 --gpus 8",
       "roofcast compare llama-70b.yaml nccl.txt --set system=h100_cluster_128 --csv "
       "collectives.csv",
       "roofcast compare llama-70b.yaml trace.json --iterations 10   # of the PyTorch profiler"}));
  command->callback([&chosen, options] { chosen = [options] { return run_compare(*options); }; });
}

}  // namespace roofcast::cli
