// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/units/unit_text.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/provenance/made_by.hpp"
#include "cli/question/manifest_options.hpp"
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
#include "sim/result/costs.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

constexpr std::int64_t kMostServing = 4096;  // GPUs

struct RecommendOptions {
  ScenarioOptions said;
  ManifestFile manifest;
  std::vector<std::string> where;
  std::string minimize;
  std::string maximize;
  std::string pools = "both";
  std::string csv;
  std::string report;
  std::string format = "text";
  bool no_replay = false;
  bool strict = false;
  bool quiet = false;
};

// "a,b": a node for each, whose place is in the text of the option.
std::vector<Node> listed(const char* option, const std::string& text, base::Problems& problems) {
  std::vector<Node> nodes;
  std::set<std::string> names;
  const auto source = std::make_shared<const base::Source>(base::Source{option, text, {}});
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const base::Place place{source, {0, static_cast<int>(from)}};
    if (to == from) {
      problems.add(place, "", "expects a list without gaps: a,b");
    } else if (nodes.push_back(base::scalar_node(text.substr(from, to - from), place));
               !names.insert(nodes.back().text).second) {
      problems.add(place, "", fmt::format("has {} twice", nodes.back().text));
    }
    from = to + 1;
  }
  return nodes;
}

void add_limit(sim::Question& q, const char* option, const char* metric, const std::string& text,
               base::Problems& problems) {
  if (text.empty()) {
    return;
  }
  const auto source = std::make_shared<const base::Source>(base::Source{option, text, {}});
  const base::ParsedQuantity limit =
      base::parse_quantity(text, base::dimension_of<base::Seconds>());
  if (!limit.ok() || limit.si <= 0.0) {
    problems.add({source, {}}, "", limit.ok() ? "must be more than 0" : limit.error);
    return;
  }
  q.where.push_back(*sim::parse_condition(fmt::format("{} <= {:.15g}", metric, limit.si),
                                          {source, {}}, problems, ""));
}

std::vector<sim::Condition> conditions_of(const RecommendOptions& options,
                                          base::Problems& problems) {
  std::vector<sim::Condition> all;
  for (const std::string& text : options.where) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--where", text, {}});
    if (const auto condition = sim::parse_condition(text, {source, {}}, problems, "")) {
      all.push_back(*condition);
    }
  }
  return all;
}

// `usual`: the metric to minimize where no option names one.
sim::Objective objective_of(const RecommendOptions& options, const char* usual,
                            base::Problems& problems) {
  const bool maximizes = !options.maximize.empty();
  if (maximizes && !options.minimize.empty()) {
    problems.add_text("error: --minimize or --maximize, not both; bound the other with --where\n");
  }
  std::string name = maximizes ? options.maximize : options.minimize;
  name = name.empty()           ? usual
         : name == "cost"       ? "cost_usd_per_mtok"
         : name == "throughput" ? "throughput_tok_per_s_per_gpu"
                                : name;
  const sim::Metric* metric = sim::find_metric(name);
  if (metric == nullptr) {
    problems.add_text(fmt::format("error: --{}: {}\n", maximizes ? "maximize" : "minimize",
                                  sim::unknown_metric(name)));
  } else if (metric->better == (maximizes ? sim::Better::lower : sim::Better::higher)) {
    problems.add_text(fmt::format("error: --{}: {} is better when it is {}\n",
                                  maximizes ? "maximize" : "minimize", name,
                                  maximizes ? "lower" : "higher"));
  }
  return {metric, maximizes ? sim::Direction::maximize : sim::Direction::minimize};
}

// A part of the scenario that an option may list, and what it lists.
using ListedParts = std::span<const std::pair<const char*, std::vector<Node>*>>;

