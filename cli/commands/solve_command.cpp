// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/program/commands.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/scenario_text.hpp"
#include "cli/text/solve_answer.hpp"
#include "sim/confirm/replayed_answer.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::cli {
namespace {

constexpr double kLooser = 0.01;

struct Options {
  std::string scenario;
  std::vector<std::string> vary;
  std::vector<std::string> until;
  std::string minimize;
  std::string maximize;
  std::vector<std::string> set;
  std::string format = "text";
  bool simulate = false;  // what it did is the default now
  bool no_replay = false;
  bool strict = false;
};

struct Question {
  std::vector<sim::KnobRange> ranges;
  std::vector<sim::Condition> conditions;
  sim::Objective objective;      // without a metric: where one knob's edge is
  std::vector<std::string> now;  // the knobs as they are written; empty where nothing is
};

Question question_of(const Options& options) {
  base::Problems problems;
  base::Node document = scenario_document(options.scenario, options.set);
  sim::load_references(document, problems);
  problems.throw_if_any();
  Question q;
  for (const std::string& text : options.vary) {
    q.ranges.push_back(sim::parse_knob_range({"--vary", text, {}}, document, problems));
    const std::string& path = q.ranges.back().path;
    if (std::any_of(q.ranges.begin(), q.ranges.end() - 1,
                    [&](const sim::KnobRange& other) { return other.path == path; })) {
      problems.add_text(fmt::format("error: --vary names {} twice\n", path));
    }
    const base::Node* now = document.find_path(path);
    q.now.push_back(now == nullptr ? std::string() : now->is_scalar() ? now->text : now->reference);
  }
  for (const std::string& text : options.until) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--until", text, {}});
    if (const auto condition = sim::parse_condition(text, {source, {}}, problems, "")) {
      q.conditions.push_back(*condition);
    }
  }
  const bool maximizes = !options.maximize.empty();
  std::string metric = maximizes ? options.maximize : options.minimize;
  if (!options.minimize.empty() && maximizes) {
    problems.add_text("error: --minimize or --maximize, not both; bound the other with --until\n");
  }
  if (!metric.empty() && sim::find_metric(metric) == nullptr) {
    problems.add_text(fmt::format("error: --{}: {}\n", maximizes ? "maximize" : "minimize",
                                  sim::unknown_metric(metric)));
  }
  if (metric.empty() && q.ranges.size() > 1) {
    problems.add_text("error: several --vary need a metric to --minimize or --maximize\n");
  }
  problems.throw_if_any();
  if (metric.empty() && !q.ranges.front().listed.empty()) {
    metric = "gpus";
  }
  if (!metric.empty()) {
    q.objective = {sim::find_metric(metric),
                   maximizes ? sim::Direction::maximize : sim::Direction::minimize};
  }
  return q;
}

base::Node overridden_document(const Options& options, const Question& q,
                               const std::vector<std::string>& values) {
  std::vector<std::string> set = options.set;
  for (std::size_t i = 0; i < values.size(); ++i) {
    set.push_back(fmt::format("{}={}", q.ranges[i].path, values[i]));
  }
  return scenario_document(options.scenario, set);
}

sim::ServingEstimate estimate_of(const base::Node& document) {
  sim::Workspace workspace;
  const sim::Scenario s = sim::read_scenario(document);
  return sim::estimate(sim::view(s), workspace);
}

// Whether some estimate has a value of the metric of each condition.
class Seen {
 public:
  explicit Seen(const std::vector<sim::Condition>& conditions)
      : conditions_(conditions), valued_(conditions.size(), false) {}

  void look(const sim::ServingEstimate& e) {
    if (!e.fits()) {
      return;
    }
    any_ = true;
    trains_ = e.workflow != nullptr;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      const sim::Metric* metric = sim::find_metric(conditions_[i].metric);
      valued_[i] = valued_[i] || metric == nullptr || !std::isnan(metric->value(e));
    }
  }
  void refuse_without_value() const {
    for (std::size_t i = 0; i < conditions_.size() && any_; ++i) {
      if (!valued_[i]) {
        throw base::InputError(
            fmt::format("error: --until: {}\n", sim::without_value(conditions_[i], trains_)));
      }
    }
  }

 private:
  const std::vector<sim::Condition>& conditions_;
  std::vector<bool> valued_;
  bool any_ = false;
  bool trains_ = false;
};

