// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/document/text_file.hpp"
#include "base/units/unit_text.hpp"
#include "cli/program/commands.hpp"
#include "cli/program/progress.hpp"
#include "cli/program/usage.hpp"
#include "cli/recommend/recommend_answer.hpp"
#include "cli/recommend/training_search_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/recommend/recommendation.hpp"
#include "sim/recommend/training_search.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

constexpr const char* kUsualStack = "vllm";
constexpr std::int64_t kMostServing = 4096;  // GPUs

struct Options {
  std::string scenario;
  std::string model;
  std::string systems;
  std::int64_t gpus = 0;
  std::string input;
  std::string output;
  std::string clients;
  std::string rate;
  std::string precisions;
  std::string stacks;
  std::string ttft;
  std::string tpot;
  std::vector<std::string> where;
  std::string minimize;
  std::string maximize;
  std::string pools = "both";
  std::vector<std::string> set;
  std::string csv;
  std::string save;
  std::string format = "text";
  bool no_replay = false;
  bool strict = false;
  bool quiet = false;
};

// "a,b": a node for each, whose place is in the text of the option.
std::vector<Node> listed(const char* option, const std::string& text, base::Problems& problems) {
  std::vector<Node> nodes;
  const auto source = std::make_shared<const base::Source>(base::Source{option, text, {}});
  for (std::size_t from = 0; !text.empty() && from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const base::Place place{source, {0, static_cast<int>(from)}};
    if (to == from) {
      problems.add(place, "", "expects a list without gaps: a,b");
    } else {
      nodes.push_back(base::scalar_node(text.substr(from, to - from), place));
    }
    from = to + 1;
  }
  return nodes;
}

// The scenario of a file, or an empty one.
Node written(const Options& options, base::Problems& problems) {
  if (!options.scenario.empty()) {
    return scenario_document(options.scenario, {});
  }
  for (const auto& [option, value] : {std::pair{"--model", &options.model},
                                      {"--system", &options.systems},
                                      {"--input", &options.input},
                                      {"--output", &options.output}}) {
    if (value->empty()) {
      problems.add_text(fmt::format("error: {} is needed, or a scenario file\n", option));
    }
  }
  problems.throw_if_any();
  Node document;
  document.place = {std::make_shared<const base::Source>(base::Source{"the options", "", {}}), {}};
  return document;
}

void erase(Node& map, std::string_view key) {
  std::erase_if(map.entries, [&](const base::Entry& entry) { return entry.key == key; });
}

