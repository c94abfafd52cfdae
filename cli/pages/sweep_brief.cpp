// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/no_number.hpp"
#include "cli/pages/brief.hpp"
#include "cli/pages/brief_parts.hpp"
#include "cli/tables/result_csv.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/missed_text.hpp"
#include "cli/text/roadmap_text.hpp"
#include "cli/text/scenario_text.hpp"
#include "sim/decide/overridden_scenario.hpp"
#include "sim/estimate.hpp"
#include "sim/recommend/scan.hpp"
#include "sim/result/causes.hpp"
#include "sim/result/costs.hpp"
#include "sim/roadmap/roadmap_result.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
using base::kInfinity;
constexpr std::size_t kGroups = 24;  // that a table or list shows

struct Group {
  std::string name;           // "hgx_h100, rented"
  std::size_t best = kNone;   // point
  std::size_t any = kNone;    // one of its points: the nearest to the conditions
  double misses = kInfinity;  // sim::shortfall of that
  std::string place;          // of the best, or of that, on the other axes
};

struct SweepContest {
  const sim::SweepPoints& points;
  const sim::ResultTable& result;
  const sim::Metric& metric;
  const sim::ResultColumn& values;  // of the metric
  const sim::PointGroups by;
  std::vector<Group> groups;  // the best first, then those that have none

  const sim::Sweep& sweep() const { return points.sweep(); }
  double value(std::size_t point) const { return values.number(point); }
  bool before(std::size_t a, std::size_t b) const {
    return metric.better == sim::Better::lower ? value(a) < value(b) : value(a) > value(b);
  }
  const char* superlative() const {
    return metric.better == sim::Better::lower ? "lowest" : "highest";
  }
  std::string value_text(std::size_t point) const { return display(value(point), metric.unit); }
  // The whole estimate of a point that the page cites.
  sim::ServingEstimate at(std::size_t point) const {
    sim::Workspace workspace;
    sim::ServingEstimate e = sim::estimate(points.scenario(point), workspace);
    sim::tell_causes(points.scenario(point), e);
    return e;
  }
  sim::Outcome outcome(std::size_t point) const {
    sim::Workspace workspace;
    return sim::outcome_of(points.scenario(point), at(point), workspace);
  }
};

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

bool is_of_groups(const sim::Sweep& sweep, std::size_t axis) {
  const auto own = sweep.group_axes();
  return std::find(own.begin(), own.end(), axis) != own.end();
}

Group described(const sim::SweepPoints& points, Group group) {
  for (const std::size_t axis : points.sweep().group_axes()) {
    group.name +=
        fmt::format("{}{}", group.name.empty() ? "" : ", ", points.label(group.any, axis));
  }
  const std::size_t point = group.best == kNone ? group.any : group.best;
  for (std::size_t axis = 0; axis < points.sweep().axes.size(); ++axis) {
    if (!is_of_groups(points.sweep(), axis)) {
      group.place +=
          fmt::format("{}{} {}", group.place.empty() ? "" : ", ",
                      last_part(points.sweep().axes[axis].name), points.label(point, axis));
    }
  }
  return group;
}

SweepContest contest_of(const sim::SweepPoints& points, const sim::ResultTable& result,
                        const sim::Metric& metric) {
  SweepContest c{points, result, metric, result.column(metric.name), sim::PointGroups(points), {}};
  c.groups.resize(c.by.count());
  const auto& where = points.sweep().where;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Group& group = c.groups[c.by.of(i)];
    const bool meets = result.meets(i);
    // A broken replay comes after a row that meets.
    const double misses = meets                ? 0.0
                          : group.misses > 0.0 ? std::max(1e-9, sim::shortfall(where, result, i))
                                               : kInfinity;
    if (group.any == kNone || misses < group.misses) {
      group.any = i;
      group.misses = misses;
    }
    if (meets && std::isfinite(c.value(i)) && (group.best == kNone || c.before(i, group.best))) {
      group.best = i;
    }
  }
  for (Group& group : c.groups) {
    group = described(points, std::move(group));
  }
  std::stable_sort(c.groups.begin(), c.groups.end(), [&](const Group& a, const Group& b) {
    return a.best != kNone && (b.best == kNone || c.before(a.best, b.best));
  });
  return c;
}

