// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/shown_columns.hpp"

#include <algorithm>

#include "sim/decide/result_table.hpp"

namespace roofcast::sim {
namespace {

using base::Node;

// What only requests have: a training has none.
constexpr std::string_view kOfRequests[] = {"ttft_mean_s",
                                            "ttft_p50_s",
                                            "ttft_p95_s",
                                            "ttft_p99_s",
                                            "tpot_mean_s",
                                            "tpot_p95_s",
                                            "tpot_p99_s",
                                            "e2e_mean_s",
                                            "interactivity_tok_per_s_per_user",
                                            "requests_per_s",
                                            "attainment",
                                            "goodput",
                                            "utilisation",
                                            "saturation_requests_per_s",
                                            "input_cost_usd_per_mtok",
                                            "cached_cost_usd_per_mtok",
                                            "output_cost_usd_per_mtok",
                                            "low90_energy_j_per_tok",
                                            "high90_energy_j_per_tok",
                                            "tok_per_s_per_mw",
                                            "co2_g_per_mtok",
                                            "decode_batch",
                                            "tokens_per_iteration",
                                            "prefill_share",
                                            "bound_ttft",
                                            "bound_tpot",
                                            "bound_throughput"};

// What no forecast of RL post-training has (sim/training/post_training.cpp).
constexpr std::string_view kNotOfPostTraining[] = {"power_w_per_gpu", "energy_j_per_tok",
                                                   "tok_per_j"};

// Of a section of the scenario that not every metric of its kind needs.
struct Needed {
  std::string_view metric;
  std::string_view path;
};
constexpr Needed kNeeded[] = {{"rollout_s", "rl"},
                              {"trained_s", "rl"},
                              {"refit_s", "rl"},
                              {"tok_per_s_per_mw", "prices"},
                              {"co2_g_per_mtok", "prices"},
                              {"gpus_in_power_budget", "prices.power_budget"},
                              {"power_budget_tok_per_s", "prices.power_budget"},
                              {"run_co2_t", "prices"}};

bool is_of_requests(std::string_view name, std::string_view bounds) {
  return std::any_of(std::begin(kOfRequests), std::end(kOfRequests),
                     [&](std::string_view each) { return each == name || each == bounds; });
}

bool is_of_post_training(std::string_view name) {
  return std::find(std::begin(kNotOfPostTraining), std::end(kNotOfPostTraining), name) ==
         std::end(kNotOfPostTraining);
}

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

const TextMetric* find_text(std::string_view name) {
  const auto texts = text_metrics();
  const auto it =
      std::find_if(texts.begin(), texts.end(), [&](const TextMetric& t) { return t.name == name; });
  return it == texts.end() ? nullptr : &*it;
}

}  // namespace

bool may_say(const Sweep& sweep, std::string_view path) {
  return may_say(sweep.base, path) ||
         some_assignment(sweep, [&](const Assignment& set) { return may_say(set, path); });
}

bool applies(const Metric& metric, const Sweep& sweep) {
  const auto says = [&](std::string_view path) { return may_say(sweep, path); };
  for (const Needed& needed : kNeeded) {
    if (metric.name == needed.metric && !says(needed.path)) {
      return false;
    }
  }
  const bool trains = always_trains(sweep);
  if (trains && (is_of_requests(metric.name, metric.bounds) ||
                 (metric.name == "max_running" && !says("rl")) ||
                 (always_has(sweep, "rl") && !is_of_post_training(metric.name)))) {
    return false;
  }
  return (!metric.of_run || says("run")) && (!metric.of_training || says("training")) &&
         (!metric.of_answers || says("accuracy")) &&
         (!metric.of_agents || says("traffic.agents")) &&
         (!metric.of_objectives || says("traffic.objectives") || says("traffic.classes")) &&
         (!metric.of_arrivals || says("traffic.arrivals") || says("traffic.trace") ||
          says("traffic.agents")) &&
         (metric.name != "cached_cost_usd_per_mtok" || says("traffic.cached_tokens") ||
          says("accuracy"));
}

std::vector<std::string> shown_columns(const Sweep& sweep,
                                       const std::vector<std::string>& columns) {
  const bool all = names(sweep.columns, "all");
  std::vector<std::string> written;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(written),
               [&](const auto& column) {
                 const Metric* metric = find_metric(column);
                 const bool is_text = find_text(column) != nullptr;
                 const Metric* replayed = replayed_metric(column);
                 if (all || (metric == nullptr && !is_text && replayed == nullptr)) {
                   return true;
                 }
                 if (replayed != nullptr) {
                   return is_asked_for(sweep, replayed->name) || applies(*replayed, sweep);
                 }
                 if (is_asked_for(sweep, column) || names(sweep.columns, column)) {
                   return true;
                 }
                 if (!sweep.columns.empty()) {
                   return false;
                 }
                 return is_text ? !(always_trains(sweep) && is_of_requests(column, {}))
                                : applies(*metric, sweep);
               });
  return written;
}

}  // namespace roofcast::sim
