// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/answers/solved.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/tables/say.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/text/scenario_text.hpp"

namespace roofcast::cli {
namespace {

struct SolveOptions {
  SolveQuestion question;
  std::string scenario;
  std::string format = "text";
  bool simulate = false;  // what it did is the default now
  bool strict = false;
  bool quiet = false;
};

int run_solve(SolveOptions& options) {
  base::Problems problems;
  refuse_two_of_one_knob(set_options(options.question.set), problems);
  problems.throw_if_any();
  options.question.scenario = scenario_document(options.scenario, {});
  note_question("scenario", options.question.scenario);
  const SolveAnswer a = [&] {
    std::atomic<std::size_t> done{0};
    const std::atomic<std::size_t> total{0};  // not known before the end
    const Progress progress(done, total, "estimates and replays", options.quiet);
    options.question.done = &done;
    return solve(options.question);
  }();
  if (options.simulate) {
    fmt::print(stderr, "note: --simulate does nothing: answers are replayed without it\n");
  }
  if (options.format == "json") {
    print_json(solve_json(a));
  } else if (options.format == "csv") {
    write_solve_csv(a, std::cout);
  } else {
    say("{}", solve_text(a));
  }
  return options.strict && !a.found ? kInfeasible : kDone;
}

}  // namespace

void add_solve(Command& app, Run& chosen) {
  auto* command = app.add_subcommand(
      "solve",
      "Finds the value of a knob that meets conditions, or the best of several knobs\n"
      "One knob: bisection finds up to which value the conditions hold, or from which value "
      "on. With --minimize or --maximize: combinations of the knobs are tried for the least or "
      "most of a metric. Lists and short ranges of whole numbers are tried completely, other "
      "ranges in some places and then finer around the best. A condition is fits, or a metric "
      "in SI units and a bound, as in a sweep's where. A range is 8..64 (whole numbers), '1 "
      "/s..50 /s', x0.5..x8 (factors of the present value) or a list a,b. The default range is "
      "a thousand times up and down. Estimates say where to look. The answer is found on "
      "the simulation, and holds there by two standard errors; what the simulation contradicts "
      "is listed. The answer has the slack of each condition, and what one "
      "more percent of its bound buys. If nothing meets all conditions, the answer is the "
      "nearest point and by how much it misses.");
  auto options = std::make_shared<SolveOptions>();
  command->add_option("scenario", options->scenario, "the YAML file of the scenario")
      ->type_name(kFile)
      ->required();
  command->add_option("--vary", options->question.vary, "a knob and the values that it may have")
      ->type_name(kKnobRange)
      ->take_all()
      ->required();
  command
      ->add_option("--until", options->question.until, "a condition, such as 'ttft_p95_s <= 0.5'")
      ->type_name(kCondition)
      ->take_all()
      ->required();
  command
      ->add_option("--minimize", options->question.minimize,
                   "the metric to minimize; default for a list: gpus")
      ->type_name(kMetric);
  command->add_option("--maximize", options->question.maximize, "the metric to maximize")
      ->type_name(kMetric);
  command
      ->add_option("--set", options->question.set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_flag("--no-replay", options->question.no_replay,
                    "no replays: the answer is estimated only");
  command->add_flag("--simulate", options->simulate, "does nothing: the answer is replayed");
  command->add_format(options->format, {"text", "json", "csv"});
  command->add_flag("--quiet", options->quiet, "print no progress")->group("Output");
  command->add_flag("--strict", options->strict, "exit with 3 if nothing meets the conditions");
  command->footer(examples(
      {"roofcast show example llama-70b_arrivals > mine.yaml",
       "roofcast solve mine.yaml --vary traffic.arrivals.rate --until 'ttft_p95_s <= 0.5' --until "
       "'tpot_p95_s <= 0.03'",
       "roofcast solve mine.yaml --set 'traffic.arrivals.rate=40 /s' --vary serving.replicas=1..16 "
       "--vary deployment.tensor_parallel=2,4,8 --until 'ttft_p95_s <= 0.5' --minimize gpus --set "
       "system=h200_cluster_128",
       "roofcast solve mine.yaml --vary system=hgx_h100,hgx_h200,hgx_b200 --vary "
       "deployment.tensor_parallel=1,2,4,8 --vary precision=bf16,fp8 --vary "
       "'traffic.arrivals.rate=0.5 /s..20 /s' --until 'ttft_p95_s <= 0.5' --until 'tpot_p95_s <= "
       "0.03' --minimize cost_usd_per_mtok",
       "roofcast solve mine.yaml --vary system.chip.hbm.bandwidth=x0.5..x4 --until 'tpot_mean_s "
       "<= 0.015'"}));
  command->callback([&chosen, options] { chosen = [options] { return run_solve(*options); }; });
}

}  // namespace roofcast::cli