sim::ReplayAt replay_of(const Options& options, const Question& q) {
  sim::ReplayPlan plan;
  plan.targets = sim::simulated_metrics(q.conditions);
  return [&options, &q, plan](const std::vector<std::string>& values, std::int64_t seed) {
    const sim::StreamedScenario s =
        sim::read_streamed_scenario(overridden_document(options, q, values));
    const sim::ScenarioView view = sim::view(s.scenario);
    sim::ReplayPlan with_seed = plan;
    with_seed.seed = seed;
    sim::ReplaySpace space;
    sim::Replayed r =
        sim::replay(view, s.stream, sim::estimate(view, space.workspace), with_seed, space);
    // `roofcast simulate` has as many requests as the scenario says, and a standard error that is larger.
    if (s.stream.requests && *s.stream.requests > 0) {
      const double fewer =
          static_cast<double>(r.requests) / static_cast<double>(*s.stream.requests);
      for (auto& [metric, error] : r.errors) {
        error *= std::sqrt(std::max(1.0, fewer));
      }
    }
    return r;
  };
}

// What the answer rests on.
void set_replayed(SolveAnswer& a, const Question& q, const sim::Replayed& replayed) {
  a.judgement = sim::judge(q.conditions, replayed);
  if (replayed.done()) {
    a.replayed = replayed.estimate;
  }
}

// The scenario before anything is varied, in a few words.
std::string as_it_is(const Options& options, const Question& q) {
  sim::ServingEstimate e;
  try {
    e = estimate_of(scenario_document(options.scenario, options.set));
  } catch (const base::InputError&) {
    return {};  // what is varied may be what it lacks
  }
  std::vector<std::string> knobs;
  for (std::size_t i = 0; i < q.ranges.size(); ++i) {
    if (!q.now[i].empty()) {
      knobs.push_back(q.ranges.size() == 1 ? q.now[i]
                                           : fmt::format("{}={}", q.ranges[i].path, q.now[i]));
    }
  }
  const std::string misses = sim::missed(q.conditions, e);
  std::string text = fmt::format("as it is{}: {}",
                                 knobs.empty() ? "" : fmt::format(" ({})", fmt::join(knobs, ", ")),
                                 misses.empty() ? "meets the conditions" : misses);
  if (q.objective.metric != nullptr && e.fits()) {
    text += fmt::format(", {} {}", q.objective.metric->name,
                        display(q.objective.metric->value(e), q.objective.metric->unit));
  }
  return text;
}

// Replays the edge, and moves it to where the simulation has it. False if nothing was replayed.
bool replay_edge(const sim::KnobRange& range, const Question& q, const sim::ReplayAt& replay_at,
                 const sim::Boundary& closed_form, sim::ReplayedBoundary& r, SolveAnswer& a) {
  if (!closed_form.estimate.fits()) {
    a.judgement.note = sim::reason(closed_form.estimate);
    return false;
  }
  const sim::Replayed first = replay_at({closed_form.value}, 0);
  if (!first.done()) {
    a.judgement.note = first.why_not;
    return false;
  }
  r = sim::replayed_boundary(range, q.conditions, closed_form, replay_at);
  set_replayed(a, q, r.replayed);
  if (r.boundary.found) {
    a.notes.push_back(
        fmt::format("{} replays; the conditions hold by two standard errors", r.replays));
  }
  if (closed_form.found && !closed_form.everywhere && closed_form.value != r.boundary.value) {
    a.notes.push_back(fmt::format("the closed form says {}", closed_form.value));
  }
  return true;
}