// Why a group has no best point.
std::string why_none(const SweepContest& c, const Group& group) {
  if (!c.result.meets(group.any)) {
    const std::string missed = missed_text(c.sweep().where, c.result, group.any);
    return std::isinf(group.misses) || group.place.empty()
               ? missed
               : fmt::format("the nearest, {}, {}", group.place, missed);
  }
  const std::string price = sim::missing_price(c.points.scenario(group.any), c.at(group.any));
  return price.empty() ? fmt::format("has no {}", c.metric.label)
                       : fmt::format("{} is not known", price);
}

std::vector<const sim::Metric*> bounded(const SweepContest& c) {
  std::vector<const sim::Metric*> all;
  for (const sim::Condition& condition : c.sweep().where) {
    const sim::Metric* metric = sim::find_metric(condition.metric);
    if (metric != nullptr && metric != &c.metric &&
        std::find(all.begin(), all.end(), metric) == all.end()) {
      all.push_back(metric);
    }
  }
  return all;
}

std::size_t with_best(const SweepContest& c) {
  return static_cast<std::size_t>(std::count_if(c.groups.begin(), c.groups.end(),
                                                [](const Group& g) { return g.best != kNone; }));
}

// "" if the result has no replays (sim/confirm/replayed_rows.hpp).
std::string replay_cell(const SweepContest& c, std::size_t point,
                        std::string_view column = "replay") {
  const sim::ResultColumn* of = c.result.find(column);
  return of == nullptr ? "" : of->cell(point);
}

// " (replayed: 312 ms)"
std::string replayed_text(const SweepContest& c, std::size_t point, const sim::Metric& metric) {
  const sim::ResultColumn* of = c.result.find(fmt::format("replayed_{}", metric.name));
  return of == nullptr || of->is_empty(point)
             ? ""
             : fmt::format(" (replayed: {})", display(of->number(point), metric.unit));
}

// Whether the replay puts the second before the first.
bool is_turned_round(const SweepContest& c, std::size_t first, std::size_t second) {
  const sim::ResultColumn* of = c.result.find(fmt::format("replayed_{}", c.metric.name));
  if (of == nullptr || of->is_empty(first) || of->is_empty(second)) {
    return false;
  }
  return c.metric.better == sim::Better::lower ? of->number(second) < of->number(first)
                                               : of->number(second) > of->number(first);
}

void say_replay(const SweepContest& c, std::size_t point, Brief& brief) {
  const std::string verdict = replay_cell(c, point);
  const std::string note = replay_cell(c, point, "replay_note");
  if (verdict == "confirmed") {
    brief.answer.push_back(fmt::format(
        "{}: {}{}.",
        c.sweep().where.empty() ? "The first was replayed" : "A replay confirms the conditions",
        note, replayed_text(c, point, c.metric)));
  } else if (!verdict.empty()) {
    brief.answer.push_back(
        fmt::format("The first is {}{}.", verdict, note.empty() ? "" : ": " + note));
  }
}

