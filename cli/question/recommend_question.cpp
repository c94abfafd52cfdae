// SPDX-License-Identifier: Apache-2.0
#include "cli/question/recommend_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "base/units/unit_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/recommend/training_mappings.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/knob.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

using base::Node;

constexpr std::int64_t kMostServing = 4096;  // GPUs

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

std::vector<sim::Condition> conditions_of(const AskedRecommendation& asked,
                                          base::Problems& problems) {
  std::vector<sim::Condition> all;
  for (const std::string& text : asked.where) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--where", text, {}});
    if (const auto condition = sim::parse_condition(text, {source, {}}, problems, "")) {
      all.push_back(*condition);
    }
  }
  return all;
}

// `usual`: the metric to minimize where no option names one.
sim::Objective objective_of(const AskedRecommendation& asked, const char* usual,
                            base::Problems& problems) {
  const bool maximizes = !asked.maximize.empty();
  if (maximizes && !asked.minimize.empty()) {
    problems.add_text("error: --minimize or --maximize, not both; bound the other with --where\n");
  }
  std::string name = maximizes ? asked.maximize : asked.minimize;
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

// Whether a setting says a knob, by its path or as a part of what it sets: "traffic={concurrency: 8, …}".
bool says(const std::string& assignment, const std::string& knob) {
  const std::string path = assignment.substr(0, assignment.find('='));
  if (!knob.starts_with(path + ".")) {
    return path == knob;
  }
  Node said;
  base::Problems ignored;  // are those of who sets it
  sim::set_knob(said, base::Source{"--set", assignment, {}}, ignored);
  return said.find_path(knob) != nullptr;
}

template <class Knobs>
bool says_one_of(const std::string& assignment, const Knobs& knobs) {
  return std::any_of(std::begin(knobs), std::end(knobs),
                     [&](const char* knob) { return says(assignment, knob); });
}

bool is_searched(const std::string& assignment) {
  constexpr const char* kSearched[] = {"serving.replicas", "traffic.concurrency"};
  const std::string path = assignment.substr(0, assignment.find('='));
  const bool kept =
      std::any_of(std::begin(sim::kKeptOfDeployment), std::end(sim::kKeptOfDeployment),
                  [&](const char* key) { return path == fmt::format("deployment.{}", key); });
  return (path.starts_with("deployment") && !kept) || says_one_of(assignment, kSearched);
}

// As the option --gpus, which Python has not.
void check_gpus(std::int64_t gpus, base::Problems& problems) {
  if (gpus < 1 || gpus > kMostRecommended) {
    problems.add_text(fmt::format("error: GPUs: {} are not 1 to {}\n", gpus, kMostRecommended));
  }
}

// What kind of question it is, the scenario has to say.
void refuse_other_kinds(const std::vector<std::string>& set, const Node& document,
                        base::Problems& problems) {
  for (const std::string& assignment : set) {
    const std::string path = assignment.substr(0, assignment.find('='));
    const std::string section = path.substr(0, path.find('.'));
    if (document.find(section) == nullptr && (section == "training" || section == "rl")) {
      problems.add(
          {std::make_shared<const base::Source>(base::Source{"--set", assignment, {}}), {}}, path,
          "is not set here: a scenario that trains has the section in its file");
    }
  }
}

constexpr const char* kOtherLoads[] = {"arrivals", "trace", "agents"};

// Whether a setting says how requests come, in place of the scenario's clients.
bool sets_load(const std::string& assignment) {
  return std::any_of(std::begin(kOtherLoads), std::end(kOtherLoads), [&](const char* load) {
    const std::string knob = fmt::format("traffic.{}", load);
    return assignment.starts_with(knob + ".") || says(assignment, knob);
  });
}

// Clients of a scenario are searched unless an option says them. A load that is searched begins with one client.
sim::Load load_of(Node& document, const ScenarioOptions& said) {
  Node& traffic = document["traffic"];
  if (said.clients.empty() && std::any_of(said.set.begin(), said.set.end(), sets_load)) {
    std::erase_if(traffic.entries,
                  [](const base::Entry& entry) { return entry.key == "concurrency"; });
  }
  if (!said.clients.empty() ||
      std::any_of(std::begin(kOtherLoads), std::end(kOtherLoads),
                  [&](const char* load) { return traffic.find(load) != nullptr; })) {
    return sim::Load::fixed;
  }
  traffic["concurrency"] = base::scalar_node("1", document.place);
  return sim::Load::free;
}

}  // namespace

sim::Question question_of(const AskedRecommendation& asked, Node document, Heading& heading) {
  base::Problems problems;
  sim::Question q;
  const ScenarioOptions& said = asked.said;
  check_gpus(said.gpus, problems);
  if (said.gpus > kMostServing) {
    problems.add_text(fmt::format(
        "error: --gpus: at most {} serve; only a scenario that trains takes more\n", kMostServing));
  }
  set_model_and_traffic(document, said, problems);
  refuse_other_kinds(said.set, document, problems);
  q.systems = listed("--system", said.system, problems);
  q.precisions = listed("--precision", said.precision, problems);
  q.stacks = listed("--stack", said.stack, problems);
  q.gpus = said.gpus;
  q.one_pool = asked.pools != "two";
  q.two_pools = asked.pools != "one";
  q.objective = objective_of(asked, "cost_usd_per_mtok", problems);
  refuse_two_of_one_knob(said, Lists::yes, problems);
  add_limit(q, "--ttft-p95", "ttft_p95_s", said.ttft, problems);
  add_limit(q, "--tpot-p95", "tpot_p95_s", said.tpot, problems);
  const std::vector<sim::Condition> more = conditions_of(asked, problems);
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
  q.load = load_of(document, said);
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

sim::TrainingQuestion training_question_of(const AskedRecommendation& asked, Node document,
                                           base::Problems problems) {
  refuse_serving_options(document, asked.said, problems);
  refuse_in_training({{"--pools", asked.pools == "both" ? "" : asked.pools}}, problems);
  check_gpus(asked.said.gpus, problems);
  refuse_two_of_one_knob(asked.said, Lists::yes, problems);
  sim::TrainingQuestion q;
  set_model_and_traffic(document, asked.said, problems);
  q.systems = listed("--system", asked.said.system, problems);
  q.precisions = listed("--precision", asked.said.precision, problems);
  q.gpus = asked.said.gpus;
  q.objective = objective_of(asked, "step_s", problems);
  q.where = conditions_of(asked, problems);
  const std::pair<const char*, std::vector<Node>*> lists[] = {{"system", &q.systems},
                                                              {"precision", &q.precisions}};
  for (const std::string& assignment : asked.said.set) {
    set_everywhere(lists, says_one_of(assignment, sim::kSearchedOfTraining), document, assignment,
                   problems);
  }
  problems.throw_if_any();
  q.base = std::move(document);
  return q;
}

namespace {

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

}  // namespace

void describe(const sim::Question& q, const sim::Recommendation& r, Heading& heading) {
  heading.title = title_of(q, r);
  if (is_in_step(*r.scans.front().points)) {
    heading.notes.emplace_back(
        "all requests are alike, so clients stay in step and prompts come together; lengths that "
        "are drawn come apart: --output '{uniform: [800, 1200]}'");
  }
  add_power_notes(q, r, heading);
}

}  // namespace roofcast::cli