void find_edge(const Options& options, const Question& q, SolveAnswer& a) {
  const sim::KnobRange& range = q.ranges.front();
  Seen seen(q.conditions);
  const auto estimate_at = [&](const std::string& value) {
    sim::ServingEstimate e = estimate_of(overridden_document(options, q, {value}));
    seen.look(e);
    return e;
  };
  const sim::Boundary closed_form = sim::boundary_of(range, q.conditions, estimate_at);
  seen.refuse_without_value();
  const sim::ReplayAt replay_at = replay_of(options, q);
  sim::ReplayedBoundary r{closed_form, {}, {}, closed_form.number, 0};
  const bool replayed = !options.no_replay && replay_edge(range, q, replay_at, closed_form, r, a);
  const sim::Boundary& b = r.boundary;
  a.found = b.found;
  a.values = {b.value};
  a.estimate = estimate_at(b.value);
  if (b.everywhere) {
    a.sentence = fmt::format("every {} from {} to {} meets the conditions", range.path,
                             range.text(range.low), range.text(range.high));
  } else if (b.found) {
    a.sentence = fmt::format("{} {} {} meets the conditions", range.path,
                             b.upwards ? "from" : "up to", b.value);
    a.notes.push_back(
        fmt::format("{}: {}", b.beyond,
                    replayed ? r.beyond_misses : sim::missed(q.conditions, b.estimate_beyond)));
  }
  if (b.changes > 1) {
    a.notes.push_back(
        fmt::format("not monotone: they begin or cease to hold {} times from {} to {}; this is "
                    "the first",
                    b.changes, range.text(range.low), range.text(range.high)));
  }
  for (std::size_t i = 0; i < q.conditions.size(); ++i) {
    SolvedCondition c{q.conditions[i], sim::slack(q.conditions[i], a.result()), {}, std::nan("")};
    if (b.found && !b.everywhere) {
      std::vector<sim::Condition> conditions = q.conditions;
      conditions[i] = sim::loosened(conditions[i], kLooser);
      sim::Boundary from = b;
      from.number = r.edge;
      const sim::Boundary looser =
          replayed ? sim::replayed_boundary(range, conditions, from, replay_at, true).boundary
                   : sim::boundary_of(range, conditions, estimate_at);
      if (looser.found && looser.upwards == b.upwards &&
          range.text(looser.number) != range.text(r.edge)) {
        c.looser_values = {range.text(looser.number * b.number / r.edge)};
      }
    }
    a.conditions.push_back(std::move(c));
  }
}

void find_best(const Options& options, const Question& q, SolveAnswer& a) {
  // What no combination can be is said before many are tried.
  std::vector<std::string> first;
  for (const sim::KnobRange& range : q.ranges) {
    first.push_back(range.listed.empty() ? range.text(range.low) : range.listed.front());
  }
  estimate_of(overridden_document(options, q, first));
  const base::Node document = scenario_document(options.scenario, options.set);
  Seen seen(q.conditions);
  const sim::EstimateAll by_sweep = sim::estimates_by_sweep(document, q.ranges);
  sim::ChoiceSearch search(q.ranges, q.objective, [&](const sim::KnobValues& values) {
    std::vector<sim::ServingEstimate> all = by_sweep(values);
    for (const sim::ServingEstimate& e : all) {
      seen.look(e);
    }
    return all;
  });
  const sim::ReplayedChoice r =
      options.no_replay ? sim::ReplayedChoice{search.best(q.conditions), {}, {}, false}
                        : sim::replayed_choice(search, q.conditions, replay_of(options, q));
  seen.refuse_without_value();
  if (!options.no_replay) {
    set_replayed(a, q, r.replayed);
  }
  const sim::Choice& best = r.choice;
  const sim::Metric& metric = *q.objective.metric;
  a.objective = &metric;
  a.found = best.found;
  a.values = best.values;
  a.estimate = best.estimate;
  a.every = best.every;
  a.tried = best.tried;
  a.met = best.met;
  const char* superlative = q.objective.direction == sim::Direction::maximize ? "most" : "least";
  a.sentence =
      fmt::format("the {} {}: {}, of {} combinations, {} of which meet the conditions", superlative,
                  metric.name, best.found ? display(metric.value(a.result()), metric.unit) : "-",
                  best.tried, best.met);
  if (!best.every) {
    a.notes.emplace_back(
        "searched, not proven: ranges were tried in places and refined from the best");
  }
  if (best.unknown > 0) {
    a.notes.push_back(fmt::format("{} of them have no {}: left out", best.unknown, metric.name));
  }
  for (const sim::ReplayedChoice::Broken& broken : r.broken) {
    std::vector<std::string> knobs;
    for (std::size_t i = 0; i < broken.values.size(); ++i) {
      knobs.push_back(fmt::format("{}={}", q.ranges[i].path, broken.values[i]));
    }
    a.broken.push_back({fmt::format("{}", fmt::join(knobs, ", ")), broken.note});
  }
  if (r.gave_up) {
    a.notes.push_back(
        fmt::format("gave up after {} that the simulation contradicts", r.broken.size()));
  }
  for (std::size_t i = 0; i < q.conditions.size(); ++i) {
    SolvedCondition c{q.conditions[i], sim::slack(q.conditions[i], a.result()), {}, std::nan("")};
    if (best.found && !std::isnan(c.slack)) {
      const sim::Choice looser = search.relaxed(q.conditions, i, kLooser);
      const double now = metric.value(best.estimate);
      const double then = looser.found ? metric.value(looser.estimate) : now;
      const double sign = q.objective.direction == sim::Direction::maximize ? 1.0 : -1.0;
      // Less than the search's own unevenness is none.
      if (sign * (then - now) > kLooser * kLooser * std::abs(now)) {
        c.looser_values = looser.values;
        c.looser_metric = then;
      }
    }
    a.conditions.push_back(std::move(c));
  }
}

