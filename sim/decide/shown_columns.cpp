// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/shown_columns.hpp"

#include <algorithm>

#include "sim/decide/result_table.hpp"

namespace roofcast::sim {
namespace {

using base::Node;

// Whether a document may say something at a path below it. A text is a reference, and what is derived of one may have
// more than is written.
bool may_say(const Node& node, std::string_view path) {
  if (node.is_null()) {
    return false;
  }
  if (path.empty() || !node.is_map()) {
    return true;
  }
  const std::size_t dot = std::min(path.find('.'), path.size());
  const Node* below = node.find(path.substr(0, dot));
  return below == nullptr ? node.find("base") != nullptr
                          : may_say(*below, path.substr(std::min(dot + 1, path.size())));
}

bool is_below(std::string_view path, std::string_view above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '.';
}

bool may_say(const Assignment& set, std::string_view path) {
  if (set.path == path || is_below(set.path, path)) {
    return !set.value.is_null();
  }
  return is_below(path, set.path) && may_say(set.value, path.substr(set.path.size() + 1));
}

template <class Holds>
bool some_assignment(const Sweep& sweep, const Holds& holds) {
  return std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& value) {
      return std::any_of(value.set.begin(), value.set.end(), holds);
    });
  });
}

// Whether the sweep itself gives a power limit.
bool limits_power(const Sweep& sweep) {
  constexpr std::string_view kLimits = "system.chip.power";
  return sweep.base.find_path("system.chip.power.cap") != nullptr ||
         some_assignment(sweep, [&](const Assignment& set) {
           return set.path == kLimits || is_below(set.path, kLimits);
         });
}

// Whether every point has the section.
bool always_has(const Sweep& sweep, std::string_view section) {
  const Node* node = sweep.base.find(section);
  return node != nullptr && !node->is_null() &&
         !some_assignment(sweep, [&](const Assignment& set) { return set.path == section; });
}
bool always_trains(const Sweep& sweep) { return always_has(sweep, "training"); }

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Of conditions and objectives.
bool is_asked_for(const Sweep& sweep, std::string_view name) {
  return names(sweep.pareto.maximize, name) || names(sweep.pareto.minimize, name) ||
         std::any_of(sweep.where.begin(), sweep.where.end(),
                     [&](const Condition& condition) { return condition.metric == name; });
}

bool has(const Sweep& sweep, Scope scope) {
  const bool trains = always_trains(sweep);
  return scope == Scope::serving ? !trains
         : scope == Scope::step ? may_say(sweep, "training") && !(trains && always_has(sweep, "rl"))
         : scope == Scope::engines           ? !trains || may_say(sweep, "rl")
         : scope == Scope::not_post_training ? !(trains && always_has(sweep, "rl"))
                                             : true;
}

}  // namespace

bool may_say(const Sweep& sweep, std::string_view path) {
  return may_say(sweep.base, path) ||
         some_assignment(sweep, [&](const Assignment& set) { return may_say(set, path); });
}

bool applies(const Metric& metric, const Sweep& sweep) {
  const auto says = [&](std::string_view path) { return may_say(sweep, path); };
  const Metric& bounded = metric.bounds.empty() ? metric : *find_metric(metric.bounds);
  return has(sweep, metric.scope) && has(sweep, bounded.scope) &&
         (metric.needs[0].empty() ||
          std::any_of(metric.needs.begin(), metric.needs.end(),
                      [&](std::string_view path) { return !path.empty() && says(path); })) &&
         (!metric.of_run || says("run")) && (!metric.of_training || says("training")) &&
         (!metric.of_answers || says("accuracy")) &&
         (!metric.of_agents || says("traffic.agents")) &&
         (!metric.of_objectives || says("traffic.objectives") || says("traffic.classes")) &&
         (!metric.of_arrivals || says("traffic.arrivals") || says("traffic.trace") ||
          says("traffic.agents")) &&
         (!metric.of_causes || explains_rows(sweep)) && (!metric.of_clocks || limits_power(sweep));
}

bool explains_rows(const Sweep& sweep) {
  const auto names_one = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& each) {
      return each.of_causes && (is_asked_for(sweep, each.name) || names(sweep.columns, each.name));
    });
  };
  return names(sweep.columns, "all") || names_one(metrics()) || names_one(text_metrics()) ||
         (sweep.columns.empty() && sweep.points() <= kMostExplained);
}

std::vector<std::string> shown_columns(const Sweep& sweep,
                                       const std::vector<std::string>& columns) {
  const bool all = names(sweep.columns, "all");
  std::vector<std::string> written;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(written),
               [&](const auto& column) {
                 const Metric* metric = find_metric(column);
                 const TextMetric* text = find_text(column);
                 const Metric* replayed = replayed_metric(column);
                 if (all || (metric == nullptr && text == nullptr && replayed == nullptr)) {
                   return true;
                 }
                 if (replayed != nullptr) {
                   return is_asked_for(sweep, replayed->name) || applies(*replayed, sweep);
                 }
                 if (is_asked_for(sweep, column) || names(sweep.columns, column) ||
                     (text != nullptr && text->of_parents)) {
                   return true;
                 }
                 if (!sweep.columns.empty()) {
                   return false;
                 }
                 return text != nullptr
                            ? has(sweep, text->scope) && (!text->of_causes || explains_rows(sweep))
                            : applies(*metric, sweep);
               });
  return written;
}

}  // namespace roofcast::sim