// A knob of the scenario. One of a part that is listed is changed in each of the list. `searched`: the knob is not the
// scenario's to say.
void set_everywhere(ListedParts lists, bool searched, Node& document, const std::string& assignment,
                    base::Problems& problems) {
  const std::string path = assignment.substr(0, assignment.find('='));
  const auto is_below = [&](const std::string& above) { return path.starts_with(above + "."); };
  const base::Source source{"--set", assignment, {}};
  if (searched || std::any_of(lists.begin(), lists.end(), [&](const auto& list) {
        return path == list.first && !list.second->empty();
      })) {
    problems.add({std::make_shared<const base::Source>(source), {}}, path,
                 "is searched, or has an option of its own (--system, --precision, --stack, "
                 "--clients, --gpus)");
    return;
  }
  for (const auto& [above, nodes] : lists) {
    if (is_below(above) && !nodes->empty()) {
      std::vector<std::pair<base::Problem, std::string>> found;
      std::size_t bad = 0;
      for (Node& node : *nodes) {
        const std::string name = node.is_scalar() ? node.text : node.reference;
        base::Problems here;
        Node with = document;
        sim::set_knob(with, above, node.place, node, here);
        sim::set_knob(with, source, here);
        node = *with.find_path(above);
        try {
          here.throw_if_any();
        } catch (const base::InputError& error) {
          ++bad;
          for (const base::Problem& problem : error.problems()) {
            found.emplace_back(problem, fmt::format("{}: {}", above, name));
          }
        }
      }
      for (const auto& [problem, where] : found) {
        problems.add(sim::at_values(problem, bad < nodes->size() ? where : std::string()));
      }
      return;
    }
  }
  sim::set_knob(document, source, problems);
}

bool is_searched(const std::string& assignment) {
  const std::string path = assignment.substr(0, assignment.find('='));
  const bool kept =
      std::any_of(std::begin(sim::kKeptOfDeployment), std::end(sim::kKeptOfDeployment),
                  [&](const char* key) { return path == fmt::format("deployment.{}", key); });
  return (path.starts_with("deployment") && !kept) || path == "serving.replicas" ||
         path == "traffic.concurrency";
}

// Clients of a scenario are searched unless an option says them. A load that is searched begins with one client.
sim::Load load_of(Node& document, const ScenarioOptions& said) {
  Node& traffic = document["traffic"];
  if (traffic.find("arrivals") != nullptr || traffic.find("trace") != nullptr ||
      traffic.find("agents") != nullptr || !said.clients.empty()) {
    return sim::Load::fixed;
  }
  traffic["concurrency"] = base::scalar_node("1", document.place);
  return sim::Load::free;
}

sim::Question question_of(const RecommendOptions& options, Heading& heading) {
  base::Problems problems;
  sim::Question q;
  const ScenarioOptions& said = options.said;
  Node document = started_document(said);
  if (said.gpus > kMostServing) {
    problems.add_text(fmt::format(
        "error: --gpus: at most {} serve; only a scenario that trains takes more\n", kMostServing));
  }
  set_model_and_traffic(document, said, problems);
  q.systems = listed("--system", said.system, problems);
  q.precisions = listed("--precision", said.precision, problems);
  q.stacks = listed("--stack", said.stack, problems);
  q.gpus = said.gpus;
  q.load = load_of(document, said);
  q.one_pool = options.pools != "two";
  q.two_pools = options.pools != "one";
  q.objective = objective_of(options, "cost_usd_per_mtok", problems);
  refuse_two_of_one_knob(said, Lists::yes, problems);
  add_limit(q, "--ttft-p95", "ttft_p95_s", said.ttft, problems);
  add_limit(q, "--tpot-p95", "tpot_p95_s", said.tpot, problems);
  const std::vector<sim::Condition> more = conditions_of(options, problems);
  q.where.insert(q.where.end(), more.begin(), more.end());
  if (document.find("deployment") != nullptr) {
    heading.notes.emplace_back("the deployment of the scenario is replaced");
  }
  if (document.find("serving") == nullptr && q.stacks.empty()) {
    heading.notes.push_back(
        fmt::format("the serving stack is {} (no --stack was given)", sim::kUsualStack));
  }
  sim::fill_usual_sections(document);
  const std::pair<const char*, std::vector<Node>*> lists[] = {
      {"system", &q.systems}, {"precision", &q.precisions}, {"serving.stack", &q.stacks}};
  for (const std::string& assignment : said.set) {
    set_everywhere(lists, is_searched(assignment), document, assignment, problems);
  }
  if (document.find("precision") == nullptr) {
    if (q.precisions.empty()) {
      heading.notes.emplace_back("the precision is the model's own (no --precision was given)");
    } else {  // a model may name none
      document["precision"] = q.precisions.front();
    }
  }
  problems.throw_if_any();
  q.base = std::move(document);
  return q;
}