SolveAnswer answer(const Options& options, const Question& q) {
  SolveAnswer a;
  a.judgement.note = "--no-replay";
  for (const sim::KnobRange& range : q.ranges) {
    a.paths.push_back(range.path);
  }
  q.objective.metric == nullptr ? find_edge(options, q, a) : find_best(options, q, a);
  if (!a.found) {
    a.sentence =
        fmt::format("nothing {} meets the conditions; the nearest",
                    q.objective.metric == nullptr ? "in the range"
                                                  : fmt::format("of {} combinations", a.tried));
    const std::string misses = sim::missed(q.conditions, a.result());
    a.notes.insert(a.notes.begin(),
                   misses.empty() ? "meets them, but not by two standard errors" : misses);
  }
  if (const std::string now = as_it_is(options, q); !now.empty()) {
    a.notes.push_back(now);
  }
  return a;
}

int run_solve(const Options& options) {
  const Question q = question_of(options);
  SolveAnswer a = answer(options, q);
  a.title = title(sim::read_scenario(overridden_document(options, q, a.values)));
  if (options.simulate) {
    fmt::print(stderr, "note: --simulate does nothing: answers are replayed without it\n");
  }
  if (options.format == "json") {
    fmt::print("{}\n", solve_json(a).dump(2));
  } else if (options.format == "csv") {
    write_solve_csv(a, std::cout);
  } else {
    fmt::print("{}", solve_text(a));
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
      "a thousand times up and down. The closed form says where to look. The answer is found on "
      "the simulation, and holds there by two standard errors; what the simulation contradicts "
      "is listed. The answer has the slack of each condition, and what one "
      "more percent of its bound buys. If nothing meets all conditions, the answer is the "
      "nearest point and by how much it misses.");
  auto options = std::make_shared<Options>();
  command->add_option("scenario", options->scenario, "the YAML file of the scenario")
      ->type_name(kFile)
      ->required();
  command->add_option("--vary", options->vary, "a knob and the values that it may have")
      ->type_name(kKnobRange)
      ->take_all()
      ->required();
  command->add_option("--until", options->until, "a condition, such as 'ttft_p95_s <= 0.5'")
      ->type_name(kCondition)
      ->take_all()
      ->required();
  command
      ->add_option("--minimize", options->minimize,
                   "the metric to minimize; default for a list: gpus")
      ->type_name(kMetric);
  command->add_option("--maximize", options->maximize, "the metric to maximize")
      ->type_name(kMetric);
  command
      ->add_option("--set", options->set,
                   "change a knob: its dotted path, =, a value or a factor (x1.5)")
      ->type_name(kKnobValue)
      ->take_all();
  command->add_flag("--no-replay", options->no_replay,
                    "the closed form alone: the answer is estimated only");
  command->add_flag("--simulate", options->simulate, "does nothing: the answer is replayed");
  command->add_option("--format", options->format, "the format of the output")
      ->one_of({"text", "json", "csv"})
      ->capture_default_str()
      ->group("Output");
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
