// SPDX-License-Identifier: Apache-2.0
#include "sim/roadmap/choices.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/no_number.hpp"
#include "sim/decide/sweep_run.hpp"
#include "sim/estimate.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/written_number.hpp"

namespace roofcast::sim {
namespace {

using base::kNoNumber;
constexpr std::size_t kMostReplayRounds = 40;

// What the interval of a gain is made of.
void weigh(Outcome& outcome, const ScenarioView& scenario, Workspace& workspace) {
  const SteadyState& steady = outcome.estimate.steady;
  outcome.uncertainty = scenario.platform->machine.uncertainty;
  outcome.calibration = scenario.platform->system.calibration.name;
  outcome.priced_with = priced_with(scenario);
  for (const auto& [batch, share] : {std::pair{steady.decode_iteration, 1.0 - steady.prefill_share},
                                     std::pair{steady.prefill_iteration, steady.prefill_share}}) {
    if (share > 0.0) {
      const IterationCost cost = iteration_cost(scenario, batch, workspace);
      outcome.operators.add(cost.operators, share);
      outcome.iteration += cost.latency * share;
    }
  }
}

// Not `ok` where an axis has names or bundles.
WrittenNumber number_at(const Axis& axis, const AxisValue& value) {
  const bool scalar = value.set.size() == 1 && value.set.front().path == axis.name &&
                      value.set.front().value.is_scalar();
  return scalar ? written_number(value.set.front().value.text) : WrittenNumber{};
}

// "the least of its list" or "the most of its list"; empty elsewhere, and where the axis has no numbers of one unit.
std::string edge_of(const Axis& axis, std::size_t index) {
  const WrittenNumber at = number_at(axis, axis.values[index]);
  std::size_t less = 0;
  std::size_t more = 0;
  for (const AxisValue& value : axis.values) {
    const WrittenNumber other = number_at(axis, value);
    if (!other.ok || other.before != at.before || other.after != at.after) {
      return "";
    }
    less += other.value < at.value ? 1 : 0;
    more += other.value > at.value ? 1 : 0;
  }
  return less + more == 0 ? ""
         : less == 0      ? "the least of its list"
         : more == 0      ? "the most of its list"
                          : "";
}

}  // namespace

Outcome outcome_of(const ScenarioView& scenario, const ServingEstimate& estimate,
                   Workspace& workspace) {
  Outcome outcome;
  outcome.found = true;
  outcome.estimate = estimate;
  if (!estimate.workflow) {
    weigh(outcome, scenario, workspace);
  }
  return outcome;
}

Choices::Choices(const PortfolioWorkload& workload, const AxisValue& set,
                 const std::vector<Axis>& axes)
    : metric_(find_metric(workload.metric)),
      points_(points_of(workload, set, axes)),
      own_axes_(axes.size() + 1) {
  values_.reserve(points_.size());
  for (const ServingEstimate& e : sweep_estimates(points_, 0)) {
    values_.push_back(missed(points_.sweep().where, e).empty() ? metric_->value(e) : kNoNumber);
  }
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  best_.resize(count);
  replayed_.resize(count);
  outcomes_.resize(count);
  for (std::size_t choice = 0; choice < count; ++choice) {
    find_best(choice);
  }
}

std::size_t Choices::block() const { return points_.size() / outcomes_.size(); }

void Choices::find_best(std::size_t choice) {
  const double sign = metric_->better == Better::lower ? -1.0 : 1.0;
  const std::size_t start = choice * block();
  std::size_t best = points_.size();
  for (std::size_t i = start; i < start + block(); ++i) {
    if (!std::isnan(values_[i]) &&
        (best == points_.size() || sign * values_[i] > sign * values_[best])) {
      best = i;
    }
  }
  const ScenarioView scenario = points_.scenario(best == points_.size() ? start : best);
  const ServingEstimate closed_form = estimate(scenario, workspace_);
  Outcome outcome;
  if (best == points_.size()) {
    outcome.estimate = closed_form;
    outcome.reason = missed(points_.sweep().where, closed_form);
  } else {
    outcome = outcome_of(scenario, closed_form, workspace_);
    for (std::size_t a = own_axes_; a < points_.sweep().axes.size(); ++a) {
      const Axis& axis = points_.sweep().axes[a];
      const std::string at = fmt::format("{} {}", axis.name.substr(axis.name.find_last_of('.') + 1),
                                         points_.label(best, a));
      outcome.place += fmt::format("{}{}", a == own_axes_ ? "" : ", ", at);
      if (const std::string edge = edge_of(axis, points_.value_index(best, a)); !edge.empty()) {
        outcome.edges.push_back(fmt::format("{}, {}", at, edge));
      }
    }
  }
  best_[choice] = best;
  replayed_[choice] = false;
  outcomes_[choice] = std::move(outcome);
}

Outcome Choices::explained(std::size_t choice) const {
  Outcome outcome = outcomes_[choice];
  if (outcome.found) {
    tell_causes(points_.scenario(best_[choice]), outcome.estimate);
  }
  return outcome;
}

bool Choices::replay(const std::vector<std::size_t>& choices, const ReplayedRowsOptions& options) {
  const ReplayPlan plan = plan_of(points_.sweep(), metric_);
  bool any_broken = false;
  for (std::size_t round = 0; round < kMostReplayRounds; ++round) {
    std::map<std::size_t, std::size_t> choice_of;  // by point
    for (const std::size_t choice : choices) {
      if (outcomes_[choice].found && !replayed_[choice]) {
        choice_of.emplace(best_[choice], choice);
      }
    }
    if (choice_of.empty()) {
      return any_broken;
    }
    std::vector<std::size_t> rows;
    for (const auto& [point, choice] : choice_of) {
      rows.push_back(point);
    }
    const std::vector<Replayed> replays = replays_of(points_, rows, plan, options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t choice = choice_of.at(rows[i]);
      Outcome& outcome = outcomes_[choice];
      Judgement judgement = judge(points_.sweep().where, replays[i]);
      if (judgement.verdict != Verdict::broken) {
        replayed_[choice] = true;
        add(disagreements(outcome.estimate, replays[i]), judgement);
        outcome.judgement = judgement;
        outcome.replayed = replays[i].done() && is_simulated(*metric_)
                               ? metric_->value(replays[i].estimate)
                               : kNoNumber;
        continue;
      }
      any_broken = true;
      values_[rows[i]] = kNoNumber;
      std::string broken =
          fmt::format("{}{}{}{}{}", outcome.broken, outcome.broken.empty() ? "" : "; ",
                      outcome.place, outcome.place.empty() ? "" : ": ", judgement.note);
      find_best(choice);
      outcome.broken = std::move(broken);
      if (!outcome.found) {
        outcome.reason = fmt::format("broken: {}", outcome.broken);
      }
    }
  }
  for (const std::size_t choice : choices) {
    if (outcomes_[choice].found && !replayed_[choice]) {
      outcomes_[choice].judgement.note =
          fmt::format("not replayed: gave up after {} rounds", kMostReplayRounds);
    }
  }
  return any_broken;
}

}  // namespace roofcast::sim
