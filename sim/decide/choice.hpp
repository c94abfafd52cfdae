// SPDX-License-Identifier: Apache-2.0
//
// Which settings of several knobs meet conditions at the least, or the most, of a metric.
//
// Every combination is estimated where they are few: of lists, of short ranges of whole numbers, and of ladders (33
// places, 5 where there are many knobs, evenly by ratio) of other ranges. Else every pair of knobs is, the others held,
// until no pair gains any more, from several starts (seeded). From the best, and the best with two other choices of what is
// listed, ladders are refined: neighbours at a step in all numbers together (compass search: Kolda, Lewis, Torczon,
// SIAM Review 45, 2003), the step halved where none is better. Better is what meets the conditions, else what
// misses them by less, else what has the better metric (Deb, CMAME 186, 2000).
//
// What lists and whole numbers in full have to offer is found for certain, what else is not proven to be the best. The
// same on any number of threads.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/decide/pareto.hpp"
#include "sim/decide/solve.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::sim {

// The values of each knob, and estimates of all their combinations, the last knob fastest.
using KnobValues = std::vector<std::vector<std::string>>;
using EstimateAll = std::function<std::vector<ServingEstimate>(const KnobValues& values)>;

// By a sweep (sim/decide/sweep_run.hpp) of these knobs of a scenario.
EstimateAll estimates_by_sweep(const base::Node& document, const std::vector<KnobRange>& ranges);

struct Objective {
  const Metric* metric = nullptr;
  Direction direction = Direction::minimize;
};

struct Choice {
  bool found = false;
  bool every = false;  // combination was tried: there is none better
  std::size_t tried = 0;
  std::size_t met = 0;              // the conditions
  std::size_t unknown = 0;          // of those, without the metric, which cannot be chosen
  std::vector<std::string> values;  // of the best, of equals the first; or of what comes nearest
  ServingEstimate estimate;
};

struct ChoiceLimits {
  std::size_t combinations = 1'000'000;  // tried at once
  std::size_t systems = 4096;            // or models among them, each of which is read
};

class ChoiceSearch {
 public:
  ChoiceSearch(std::vector<KnobRange> ranges, Objective objective, EstimateAll estimate_all,
               ChoiceLimits limits = {});

  Choice best(const std::vector<Condition>& conditions);
  // After it: the best with the bound of one condition looser by `share`.
  Choice relaxed(std::vector<Condition> conditions, std::size_t which, double share);

  // After a simulation of the best has contradicted it, so that the next best() is another one. Where every knob is a list
  // or all whole numbers of a range, this combination alone is left out. Else the bounds that it misses become tighter
  // for its choice of what is listed: by as much as it misses them, between 2 and 20 %, a share up to halfway to 1. False
  // if no bound of these can be tightened.
  bool reject(const Choice& choice, const std::vector<Condition>& conditions,
              const ServingEstimate& simulated);

 private:
  struct Score {
    bool meets = false;    // and has the metric
    bool unknown = false;  // meets without
    double misses = 0.0;
    double value = 0.0;  // less is better
  };
  struct Point {
    Score score;
    std::vector<std::string> values;
    std::vector<double> numbers;  // NaN of what is listed
    ServingEstimate estimate;
  };
  // Places of one knob.
  struct Ladder {
    std::vector<std::string> values;
    std::vector<double> numbers;
    double step = 0.0;  // between them; by ratio where the range is above 0
  };
  using Ladders = std::vector<Ladder>;
  using Conditions = std::vector<Condition>;
  using Index = std::vector<std::size_t>;  // a place of each ladder

  static bool better(const Score& a, const Score& b);

  Ladder places(std::size_t knob, const std::vector<double>& numbers) const;
  Ladder ladder(std::size_t knob, std::size_t most) const;
  bool lists_all(std::size_t knob) const;
  bool lists_all() const;  // every knob does
  bool few(const Ladders& ladders) const;
  // The number of a choice of what is listed; `values` are the places of knobs.
  std::size_t listed_choice(const std::vector<std::string>& values) const;
  Conditions tightened(Conditions conditions, const std::vector<double>& by) const;
  std::vector<ServingEstimate> estimates(const Ladders& ladders) const;
  Score score(const ServingEstimate& estimate, const Conditions& conditions) const;
  // Of all combinations of these, the numbers of those in left_out_.
  std::set<std::size_t> places_left_out(const Ladders& ladders) const;
  // Of all combinations, the best of each choice of what is listed, best first.
  std::vector<Point> winners(const Ladders& ladders, const std::vector<ServingEstimate>& estimates,
                             const Conditions& conditions, Choice& counts) const;
  // From these places, which become those of the best.
  Point by_pairs(Index& at, const Conditions& conditions, Choice& counts) const;
  Point refined(Point from, const Conditions& conditions) const;
  Point with_fewer_digits(Point from, const Conditions& conditions) const;
  Choice chosen(Choice counts, const std::vector<Point>& starts,
                const Conditions& conditions) const;

  std::vector<KnobRange> ranges_;
  Objective objective_;
  EstimateAll estimate_all_;
  ChoiceLimits limits_;
  Ladders ladders_;
  std::vector<ServingEstimate> grid_;  // of all combinations of the ladders, where they are few
  Index from_;                         // what pairs led to, where they are not
  // Of choices of what is listed: for each condition, its bound over the one that was asked for.
  std::map<std::size_t, std::vector<double>> tighter_;
  std::set<std::vector<std::string>> left_out_;
};

}  // namespace roofcast::sim
