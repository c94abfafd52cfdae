// SPDX-License-Identifier: Apache-2.0
#include "cli/briefs/sweep_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/pages/brief_parts.hpp"
#include "cli/text/cost_text.hpp"
#include "cli/text/roadmap_text.hpp"

namespace roofcast::cli {
namespace {

using base::kInfinity;
constexpr double kTold = 0.1;  // of a bound

// Bounds of a condition, from the tightest on, between which one group leads.
struct Lead {
  std::size_t first;  // its point that leads at the tightest of them
  std::size_t best;   // and at the loosest
};

}  // namespace

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
    const auto group = std::find_if(c.groups.begin(), c.groups.end(), [&](const SweepGroup& g) {
      return c.by.of(g.any) == c.by.of(point);
    });
    return group->name;
  };
  const auto text = [&](std::size_t point) { return display(bounds.number(point), bound->unit); };
  std::vector<Lead> leads;
  std::size_t now = 0;  // leads at the bound as it is
  for (const std::size_t i : able) {
    if (leads.empty() || c.before(i, leads.back().best)) {
      if (leads.empty() || c.by.of(i) != c.by.of(leads.back().best)) {
        leads.push_back({i, i});
      }
      leads.back().best = i;
    }
    now = sim::holds(condition, c.result, i) ? leads.size() - 1 : now;
  }
  const auto is_another = [&](std::size_t at) {
    const double from = bounds.number(leads[at].first);
    const double to = at + 1 < leads.size() ? bounds.number(leads[at + 1].first) : kInfinity;
    return c.by.of(leads[at].first) != winner && std::abs(to - from) > kTold * std::abs(from);
  };
  for (std::size_t at = now + 1; at < leads.size(); ++at) {
    if (is_another(at)) {
      const std::string until =
          at + 1 < leads.size() ? fmt::format(", but not {}", text(leads[at + 1].first)) : "";
      brief.changes.push_back(fmt::format("{} would come first if {} were allowed to be {}{} {}.",
                                          name(leads[at].first), bound->label,
                                          text(leads[at].first), until, cite(leads[at].first + 1)));
      break;
    }
  }
  for (std::size_t at = std::min(now, leads.size()); at-- > 0;) {
    if (is_another(at)) {
      brief.changes.push_back(
          fmt::format("{} would come first if {} had to be {} {}, and could be {} {}.",
                      name(leads[at].best), bound->label, up ? "below" : "above",
                      text(leads[at + 1].first), text(leads[at].first), cite(leads[at].best + 1)));
      break;
    }
  }
}

void say_price(const SweepContest& c, const sim::OverriddenScenario& first,
               const sim::OverriddenScenario& second, Brief& brief) {
  const bool owned = second.scenario().prices.pay == hardware::Pay::ownership;
  const std::string path = owned ? "system.purchase.price" : "system.price.per_gpu_hour";
  const base::Node* price = second.document().find_path(path);
  if (price == nullptr) {
    return;
  }
  const auto slope = [&](const sim::OverriddenScenario& of) {
    return (c.metric.value(of.estimate({}).estimate) -
            c.metric.value(of.estimate({path + "=x0.5"}).estimate)) /
           0.5;
  };
  const bool both =
      first.scenario().platform.system.name == second.scenario().platform.system.name &&
      first.scenario().prices.pay == second.scenario().prices.pay;
  const double lead = c.value(c.groups[1].best) - c.value(c.groups[0].best);
  const double closer = slope(second) - (both ? slope(first) : 0.0);
  const double factor = 1.0 - lead / closer;
  // Of two slopes that are equal but for rounding there is no such price, nor where replays alone put the first before it.
  if (lead >= 0.0 && std::isfinite(factor) && factor > 0.0 &&
      std::abs(closer) > 1e-6 * std::abs(slope(second))) {
    brief.changes.push_back(
        fmt::format("{} would cost as little as {} if {} were x{:.3g}{}: {} in place of {}.",
                    c.groups[1].name, c.groups[0].name, path, factor, both ? " for both" : "",
                    scaled_text(price->text, factor), price->text));
  }
}

void say_objectives(const SweepContest& c, Brief& brief) {
  std::vector<std::string> names = c.sweep().pareto.maximize;
  names.insert(names.end(), c.sweep().pareto.minimize.begin(), c.sweep().pareto.minimize.end());
  for (const std::string& name : names) {
    const sim::Metric& metric = *sim::find_metric(name);
    if (&metric == &c.metric) {
      continue;
    }
    const SweepContest other = contest_of(c.points, c.result, metric);
    const SweepGroup& first = other.groups.front();
    const auto own =
        std::find_if(other.groups.begin(), other.groups.end(),
                     [&](const SweepGroup& g) { return g.name == c.groups.front().name; });
    const bool ties = own->best != kNoPoint && first.best != kNoPoint &&
                      other.value_text(own->best) == other.value_text(first.best);
    if (first.best != kNoPoint && !ties && own != other.groups.begin()) {
      brief.changes.push_back(fmt::format("By the {} {} {} comes first: {} {}.",
                                          other.superlative(), metric.label, first.name,
                                          other.value_text(first.best), cite(first.best + 1)));
    }
  }
}

}  // namespace roofcast::cli