// Where a power budget feeds fewer GPUs than were asked for.
void add_power_notes(const sim::Question& q, const sim::Recommendation& r, Heading& heading) {
  const sim::SweepPoints& points = *r.scans.front().points;
  for (std::size_t row = 0; row < points.size(); row += points.size() / r.scans.front().systems()) {
    const sim::ScenarioView s = points.scenario(row);
    const auto fed = sim::gpus_fed(sim::prices_of(s), s.platform->system);
    if (fed && *fed < q.gpus) {
      heading.notes.push_back(
          fmt::format("the power budget feeds {} GPUs of {}", *fed, points.label(row, 0)));
    }
  }
}

// The model, its traffic, the budget and the conditions.
std::string title_of(const sim::Question& q, const sim::Recommendation& r) {
  const sim::Scenario s = sim::read_scenario(r.scans.front().points->document(0));
  std::vector<std::string> parts = {s.model.name};
  if (q.precisions.empty()) {
    parts.push_back(s.precision.id.empty() ? "custom precision" : s.precision.id);
  }
  if (q.stacks.empty()) {
    parts.push_back(s.serving.stack.name);
  }
  std::string load = load_text(s);
  if (q.load == sim::Load::free) {
    load = load.substr(0, load.rfind(',')) + ", clients searched";
  }
  parts.push_back(load);
  parts.push_back(fmt::format("at most {} GPU{}", q.gpus, q.gpus == 1 ? "" : "s"));
  for (const sim::Condition& c : q.where) {
    parts.push_back(c.text);
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

// Clients whose requests have all one length send them together.
bool is_in_step(const sim::SweepPoints& points) {
  const workloads::RequestStream stream = points.stream(0);
  return !workloads::is_open(stream) && !stream.agents &&
         squared_variation(stream.input) + squared_variation(stream.output) == 0.0;
}

// A scenario that trains.
sim::TrainingQuestion training_question_of(const RecommendOptions& options, Node document) {
  base::Problems problems;
  refuse_serving_options(document, options.said, problems);
  refuse_in_training({{"--kubernetes", options.manifest.file}, {"--report", options.report}},
                     problems);
  refuse_two_of_one_knob(options.said, Lists::yes, problems);
  sim::TrainingQuestion q;
  set_model_and_traffic(document, options.said, problems);
  q.systems = listed("--system", options.said.system, problems);
  q.precisions = listed("--precision", options.said.precision, problems);
  q.gpus = options.said.gpus;
  q.objective = objective_of(options, "step_s", problems);
  q.where = conditions_of(options, problems);
  const std::pair<const char*, std::vector<Node>*> lists[] = {{"system", &q.systems},
                                                              {"precision", &q.precisions}};
  for (const std::string& assignment : options.said.set) {
    set_everywhere(lists, false, document, assignment, problems);
  }
  problems.throw_if_any();
  q.base = std::move(document);
  return q;
}

int recommend_training(const RecommendOptions& options, Node document) {
  const sim::TrainingQuestion q = training_question_of(options, std::move(document));
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
  const sim::Question q = question_of(options, heading);
  note_question("scenario", q.base);
  const auto start = std::chrono::steady_clock::now();
  const sim::Recommendation r = [&] {
    sim::ReplayProgress rows;
    const Progress progress(rows.done, rows.total, "rows replayed", options.quiet);
    return sim::recommend(q, {0, !options.no_replay, &rows});
  }();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  heading.title = title_of(q, r);
  if (is_in_step(*r.scans.front().points)) {
    heading.notes.emplace_back(
        "all requests are alike, so clients stay in step and prompts come together; lengths that "
        "are drawn come apart: --output '{uniform: [800, 1200]}'");
  }
  add_power_notes(q, r, heading);
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