void say_answer(const SweepContest& c, Brief& brief) {
  if (with_best(c) == 0) {
    const Group& nearest =
        *std::min_element(c.groups.begin(), c.groups.end(),
                          [](const Group& a, const Group& b) { return a.misses < b.misses; });
    const bool misses = !c.result.meets(nearest.any) && std::isfinite(nearest.misses);
    brief.answer.push_back(
        misses ? fmt::format("None of {} points does; the nearest is {}: {} {}.", c.points.size(),
                             point_text(c.points, nearest.any),
                             missed_text(c.sweep().where, c.result, nearest.any),
                             cite(nearest.any + 1))
               : fmt::format("None of {} points does: {}.", c.points.size(), why_none(c, nearest)));
    return;
  }
  const Group& first = c.groups.front();
  const sim::ServingEstimate e = c.at(first.best);
  const sim::Interval90 interval = sim::interval90(c.metric, e);
  brief.answer.push_back(fmt::format(
      "{} has the {} {}: {}{}{}{} {}.", first.name, c.superlative(), c.metric.label,
      c.value_text(first.best),
      std::isnan(interval.low) ? "" : fmt::format(" ({})", interval_text(interval, c.metric.unit)),
      first.place.empty() ? "" : ", with ", first.place, cite(first.best + 1)));
  if (with_best(c) > 1) {
    const Group& second = c.groups[1];
    const sim::Gain lead = sim::gain_of(c.metric, c.outcome(first.best), c.outcome(second.best));
    brief.answer.push_back(fmt::format(
        "{} comes next with {}{} {}; the first is {} better.{}", second.name,
        c.value_text(second.best), replayed_text(c, second.best, c.metric), cite(second.best + 1),
        gain_text(lead),
        is_turned_round(c, first.best, second.best) ? " In the replays it is the other way round."
                                                    : ""));
    brief.confidence.push_back(
        lead.interval.low > 1.0
            ? fmt::format("All of the 90 % interval of their ratio puts {} before {}.", first.name,
                          second.name)
            : fmt::format("The 90 % interval of their ratio holds 1: the order of {} and {} is not "
                          "certain.",
                          first.name, second.name));
  }
  const std::string limit = limit_or_throughput(e, c.metric.name);
  std::string rest = limit.empty() ? "" : "The first is limited by " + limit;
  for (const sim::Metric* metric : bounded(c)) {
    rest +=
        fmt::format("{} {} is {}{}", rest.empty() ? "The first's" : "; its", metric->label,
                    display(metric->value(e), metric->unit), replayed_text(c, first.best, *metric));
  }
  if (!rest.empty()) {
    brief.answer.push_back(rest + ".");
  }
  say_replay(c, first.best, brief);
}

void say_evidence(const SweepContest& c, Brief& brief) {
  std::vector<std::string> header;
  for (const std::size_t axis : c.sweep().group_axes()) {
    header.push_back(last_part(c.sweep().axes[axis].name));
  }
  const std::string of = fmt::format("{}", fmt::join(header, ", "));
  header = {of, std::string(c.metric.label), "90 %", "the first is better by"};
  for (const sim::Metric* metric : bounded(c)) {
    header.emplace_back(metric->label);
  }
  header.insert(header.end(), {"with", "limited by"});
  const bool replayed = !replay_cell(c, c.groups.front().best).empty();
  if (replayed) {
    header.emplace_back("replay");
  }
  header.emplace_back("row");
  TextTable table(header);
  const sim::Outcome first = c.outcome(c.groups.front().best);
  for (std::size_t i = 0; i < std::min(with_best(c), kGroups); ++i) {
    const Group& group = c.groups[i];
    const sim::ServingEstimate e = c.at(group.best);
    std::vector<std::string> cells = {
        group.name, c.value_text(group.best),
        interval_text(sim::interval90(c.metric, e), c.metric.unit),
        i == 0 ? "" : gain_text(sim::gain_of(c.metric, first, c.outcome(group.best)))};
    for (const sim::Metric* metric : bounded(c)) {
      cells.push_back(display(metric->value(e), metric->unit));
    }
    cells.insert(cells.end(), {group.place, limit_or_throughput(e, c.metric.name)});
    if (replayed) {
      cells.push_back(replay_cell(c, group.best));
    }
    cells.push_back(cite(group.best + 1));
    table.add(std::move(cells));
  }
  brief.evidence.push_back(
      {fmt::format("{} {} of each {}", c.superlative(), c.metric.label, of), std::move(table)});
  for (const Group& group : c.groups) {
    if (group.best == kNone) {
      brief.confidence.push_back(fmt::format("{} is left out: {} {}.", group.name,
                                             why_none(c, group), cite(group.any + 1)));
    }
  }
  if (with_best(c) > kGroups) {
    brief.confidence.push_back(
        fmt::format("{} of {} groups are shown, the best.", kGroups, with_best(c)));
  }
}