// What the options say about the traffic. True if it is a fixed load.
bool set_traffic(Node& document, const Options& options, base::Problems& problems) {
  const auto set = [&](const char* option, const char* path, const std::string& value) {
    if (!value.empty()) {
      sim::set_knob(document, {option, fmt::format("{}={}", path, value), {}}, problems);
    }
  };
  if (!options.rate.empty() && !options.clients.empty()) {
    problems.add_text("error: --rate or --clients, not both\n");
  }
  set("--input", "traffic.input_tokens", options.input);
  set("--output", "traffic.output_tokens", options.output);
  Node& traffic = document["traffic"];
  if (!options.rate.empty()) {
    erase(traffic, "concurrency");
    if (traffic.find("arrivals") == nullptr) {
      traffic["arrivals"]["process"] = base::scalar_node("poisson", document.place);
    }
    set("--rate", "traffic.arrivals.rate", options.rate);
  }
  if (!options.clients.empty()) {
    erase(traffic, "arrivals");
    set("--clients", "traffic.concurrency", options.clients);
  }
  const bool is_fixed = traffic.find("arrivals") != nullptr || traffic.find("trace") != nullptr ||
                        !options.clients.empty();
  if (!is_fixed) {
    traffic["concurrency"] = base::scalar_node("1", document.place);
  }
  return is_fixed;
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

std::vector<sim::Condition> conditions_of(const Options& options, base::Problems& problems) {
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
sim::Objective objective_of(const Options& options, const char* usual, base::Problems& problems) {
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

// A knob of the scenario. One of a part that is listed (systems, precisions, stacks) is changed in each of the list.
void set_everywhere(sim::Question& q, Node& document, const std::string& assignment,
                    base::Problems& problems) {
  const std::string path = assignment.substr(0, assignment.find('='));
  const auto is_below = [&](const std::string& above) { return path.starts_with(above + "."); };
  const base::Source source{"--set", assignment, {}};
  const bool kept =
      std::any_of(std::begin(sim::kKeptOfDeployment), std::end(sim::kKeptOfDeployment),
                  [&](const char* key) { return path == fmt::format("deployment.{}", key); });
  const std::pair<const char*, std::vector<Node>*> lists[] = {
      {"system", &q.systems}, {"precision", &q.precisions}, {"serving.stack", &q.stacks}};
  const auto listed_at = [&](const auto& list) {
    return path == list.first && !list.second->empty();
  };
  if ((path.starts_with("deployment") && !kept) || path == "serving.replicas" ||
      path == "traffic.concurrency" || std::any_of(std::begin(lists), std::end(lists), listed_at)) {
    problems.add({std::make_shared<const base::Source>(source), {}}, path,
                 "is searched, or has an option of its own (--system, --precision, --stack, "
                 "--clients, --gpus)");
    return;
  }
  for (const auto& [above, nodes] : lists) {
    if (is_below(above) && !nodes->empty()) {
      for (Node& node : *nodes) {
        Node with = document;
        sim::set_knob(with, above, node.place, node, problems);
        sim::set_knob(with, source, problems);
        node = *with.find_path(above);
      }
      return;
    }
  }
  sim::set_knob(document, source, problems);
}

void set_model(Node& document, const Options& options, base::Problems& problems) {
  if (!options.model.empty()) {
    sim::set_knob(document, {"--model", fmt::format("model={}", options.model), {}}, problems);
  }
}

sim::Question question_of(const Options& options, Heading& heading) {
  base::Problems problems;
  sim::Question q;
  Node document = written(options, problems);
  if (options.gpus > kMostServing) {
    problems.add_text(fmt::format(
        "error: --gpus: at most {} serve; only a scenario that trains takes more\n", kMostServing));
  }
  set_model(document, options, problems);
  q.systems = listed("--system", options.systems, problems);
  q.precisions = listed("--precision", options.precisions, problems);
  q.stacks = listed("--stack", options.stacks, problems);
  q.gpus = options.gpus;
  q.load = set_traffic(document, options, problems) ? sim::Load::fixed : sim::Load::free;
  q.one_pool = options.pools != "two";
  q.two_pools = options.pools != "one";
  q.objective = objective_of(options, "cost_usd_per_mtok", problems);
  add_limit(q, "--ttft-p95", "ttft_p95_s", options.ttft, problems);
  add_limit(q, "--tpot-p95", "tpot_p95_s", options.tpot, problems);
  const std::vector<sim::Condition> more = conditions_of(options, problems);
  q.where.insert(q.where.end(), more.begin(), more.end());
  const auto missing = [&](const char* section, const char* key, const char* value) {
    if (const Node* node = document.find(section); node == nullptr || node->is_null()) {
      document[section][key] = base::scalar_node(value, document.place);
      return true;
    }
    return false;
  };
  if (!missing("deployment", "tensor_parallel", "1")) {
    heading.notes.emplace_back("the deployment of the scenario is replaced");
  }
  if (missing("serving", "stack", kUsualStack) && q.stacks.empty()) {
    heading.notes.push_back(
        fmt::format("the serving stack is {} (no --stack was given)", kUsualStack));
  }
  for (const std::string& assignment : options.set) {
    set_everywhere(q, document, assignment, problems);
  }
  if (q.precisions.empty() && document.find("precision") == nullptr) {
    heading.notes.emplace_back("the precision is the model's own (no --precision was given)");
  }
  problems.throw_if_any();
  q.base = std::move(document);
  return q;
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

// References that are paths lead on from where the scenario was written.
Node with_whole_paths(Node document) {
  for (const sim::ReferencePoint& point : sim::reference_points()) {
    Node* node = document.find_path(point.path);
    Node* base = node == nullptr ? nullptr : node->find("base");
    for (Node* named : {node, base}) {
      if (named != nullptr && named->is_scalar() && named->text.find('/') != std::string::npos &&
          named->place.source != nullptr) {
        named->text =
            (std::filesystem::path(named->place.source->directory) / named->text).string();
      }
    }
  }
  return document;
}

// A scenario that trains. Options of serving are none of its.
sim::TrainingQuestion training_question_of(const Options& options, Node document) {
  base::Problems problems;
  for (const auto& [option, value] : {std::pair{"--input", &options.input},
                                      {"--output", &options.output},
                                      {"--clients", &options.clients},
                                      {"--rate", &options.rate},
                                      {"--stack", &options.stacks},
                                      {"--ttft-p95", &options.ttft},
                                      {"--tpot-p95", &options.tpot}}) {
    if (!value->empty()) {
      problems.add_text(fmt::format("error: {} is of serving, and the scenario trains\n", option));
    }
  }
  sim::TrainingQuestion q;
  set_model(document, options, problems);
  q.systems = listed("--system", options.systems, problems);
  q.precisions = listed("--precision", options.precisions, problems);
  q.gpus = options.gpus;
  q.objective = objective_of(options, "step_s", problems);
  q.where = conditions_of(options, problems);
  for (const std::string& assignment : options.set) {
    sim::set_knob(document, {"--set", assignment, {}}, problems);
  }
  problems.throw_if_any();
  q.base = std::move(document);
  return q;
}

void write_answer(const Options& options, const std::string& title, Node document) {
  base::write_text(options.save, fmt::format("# {}\n# Found by roofcast recommend.\n{}", title,
                                             base::to_yaml(with_whole_paths(std::move(document)))));
}

int recommend_training(const Options& options, Node document) {
  const sim::TrainingQuestion q = training_question_of(options, std::move(document));
  const auto start = std::chrono::steady_clock::now();
  const sim::TrainingSearch search = sim::search_trainings(q, 0);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!options.csv.empty()) {
    write_training_rows(search, options.csv);
  }
  fmt::print("{}", options.format == "json" ? training_search_json(q, search).dump(2) + "\n"
                                            : training_search_text(q, search));
  if (!options.save.empty() && !search.best.empty()) {
    const sim::TrainedRow& best = search.best.front();
    write_answer(options, training_search_title(q, search),
                 sim::with_choice(search.candidates[best.candidate].document, best.choice));
  }
  if (!options.quiet) {
    fmt::print(stderr, "{} choices in {:.2f} s\n", search.rows, elapsed.count());
  }
  return options.strict && search.best.empty() ? kInfeasible : kDone;
}

int run_recommend(const Options& options) {
  if (!options.scenario.empty()) {
    Node document = scenario_document(options.scenario, {});
    if (const Node* training = document.find("training");
        training != nullptr && !training->is_null()) {
      return recommend_training(options, std::move(document));
    }
  }
  Heading heading;
  const sim::Question q = question_of(options, heading);
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
  if (!options.csv.empty()) {
    write_rows(r, options.csv);
  }
  if (options.format == "json") {
    fmt::print("{}\n", recommend_json(q, heading, r).dump(2));
  } else {
    fmt::print("{}", recommend_text(q, heading, r));
  }
  if (!options.save.empty() && r.found()) {
    write_answer(options, heading.title, scenario_of(r, *r.answers.front()));
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
      "is not recommended: the next is tried. The answer has the commands that start it. "
      "A scenario file is not needed; the options say what differs from it. Its `deployment` is "
      "replaced. With --rate or --clients, with arrivals or a trace in the scenario, the "
      "deployment must carry that load. Else the number of clients is searched, too. A system "
      "with fewer GPUs than the budget is joined with its like over its NICs.");
  auto options = std::make_shared<Options>();
  command->add_option("scenario", options->scenario, "the YAML file of a scenario")
      ->type_name(kFile);
  command->add_option("--model", options->model, "the model")->type_name(kText);
  command->add_option("--system", options->systems, "the systems: a,b")->type_name(kText);
  command->add_option("--gpus", options->gpus, "the most GPUs of a deployment")
      ->type_name(kNumber)
      ->required()
      ->within(std::size_t{1}, std::size_t{1'000'000});
  command->add_option("--input", options->input, "tokens of a prompt, or a distribution as in YAML")
      ->type_name(kText);
  command
      ->add_option("--output", options->output, "tokens of an answer, or a distribution as in YAML")
      ->type_name(kText);
  command->add_option("--rate", options->rate, "requests that arrive, such as '8 /s'")
      ->type_name(kText);
  command->add_option("--clients", options->clients, "clients, each of which waits for its answer")
      ->type_name(kText);
  command
      ->add_option("--precision", options->precisions,
                   "the precisions to try: a,b; default: the scenario's or the model's own")
      ->type_name(kText);
  command
      ->add_option("--stack", options->stacks,
                   "the serving stacks to try: a,b; default: the scenario's or vllm")
      ->type_name(kText);
  command->add_option("--ttft-p95", options->ttft, "the most TTFT p95, such as 1s")
      ->type_name(kText);
  command->add_option("--tpot-p95", options->tpot, "the most TPOT p95, such as 30ms")
      ->type_name(kText);
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
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_flag("--no-replay", options->no_replay,
                    "the closed form alone: the answer is estimated only");
  command->add_flag("--strict", options->strict, "exit with 3 if nothing meets the conditions");
  command->add_option("-o,--csv", options->csv, "write all rows to this file, as a sweep does")
      ->type_name(kFile)
      ->group("Output");
  command->add_option("--save", options->save, "write the scenario of the answer to this file")
      ->type_name(kFile)
      ->group("Output");
  command->add_option("--format", options->format, "the format of the output")
      ->one_of({"text", "json"})
      ->capture_default_str()
      ->group("Output");
  command->add_flag("--quiet", options->quiet, "print no progress and no timing")->group("Output");
  command->footer(examples(
      {"roofcast recommend --model qwen3-235b-a22b --precision fp8 --system hgx_h200,gb200_nvl72 "
       "--gpus 16 --input 4000 --output 1000 --ttft-p95 1s --tpot-p95 30ms",
       "roofcast recommend --model llama-3.1-70b --precision fp8 --system hgx_h200 --gpus 8 "
       "--input 1500 --output 250 --rate '4 /s' --ttft-p95 500ms --minimize gpus --save mine.yaml",
       "roofcast simulate mine.yaml"}));
  command->callback([&chosen, options] { chosen = [options] { return run_recommend(*options); }; });
}

}  // namespace roofcast::cli
