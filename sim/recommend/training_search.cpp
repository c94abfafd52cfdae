// SPDX-License-Identifier: Apache-2.0
#include "sim/recommend/training_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/threads.hpp"
#include "sim/recommend/scan.hpp"
#include "sim/result/costs.hpp"
#include "sim/scenario/sections.hpp"

namespace roofcast::sim {
namespace {

using base::Node;

// Rows of one mapping stand together.
auto mapping_key(const workloads::Mapping& m) {
  return std::tuple(m.tensor_parallel, m.context_parallel, m.pipeline_parallel, m.expert_parallel);
}

// What one thread has found in some choices of a candidate.
struct Found {
  std::vector<TrainedRow> best;  // of each mapping
  std::optional<TrainedRow> least_memory;
  std::map<std::string, std::size_t> refused;
  std::size_t missed = 0;
};

class TrainingCandidates {
 public:
  TrainingCandidates(const TrainingQuestion& q, std::size_t number,
                     const TrainingSearch::Candidate& of)
      : question_(q),
        number_(number),
        scenario_(read_scenario(of.document)),
        sign_(q.objective.direction == Direction::maximize ? -1.0 : 1.0) {
    const auto fed = gpus_fed(prices_of(view(scenario_)), scenario_.platform.system);
    if (fed && *fed < q.gpus) {
      refusal_ = fmt::format("prices.power_budget feeds {} GPUs of {}", *fed,
                             scenario_.platform.system.name);
    } else {
      choices_ = training_choices(view(scenario_), q.gpus);
    }
  }

  std::size_t size() const { return choices_.size(); }
  const std::string& refusal() const { return refusal_; }  // of all of them; else empty

  // Choices from `first` to before `last`.
  Found estimated(std::size_t first, std::size_t last) const {
    Found found;
    Workspace workspace;
    workspace.costs.emplace();
    workloads::Training training = scenario_.training;
    for (std::size_t i = first; i < last; ++i) {
      const TrainingChoice& choice = choices_[i];
      training.micro_batch = choice.micro_batch;
      training.virtual_stages = choice.virtual_stages;
      training.layout = workloads::parse_layout(choice.layout).layout;
      training.recompute = choice.recompute;
      ScenarioView s = view(scenario_);
      s.mapping = &choice.mapping;
      s.training = &training;
      const ServingEstimate e = estimate(s, workspace);
      if (!e.fits()) {
        ++found.refused[std::string(reason_kind(e.infeasible))];
        continue;
      }
      const double value = question_.objective.metric->value(e);
      const bool meets =
          std::all_of(question_.where.begin(), question_.where.end(),
                      [&](const Condition& condition) { return holds(condition, e); });
      if (!meets || std::isnan(value)) {
        ++found.missed;
        continue;
      }
      TrainedRow row{number_, choice, e, value};
      take_least(row, found.least_memory);
      take(std::move(row), found);
    }
    return found;
  }

  bool better(const TrainedRow& a, const TrainedRow& b) const {
    return sign_ * a.value < sign_ * b.value;
  }

  static void take_least(const TrainedRow& row, std::optional<TrainedRow>& least) {
    if (!least || row.estimate.memory < least->estimate.memory) {
      least = row;
    }
  }

  // Of equals the first stays.
  void take(TrainedRow row, Found& found) const {
    const auto same =
        std::find_if(found.best.rbegin(), found.best.rend(), [&](const TrainedRow& other) {
          return mapping_key(other.choice.mapping) == mapping_key(row.choice.mapping);
        });
    if (same == found.best.rend()) {
      found.best.push_back(std::move(row));
    } else if (better(row, *same)) {
      *same = std::move(row);
    }
  }

 private:
  const TrainingQuestion& question_;
  std::size_t number_;
  Scenario scenario_;
  std::vector<TrainingChoice> choices_;
  std::string refusal_;
  double sign_;
};

std::vector<TrainingSearch::Candidate> candidates_of(const TrainingQuestion& q) {
  const Node* own = q.base.find("system");
  std::vector<Node> systems = q.systems;
  if (systems.empty() && own != nullptr) {
    systems.push_back(*own);
  }
  std::vector<TrainingSearch::Candidate> all;
  for (const Node& system : systems) {
    for (std::size_t p = 0; p < std::max<std::size_t>(1, q.precisions.size()); ++p) {
      TrainingSearch::Candidate candidate{q.base, ""};
      if (!q.precisions.empty()) {
        candidate.document["precision"] = q.precisions[p];
      }
      const JoinedSystem joined(candidate.document, system, q.gpus);
      candidate.label = systems.size() > 1 ? joined.label : "";
      if (!q.precisions.empty()) {
        candidate.label += (candidate.label.empty() ? "" : ", ") + label_of(q.precisions[p]);
      }
      candidate.document["system"] = joined.node;
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

}  // namespace

TrainingSearch search_trainings(const TrainingQuestion& q, unsigned threads) {
  TrainingSearch search;
  search.candidates = candidates_of(q);
  for (std::size_t number = 0; number < search.candidates.size(); ++number) {
    const TrainingCandidates candidates(q, number, search.candidates[number]);
    const unsigned count = base::thread_count(threads);
    std::vector<Found> parts(count);
    base::on_threads(count, [&](unsigned thread) {
      parts[thread] = candidates.estimated(candidates.size() * thread / count,
                                           candidates.size() * (thread + 1) / count);
    });
    Found all;
    for (Found& part : parts) {
      for (const auto& [reason, rows] : part.refused) {
        search.refused[reason] += rows;
      }
      search.missed += part.missed;
      if (part.least_memory) {
        TrainingCandidates::take_least(*part.least_memory, search.least_memory);
      }
      for (TrainedRow& row : part.best) {
        candidates.take(std::move(row), all);
      }
    }
    search.rows += candidates.size();
    if (!candidates.refusal().empty()) {
      ++search.refused[candidates.refusal()];
    }
    search.best.insert(search.best.end(), std::make_move_iterator(all.best.begin()),
                       std::make_move_iterator(all.best.end()));
    if (number + 1 == search.candidates.size()) {
      std::stable_sort(
          search.best.begin(), search.best.end(),
          [&](const TrainedRow& a, const TrainedRow& b) { return candidates.better(a, b); });
    }
  }
  return search;
}

}  // namespace roofcast::sim