// Without the unit at its end, which stands before it.
std::string plain_interval(const sim::Interval90& interval, std::string_view unit) {
  std::string text = interval_text(interval, unit);
  const std::string end = fmt::format(" {}", unit);
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

// "hgx_b200, owned: 1.3 USD/Mtok output (1.01 to 1.85), latency, confirmed [225]" of each group, the best first.
std::vector<std::string> each_best(const SweepContest& c) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(with_best(c), kGroups); ++i) {
    const Group& group = c.groups[i];
    const sim::ServingEstimate e = c.at(group.best);
    const sim::Interval90 interval = sim::interval90(c.metric, e);
    const std::string verdict = replay_cell(c, group.best);
    const std::string limit = limit_or_throughput(e, c.metric.name);
    parts.push_back(fmt::format(
        "{}: {}{}{}, {} {}", group.name, c.value_text(group.best),
        std::isnan(interval.low) ? ""
                                 : fmt::format(" ({})", plain_interval(interval, c.metric.unit)),
        limit.empty() ? "" : ", " + limit,
        verdict.empty() || verdict == "estimated only" ? "estimated only" : verdict,
        cite(group.best + 1)));
  }
  if (const std::size_t more = with_best(c) - parts.size(); more > 0) {
    parts.push_back(fmt::format("and {} more", more));
  }
  return parts;
}

// At which bound of a condition the first is another: the nearest on either side. Points that meet all other
// conditions come in one by one as the bound is loosened; what leads after each is known from the rows.
void say_bound(const SweepContest& c, const sim::Condition& condition, Brief& brief) {
  const sim::Metric* bound = sim::find_metric(condition.metric);
  if (bound == nullptr || condition.relation == sim::Condition::Relation::equal) {
    return;
  }
  const bool up = condition.relation == sim::Condition::Relation::less ||
                  condition.relation == sim::Condition::Relation::less_equal;
  const sim::ResultColumn& bounds = c.result.column(bound->name);
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    const auto others = [&](const sim::Condition& other) {
      return &other == &condition || sim::holds(other, c.result, i);
    };
    const auto& where = c.sweep().where;
    if (std::isfinite(c.value(i)) && std::isfinite(bounds.number(i)) &&
        replay_cell(c, i) != "broken" && std::all_of(where.begin(), where.end(), others)) {
      able.push_back(i);
    }
  }
  const auto tightness = [&](std::size_t i) { return (up ? 1.0 : -1.0) * bounds.number(i); };
  std::sort(able.begin(), able.end(),
            [&](std::size_t a, std::size_t b) { return tightness(a) < tightness(b); });
  const std::size_t winner = c.by.of(c.groups.front().best);
  const auto name = [&](std::size_t point) {
    const auto group = std::find_if(c.groups.begin(), c.groups.end(), [&](const Group& g) {
      return c.by.of(g.any) == c.by.of(point);
    });
    return group->name;
  };
  std::size_t leader = kNone;
  std::size_t tighter = kNone;  // leads where the bound no longer lets `since` in
  std::size_t since = kNone;
  for (const std::size_t i : able) {
    const bool inside = sim::holds(condition, c.result, i);
    const std::size_t next = leader == kNone || c.before(i, leader) ? i : leader;
    const bool changes = leader != kNone && c.by.of(next) != c.by.of(leader);
    if (inside && changes && c.by.of(next) == winner) {
      tighter = leader;
      since = i;
    }
    if (!inside && changes) {
      brief.changes.push_back(fmt::format("{} would come first if {} were allowed to be {} {}.",
                                          name(i), bound->label,
                                          display(bounds.number(i), bound->unit), cite(i + 1)));
      break;
    }
    leader = next;
  }
  if (since != kNone) {
    brief.changes.push_back(fmt::format(
        "{} would come first if {} had to be {} {} {}.", name(tighter), bound->label,
        up ? "below" : "above", display(bounds.number(since), bound->unit), cite(tighter + 1)));
  }
}

