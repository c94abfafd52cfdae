// SPDX-License-Identifier: Apache-2.0
#include "cli/answers/solved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/document/renamed.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/confirm/replayed_answer.hpp"
#include "sim/estimate.hpp"
#include "sim/result/metrics.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/sections.hpp"
#include "sim/scenario/usual_sections.hpp"

namespace roofcast::cli {
namespace {

constexpr double kLooser = 0.01;

// The scenario with what is set, and knobs of `vary` too.
base::Node overridden(const SolveQuestion& question, const std::vector<std::string>& varied) {
  base::Node document = question.scenario;
  sim::fill_usual_sections(document);
  std::vector<std::string> set = question.set;
  set.insert(set.end(), varied.begin(), varied.end());
  base::Problems problems;
  set_knobs(document, set, problems);
  problems.throw_if_any();
  return document;
}

struct ReadQuestion {
  std::vector<sim::KnobRange> ranges;
  std::vector<sim::Condition> conditions;
  sim::Objective objective;      // without a metric: where one knob's edge is
  std::vector<std::string> now;  // the knobs as they are written; empty where nothing is
};

ReadQuestion read_question(const SolveQuestion& question) {
  base::Problems problems;
  base::Node document = overridden(question, {});
  sim::load_references(document, problems);
  problems.throw_if_any();
  ReadQuestion q;
  if (question.vary.empty()) {
    problems.add_text("error: --vary: name a knob to vary\n");
  }
  for (const std::string& text : question.vary) {
    q.ranges.push_back(sim::parse_knob_range({"--vary", text, {}}, document, problems));
    const std::string& path = q.ranges.back().path;
    if (std::any_of(q.ranges.begin(), q.ranges.end() - 1,
                    [&](const sim::KnobRange& other) { return other.path == path; })) {
      problems.add_text(fmt::format("error: --vary names {} twice\n", path));
    }
    const base::Node* now = document.find_path(path);
    q.now.push_back(now == nullptr ? std::string() : now->is_scalar() ? now->text : now->reference);
  }
  for (const std::string& text : question.until) {
    const auto source = std::make_shared<const base::Source>(base::Source{"--until", text, {}});
    if (const auto condition = sim::parse_condition(text, {source, {}}, problems, "")) {
      q.conditions.push_back(*condition);
    }
  }
  const bool maximizes = !question.maximize.empty();
  std::string metric = maximizes ? question.maximize : question.minimize;
  if (!question.minimize.empty() && maximizes) {
    problems.add_text("error: --minimize or --maximize, not both; bound the other with --until\n");
  }
  metric = base::noted_name({}, metric);
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

base::Node overridden_document(const SolveQuestion& question, const ReadQuestion& q,
                               const std::vector<std::string>& values) {
  std::vector<std::string> varied;
  for (std::size_t i = 0; i < values.size(); ++i) {
    varied.push_back(fmt::format("{}={}", q.ranges[i].path, values[i]));
  }
  return overridden(question, varied);
}

sim::ServingEstimate estimate_of(const base::Node& document) {
  sim::Workspace workspace;
  const sim::Scenario s = sim::read_scenario(document);
  return sim::estimate(sim::view(s), workspace);
}

void count(const SolveQuestion& question, std::size_t done) {
  if (question.done != nullptr) {
    *question.done += done;
  }
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

sim::ReplayAt replay_of(const SolveQuestion& question, const ReadQuestion& q) {
  sim::ReplayPlan plan;
  plan.targets = sim::simulated_metrics(q.conditions);
  return [&question, &q, plan](const std::vector<std::string>& values, std::int64_t seed) {
    const sim::StreamedScenario s =
        sim::read_streamed_scenario(overridden_document(question, q, values));
    const sim::ScenarioView view = sim::view(s.scenario);
    sim::ReplayPlan with_seed = plan;
    with_seed.seed = seed;
    sim::ReplaySpace space;
    sim::Replayed r =
        sim::replay(view, s.stream, sim::estimate(view, space.workspace), with_seed, space);
    count(question, 1);
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
void set_replayed(SolveAnswer& a, const ReadQuestion& q, const sim::Replayed& replayed) {
  a.judgement = sim::judge(q.conditions, replayed);
  if (replayed.done()) {
    a.replayed = replayed.estimate;
  }
}

// The scenario before anything is varied, in a few words.
std::string as_it_is(const SolveQuestion& question, const ReadQuestion& q) {
  sim::ServingEstimate e;
  try {
    e = estimate_of(overridden(question, {}));
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
                                 !misses.empty()      ? misses
                                 : question.no_replay ? "meets the conditions"
                                                      : "meets the conditions by its estimate");
  if (q.objective.metric != nullptr && e.fits()) {
    text += fmt::format(", {} {}", q.objective.metric->name,
                        display(q.objective.metric->value(e), q.objective.metric->unit));
  }
  return text;
}

// Replays the edge, and moves it to where the simulation has it. False if nothing was replayed.
bool replay_edge(const sim::KnobRange& range, const ReadQuestion& q, const sim::ReplayAt& replay_at,
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
    a.notes.push_back(fmt::format("the estimate says {}", closed_form.value));
  }
  return true;
}

void find_edge(const SolveQuestion& question, const ReadQuestion& q, SolveAnswer& a) {
  const sim::KnobRange& range = q.ranges.front();
  Seen seen(q.conditions);
  const auto estimate_at = [&](const std::string& value) {
    sim::ServingEstimate e = estimate_of(overridden_document(question, q, {value}));
    seen.look(e);
    count(question, 1);
    return e;
  };
  const sim::Boundary closed_form = sim::boundary_of(range, q.conditions, estimate_at);
  seen.refuse_without_value();
  const sim::ReplayAt replay_at = replay_of(question, q);
  sim::ReplayedBoundary r{closed_form, {}, {}, closed_form.number, 0};
  const bool replayed = !question.no_replay && replay_edge(range, q, replay_at, closed_form, r, a);
  const sim::Boundary& b = r.boundary;
  a.found = b.found;
  a.values = {b.value};
  a.every = closed_form.every;
  a.tried = closed_form.looks;
  a.estimate = estimate_at(b.value);
  if (b.everywhere) {
    a.sentence = fmt::format("every {} from {} to {} meets the conditions", range.path,
                             range.text(range.low), range.text(range.high));
    a.notes.push_back(fmt::format("{} is the {} of the range; the limit, if there is one, lies {}",
                                  b.value, b.upwards ? "least" : "most",
                                  b.upwards ? "below it" : "above it"));
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

void find_best(const SolveQuestion& question, const ReadQuestion& q, SolveAnswer& a) {
  // What no combination can be is said before many are tried.
  std::vector<std::string> first;
  for (const sim::KnobRange& range : q.ranges) {
    first.push_back(range.listed.empty() ? range.text(range.low) : range.listed.front());
  }
  estimate_of(overridden_document(question, q, first));
  const base::Node document = overridden(question, {});
  Seen seen(q.conditions);
  const sim::EstimateAll by_sweep = sim::estimates_by_sweep(document, q.ranges);
  sim::ChoiceSearch search(q.ranges, q.objective, [&](const sim::KnobValues& values) {
    std::vector<sim::ServingEstimate> all = by_sweep(values);
    count(question, all.size());
    for (const sim::ServingEstimate& e : all) {
      seen.look(e);
    }
    return all;
  });
  const sim::ReplayedChoice r =
      question.no_replay ? sim::ReplayedChoice{search.best(q.conditions), {}, {}, false}
                         : sim::replayed_choice(search, q.conditions, replay_of(question, q));
  seen.refuse_without_value();
  if (!question.no_replay) {
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

SolveAnswer answer(const SolveQuestion& question, const ReadQuestion& q) {
  SolveAnswer a;
  a.judgement.note = "--no-replay";
  for (const sim::KnobRange& range : q.ranges) {
    a.paths.push_back(range.path);
  }
  q.objective.metric == nullptr ? find_edge(question, q, a) : find_best(question, q, a);
  if (!a.found) {
    a.sentence = fmt::format(
        "{} meets the conditions; the nearest",
        q.objective.metric != nullptr ? fmt::format("nothing of {} combinations", a.tried)
        : a.every                     ? "nothing in the range"
                  : fmt::format("none of {} places that were looked at", a.tried));
    const std::string misses = sim::missed(q.conditions, a.result());
    a.notes.insert(a.notes.begin(),
                   misses.empty() ? "meets them, but not by two standard errors" : misses);
  }
  if (const std::string now = as_it_is(question, q); !now.empty()) {
    a.notes.push_back(now);
  }
  return a;
}

}  // namespace

SolveAnswer solve(const SolveQuestion& question) {
  const ReadQuestion q = read_question(question);
  SolveAnswer a = answer(question, q);
  const base::Node document = overridden_document(question, q, a.values);
  const sim::Scenario scenario = sim::read_scenario(document);
  sim::tell_causes(sim::view(scenario), a.estimate);
  a.title = title(scenario);
  a.price = price_text(document);
  add_parents(sim::view(scenario), a.parents);
  return a;
}

}  // namespace roofcast::cli
