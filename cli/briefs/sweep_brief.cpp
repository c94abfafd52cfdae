// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/no_number.hpp"
#include "cli/briefs/sweep_changes.hpp"
#include "cli/briefs/sweep_contest.hpp"
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

constexpr std::size_t kGroups = 24;  // that a table or list shows

// Why a group has no best point.
std::string why_none(const SweepContest& c, const SweepGroup& group) {
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
  return static_cast<std::size_t>(std::count_if(
      c.groups.begin(), c.groups.end(), [](const SweepGroup& g) { return g.best != kNoPoint; }));
}

// " (replayed: 312 ms)"
std::string replayed_text(const SweepContest& c, std::size_t point, const sim::Metric& metric) {
  const sim::ResultColumn* of = c.result.find(fmt::format("replayed_{}", metric.name));
  return of == nullptr || of->is_empty(point)
             ? ""
             : fmt::format(" (replayed: {})", display(of->number(point), metric.unit));
}

// How far the first is before the second, and whether replays say so.
std::string lead_text(const SweepContest& c, const SweepGroup& first, const SweepGroup& second,
                      const sim::Gain& lead) {
  const bool replayed = c.is_better(replayed_value(c, first.best), replayed_value(c, second.best));
  const bool reversed = replayed && c.before(second.best, first.best);
  // Told where the estimates of the two are further apart, or nearer, than their replays.
  const double shift = replayed_value(c, first.best) / c.value(first.best) /
                       (replayed_value(c, second.best) / c.value(second.best));
  const std::string_view where = std::abs(shift - 1.0) > 0.02 ? " in the replays" : "";
  return (lead.interval.low > 1.0 ? fmt::format("the first is {} better{}", gain_text(lead), where)
                                  : fmt::format("their ratio is {}{}", gain_text(lead), where)) +
         (reversed ? ", unlike in the estimates" : "");
}

void say_replay(const SweepContest& c, std::size_t point, Brief& brief) {
  const std::string verdict = replay_cell(c, point);
  const std::string note = replay_cell(c, point, "replay_note");
  if (verdict == "confirmed") {
    brief.answer.push_back(fmt::format(
        "{}: {}{}.",
        c.sweep().where.empty() ? "The first was replayed" : "A replay confirms the conditions",
        note, replayed_text(c, point, c.metric)));
  } else if (verdict == "differs") {
    brief.answer.push_back(
        fmt::format("The first differs from its estimate, {}: {}.", c.value_text(point), note));
  } else if (!verdict.empty()) {
    brief.answer.push_back(
        fmt::format("The first is {}{}.", verdict, note.empty() ? "" : ": " + note));
  }
}

void say_answer(const SweepContest& c, Brief& brief) {
  if (with_best(c) == 0) {
    const SweepGroup& nearest = *std::min_element(
        c.groups.begin(), c.groups.end(),
        [](const SweepGroup& a, const SweepGroup& b) { return a.misses < b.misses; });
    const bool misses = !c.result.meets(nearest.any) && std::isfinite(nearest.misses);
    brief.answer.push_back(
        misses ? fmt::format("None of {} points does; the nearest is {}: {} {}.", c.points.size(),
                             point_text(c.points, nearest.any),
                             missed_text(c.sweep().where, c.result, nearest.any),
                             cite(nearest.any + 1))
               : fmt::format("None of {} points does: {}.", c.points.size(), why_none(c, nearest)));
    return;
  }
  const SweepGroup& first = c.groups.front();
  const sim::ServingEstimate e = c.at(first.best);
  const auto [value, interval] = shown_value(c, first.best, e);
  const SweepGroup* second = with_best(c) > 1 ? &c.groups[1] : nullptr;
  const sim::Gain lead = second == nullptr ? sim::Gain{}
                                           : sim::replayed_gain_of(c.metric, c.outcome(first.best),
                                                                   c.outcome(second->best));
  if (second != nullptr && lead.interval.low <= 1.0 && lead.interval.high >= 1.0) {
    brief.answer.push_back(fmt::format("{} and {} have the same {} within the error.", first.name,
                                       second->name, c.metric.label));
  }
  brief.answer.push_back(fmt::format(
      "{} has the {} {}: {}{}{}{} {}.", first.name, c.superlative(), c.metric.label,
      display(value, c.metric.unit),
      std::isnan(interval.low) ? "" : fmt::format(" ({})", interval_text(interval, c.metric.unit)),
      first.place.empty() ? "" : ", with ", first.place, cite(first.best + 1)));
  if (second != nullptr) {
    brief.answer.push_back(fmt::format("{} comes next with {}{} {}; {}.", second->name,
                                       c.value_text(second->best),
                                       replayed_text(c, second->best, c.metric),
                                       cite(second->best + 1), lead_text(c, first, *second, lead)));
    brief.confidence.push_back(
        lead.interval.low > 1.0
            ? fmt::format("All of the 90 % interval of their ratio puts {} before {}.", first.name,
                          second->name)
            : fmt::format("The 90 % interval of their ratio holds 1: the order of {} and {} is not "
                          "certain.",
                          first.name, second->name));
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
    const SweepGroup& group = c.groups[i];
    const sim::ServingEstimate e = c.at(group.best);
    const auto [value, interval] = shown_value(c, group.best, e);
    std::vector<std::string> cells = {
        group.name, display(value, c.metric.unit), interval_text(interval, c.metric.unit),
        i == 0 ? "" : gain_text(sim::replayed_gain_of(c.metric, first, c.outcome(group.best)))};
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
  for (const SweepGroup& group : c.groups) {
    if (group.best == kNoPoint) {
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
    const SweepGroup& group = c.groups[i];
    const sim::ServingEstimate e = c.at(group.best);
    const auto [value, interval] = shown_value(c, group.best, e);
    const std::string verdict = replay_cell(c, group.best);
    const std::string limit = limit_or_throughput(e, c.metric.name);
    parts.push_back(fmt::format(
        "{}: {}{}{}, {} {}", group.name, display(value, c.metric.unit),
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
      say_price(c, {points.document(c.groups[0].best), "--set"}, scenario, brief);
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