// The price at which the second costs what the first does, at its own point. Costs are linear in it.
void say_price(const SweepContest& c, const sim::OverriddenScenario& second, Brief& brief) {
  const bool owned = second.scenario().prices.pay == hardware::Pay::ownership;
  const std::string path = owned ? "system.purchase.price" : "system.price.per_gpu_hour";
  const base::Node* price = second.document().find_path(path);
  if (price == nullptr) {
    return;
  }
  const double now = c.metric.value(second.estimate({}).estimate);
  const double slope = (now - c.metric.value(second.estimate({path + "=x0.5"}).estimate)) / 0.5;
  const double factor = 1.0 + (c.value(c.groups.front().best) - now) / slope;
  if (std::isfinite(factor) && factor > 0.0) {
    brief.changes.push_back(fmt::format(
        "{} would cost as little as {} if {} were x{:.3g}: {} in place of {}.", c.groups[1].name,
        c.groups[0].name, path, factor, scaled_text(price->text, factor), price->text));
  } else {
    brief.changes.push_back(fmt::format("No {} makes {} cost as little as {}.", path,
                                        c.groups[1].name, c.groups[0].name));
  }
}

// What comes first by the sweep's other objectives.
void say_objectives(const SweepContest& c, Brief& brief) {
  std::vector<std::string> names = c.sweep().pareto.maximize;
  names.insert(names.end(), c.sweep().pareto.minimize.begin(), c.sweep().pareto.minimize.end());
  for (const std::string& name : names) {
    const sim::Metric& metric = *sim::find_metric(name);
    if (&metric == &c.metric) {
      continue;
    }
    const SweepContest other = contest_of(c.points, c.result, metric);
    const Group& first = other.groups.front();
    if (first.best != kNone && first.name != c.groups.front().name) {
      brief.changes.push_back(fmt::format("By the {} {} {} comes first: {} {}.",
                                          other.superlative(), metric.label, first.name,
                                          other.value_text(first.best), cite(first.best + 1)));
    }
  }
}

}  // namespace

Brief brief_of(const sim::SweepPoints& points, const sim::ResultTable& result,
               const sim::Metric& metric) {
  const SweepContest c = contest_of(points, result, metric);
  const sim::Sweep& sweep = points.sweep();
  Brief brief;
  brief.question = sweep.question.empty()
                       ? fmt::format("Which has the {} {}?", c.superlative(), metric.label)
                       : sweep.question;
  std::vector<std::string> conditions;
  for (const sim::Condition& condition : sweep.where) {
    conditions.push_back(condition.text);
  }
  const std::size_t able = with_best(c);
  say_answer(c, brief);
  if (able == 0) {
    return brief;
  }
  say_evidence(c, brief);
  std::set<std::string> prices;
  std::set<std::string> parameters;
  const bool costs = metric.unit.find("USD") != std::string_view::npos;
  for (std::size_t i = 0; i < std::min(able, kGroups); ++i) {
    const sim::OverriddenScenario scenario(points.document(c.groups[i].best), "--set");
    if (i == 0) {
      brief.assumptions.push_back(fmt::format("The first is {}, {}.", title(scenario.scenario()),
                                              load_text(scenario.scenario())));
      brief.assumptions.push_back(
          fmt::format("{} of {} points count{}{}.", result.meeting(), points.size(),
                      conditions.empty() ? "" : ", those with ", fmt::join(conditions, " and ")));
    }
    if (i == 1 && costs) {
      say_price(c, scenario, brief);
    }
    for (std::string& line : price_lines(scenario.document(), scenario.scenario(), costs)) {
      if (prices.insert(line).second) {
        brief.assumptions.push_back(std::move(line));
      }
    }
    parameters.insert(parameters_text(scenario.scenario().platform.system.calibration.name,
                                      c.at(c.groups[i].best).provenance));
  }
  for (const sim::Condition& condition : sweep.where) {
    say_bound(c, condition, brief);
  }
  say_objectives(c, brief);
  if (brief.changes.empty()) {
    brief.changes.push_back("No bound of a condition and no other objective puts another first.");
  }
  brief.confidence.push_back(fmt::format("Parameters: {}.", fmt::join(parameters, ", ")));
  brief.confidence.emplace_back(kIntervals);
  return brief;
}

Answer answer_of(const sim::SweepPoints& points, const sim::ResultTable& result,
                 const sim::Metric& metric) {
  const SweepContest c = contest_of(points, result, metric);
  Brief brief;
  say_answer(c, brief);
  return {brief.answer, with_best(c) > 1 ? each_best(c) : std::vector<std::string>{}, {}};
}

}  // namespace roofcast::cli
