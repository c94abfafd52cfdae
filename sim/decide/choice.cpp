// SPDX-License-Identifier: Apache-2.0
#include "sim/decide/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "base/no_number.hpp"
#include "base/statistics/random.hpp"
#include "sim/decide/sweep_run.hpp"

namespace roofcast::sim {
namespace {

using base::kInfinity;
constexpr std::size_t kMostPlaces = 33;
constexpr std::size_t kFewestPlaces = 5;
constexpr std::size_t kStarts = 8;     // of pairs
constexpr std::size_t kRefined = 3;    // choices of what is listed
constexpr int kMoves = 200;            // of one refinement
constexpr double kFine = 2e-5;         // step of its end
constexpr double kAllWhole = 64.0;     // whole numbers that are tried one by one
constexpr std::size_t kHalfSteps = 2;  // numbers whose half steps are tried, too
constexpr std::size_t kTogether = 6;   // numbers that are changed together
constexpr double kShorter = 1e-3;      // of the metric, given for fewer digits
constexpr std::uint64_t kSeed = 1;
constexpr double kLeastTighter = 0.02;  // shares of a bound, see reject()
constexpr double kMostTighter = 0.2;
constexpr std::string_view kShare = "attainment";  // a metric that is 1 at most

}  // namespace

EstimateAll estimates_by_sweep(const base::Node& document, const std::vector<KnobRange>& ranges) {
  return [document, ranges](const KnobValues& values) {
    Sweep sweep;
    sweep.base = document;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      Axis axis{ranges[i].path, {}};
      for (const std::string& text : values[i]) {
        const auto source = std::make_shared<const base::Source>(
            base::Source{ranges[i].origin, fmt::format("{}={}", axis.name, text), {}});
        base::Node value =
            base::parse_document(fmt::format("{} {}", ranges[i].origin, axis.name), text);
        if (value.is_scalar()) {
          value.place = {source, {0, static_cast<int>(axis.name.size()) + 1}};
        }
        AxisValue& one = axis.values.emplace_back();
        one.label = text;
        one.set.push_back({axis.name, base::Place{source, {}}, std::move(value)});
      }
      sweep.axes.push_back(std::move(axis));
    }
    return sweep_estimates(SweepPoints(std::move(sweep)), 0);
  };
}

ChoiceSearch::ChoiceSearch(std::vector<KnobRange> ranges, Objective objective,
                           EstimateAll estimate_all, ChoiceLimits limits)
    : ranges_(std::move(ranges)),
      objective_(objective),
      estimate_all_(std::move(estimate_all)),
      limits_(limits) {
  for (std::size_t most = kMostPlaces; most >= kFewestPlaces; most = most / 2 + 1) {
    ladders_.clear();
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      ladders_.push_back(ladder(i, most));
    }
    if (few(ladders_) || most == kFewestPlaces) {
      break;
    }
  }
}

bool ChoiceSearch::better(const Score& a, const Score& b) {
  if (a.meets != b.meets) {
    return a.meets;
  }
  return a.meets ? a.value < b.value : a.misses < b.misses;
}

ChoiceSearch::Ladder ChoiceSearch::places(std::size_t knob,
                                          const std::vector<double>& numbers) const {
  const KnobRange& range = ranges_[knob];
  Ladder l;
  for (double number : numbers) {
    number = std::clamp(number, range.low, range.high);
    number = range.whole ? std::round(number) : number;
    std::string text = range.text(number);
    if (std::find(l.values.begin(), l.values.end(), text) == l.values.end()) {
      l.values.push_back(std::move(text));
      l.numbers.push_back(number);
    }
  }
  return l;
}

std::set<std::size_t> ChoiceSearch::places_left_out(const Ladders& ladders) const {
  std::set<std::size_t> indices;
  for (const std::vector<std::string>& values : left_out_) {
    std::size_t index = 0;
    bool is_there = true;
    for (std::size_t i = 0; i < ladders.size(); ++i) {
      const auto& all = ladders[i].values;
      const auto at = std::find(all.begin(), all.end(), values[i]);
      is_there = is_there && at != all.end();
      index = index * all.size() + static_cast<std::size_t>(at - all.begin());
    }
    if (is_there) {
      indices.insert(index);
    }
  }
  return indices;
}

bool ChoiceSearch::lists_all() const {
  bool all = true;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    all = all && lists_all(i);
  }
  return all;
}

bool ChoiceSearch::lists_all(std::size_t knob) const {
  const KnobRange& range = ranges_[knob];
  return !range.listed.empty() || (range.whole && range.high - range.low < kAllWhole);
}

ChoiceSearch::Ladder ChoiceSearch::ladder(std::size_t knob, std::size_t most) const {
  const KnobRange& range = ranges_[knob];
  if (!range.listed.empty()) {
    return {range.listed, std::vector<double>(range.listed.size(), std::nan("")), 0.0};
  }
  std::vector<double> numbers;
  const bool by_ratio = range.low > 0.0;
  const double step = (by_ratio ? std::log(range.high / range.low) : range.high - range.low) /
                      static_cast<double>(most - 1);
  if (lists_all(knob)) {
    for (double number = range.low; number <= range.high; number += 1.0) {
      numbers.push_back(number);
    }
  } else {
    for (std::size_t k = 0; k < most; ++k) {
      const double at = step * static_cast<double>(k);
      numbers.push_back(by_ratio ? range.low * std::exp(at) : range.low + at);
    }
    for (double two = 1.0; range.whole && two <= range.high; two *= 2.0) {
      numbers.push_back(std::max(two, range.low));  // what is often meant
    }
    std::sort(numbers.begin(), numbers.end());
  }
  Ladder l = places(knob, numbers);
  l.step = step;
  return l;
}

bool ChoiceSearch::few(const Ladders& ladders) const {
  double all = 1.0;
  double systems = 1.0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto size = static_cast<double>(ladders[i].values.size());
    all *= size;
    systems *=
        ranges_[i].path.starts_with("system") || ranges_[i].path.starts_with("model") ? size : 1.0;
  }
  return all <= static_cast<double>(limits_.combinations) &&
         systems <= static_cast<double>(limits_.systems);
}

std::vector<ServingEstimate> ChoiceSearch::estimates(const Ladders& ladders) const {
  KnobValues values;
  for (const Ladder& l : ladders) {
    values.push_back(l.values);
  }
  return estimate_all_(values);
}

ChoiceSearch::Score ChoiceSearch::score(const ServingEstimate& e,
                                        const Conditions& conditions) const {
  Score s;
  s.misses = shortfall(conditions, e);
  const bool meets =
      s.misses < kInfinity && std::all_of(conditions.begin(), conditions.end(),
                                          [&](const Condition& c) { return holds(c, e); });
  s.value = e.fits() ? objective_.metric->value(e) : std::nan("");
  s.value *= objective_.direction == Direction::maximize ? -1.0 : 1.0;
  s.unknown = meets && std::isnan(s.value);
  s.meets = meets && !s.unknown;
  return s;
}

std::vector<ChoiceSearch::Point> ChoiceSearch::winners(
    const Ladders& ladders, const std::vector<ServingEstimate>& estimates,
    const Conditions& conditions, Choice& counts) const {
  struct Winner {
    Score score;
    std::size_t index;
  };
  // Of each knob, the number of each place among what is listed.
  std::vector<Index> listed;
  for (std::size_t i = 0; i < ladders.size(); ++i) {
    listed.emplace_back(ladders[i].values.size(), 0);
    const auto& all = ranges_[i].listed;
    for (std::size_t k = 0; k < ladders[i].values.size() && !all.empty(); ++k) {
      listed[i][k] = static_cast<std::size_t>(
          std::find(all.begin(), all.end(), ladders[i].values[k]) - all.begin());
    }
  }
  std::map<std::size_t, Conditions> tighter;
  for (const auto& [choice, by] : tighter_) {
    tighter.emplace(choice, tightened(conditions, by));
  }
  const std::set<std::size_t> left_out = places_left_out(ladders);
  std::map<std::size_t, Winner> winners;  // by choice of what is listed
  for (std::size_t index = 0; index < estimates.size(); ++index) {
    std::size_t choice = 0;
    std::size_t stride = estimates.size();
    for (std::size_t i = 0; i < ladders.size(); ++i) {
      stride /= ladders[i].values.size();
      choice = choice * std::max<std::size_t>(1, ranges_[i].listed.size()) +
               listed[i][index / stride % ladders[i].values.size()];
    }
    const auto own = tighter.empty() ? tighter.end() : tighter.find(choice);
    Score s = score(estimates[index], own == tighter.end() ? conditions : own->second);
    s = left_out.contains(index) ? Score{false, false, kInfinity, s.value} : s;
    ++counts.tried;
    counts.met += s.meets || s.unknown ? 1U : 0U;
    counts.unknown += s.unknown ? 1U : 0U;
    const auto [at, is_new] = winners.try_emplace(choice, Winner{s, index});
    if (!is_new && better(s, at->second.score)) {
      at->second = {s, index};
    }
  }
  std::vector<Winner> order;
  for (const auto& [choice, winner] : winners) {
    order.push_back(winner);
  }
  std::stable_sort(order.begin(), order.end(), [](const Winner& a, const Winner& b) {
    return better(a.score, b.score) || (!better(b.score, a.score) && a.index < b.index);
  });
  std::vector<Point> points;
  for (std::size_t w = 0; w < std::min(order.size(), kRefined); ++w) {
    Point p{order[w].score, {}, {}, estimates[order[w].index]};
    std::size_t stride = estimates.size();
    for (const Ladder& l : ladders) {
      stride /= l.values.size();
      const std::size_t at = order[w].index / stride % l.values.size();
      p.values.push_back(l.values[at]);
      p.numbers.push_back(l.numbers[at]);
    }
    points.push_back(std::move(p));
  }
  return points;
}

ChoiceSearch::Point ChoiceSearch::by_pairs(Index& at, const Conditions& conditions,
                                           Choice& counts) const {
  const auto held = [&] {
    Ladders all;
    for (std::size_t i = 0; i < ladders_.size(); ++i) {
      all.push_back({{ladders_[i].values[at[i]]}, {ladders_[i].numbers[at[i]]}, 0.0});
    }
    return all;
  };
  const Ladders start = held();
  Point best = winners(start, estimates(start), conditions, counts).front();
  for (bool gains = true; gains;) {
    gains = false;
    for (std::size_t i = 0; i < ladders_.size(); ++i) {
      for (std::size_t j = i; j < ladders_.size(); ++j) {
        Ladders moved = held();
        moved[i] = ladders_[i];
        moved[j] = ladders_[j];
        if (!few(moved)) {
          continue;
        }
        Point p = winners(moved, estimates(moved), conditions, counts).front();
        if (!better(p.score, best.score)) {
          continue;
        }
        gains = true;
        for (const std::size_t k : {i, j}) {
          const auto& values = ladders_[k].values;
          at[k] = static_cast<std::size_t>(std::find(values.begin(), values.end(), p.values[k]) -
                                           values.begin());
        }
        best = std::move(p);
      }
    }
  }
  return best;
}

ChoiceSearch::Point ChoiceSearch::refined(Point best, const Conditions& conditions) const {
  std::vector<double> steps;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    steps.push_back(ladders_[i].step);
    numbers += ranges_[i].listed.empty() ? 1 : 0;
  }
  const auto neighbours = [&](std::size_t knob) {
    const KnobRange& range = ranges_[knob];
    const double number = best.numbers[knob];
    if (!range.listed.empty()) {
      return Ladder{{best.values[knob]}, {number}, 0.0};
    }
    std::vector<double> near = {number};
    for (const double share : {-1.0, 1.0, -0.5, 0.5}) {
      if (std::abs(share) < 1.0 && numbers > kHalfSteps) {
        continue;
      }
      const double by = share * steps[knob];
      const double to = range.low > 0.0 ? number * std::exp(by) : number + by;
      near.push_back(!range.whole
                         ? to
                         : number + (share > 0.0 ? std::max(1.0, std::round(to - number))
                                                 : std::min(-1.0, std::round(to - number))));
    }
    return places(knob, near);
  };
  Choice counts;
  // The knobs from..to moved, the others held.
  const auto moves = [&](std::size_t from, std::size_t to) {
    Ladders near;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      near.push_back(i >= from && i < to ? neighbours(i)
                                         : Ladder{{best.values[i]}, {best.numbers[i]}, 0.0});
    }
    Point p = winners(near, estimates(near), conditions, counts).front();
    const bool gains = better(p.score, best.score);
    if (gains) {
      best = std::move(p);
    }
    return gains;
  };
  const bool together = numbers <= kTogether;
  for (int move = 0; numbers > 0 && move < kMoves;) {
    bool gains = false;
    for (std::size_t i = 0; i < (together ? 1 : ranges_.size()); ++i) {
      const bool gained = together ? moves(0, ranges_.size()) : moves(i, i + 1);
      gains = gains || gained;
      ++move;
    }
    if (!gains) {
      double largest = 0.0;
      for (std::size_t i = 0; i < ranges_.size(); ++i) {
        // Of whole numbers the next ones have been tried.
        const bool at_end = ranges_[i].whole && std::abs(best.numbers[i]) * steps[i] <= 1.0;
        largest = std::max(largest, ranges_[i].listed.empty() && !at_end ? steps[i] : 0.0);
        steps[i] *= 0.5;
      }
      if (largest <= kFine) {
        break;
      }
    }
  }
  return best;
}

ChoiceSearch::Point ChoiceSearch::with_fewer_digits(Point best,
                                                    const Conditions& conditions) const {
  Ladders around;
  bool any = false;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const double number = best.numbers[i];
    if (!ranges_[i].listed.empty() || ranges_[i].whole || number == 0.0) {
      around.push_back({{best.values[i]}, {number}, 0.0});
      continue;
    }
    any = true;
    const double unit = std::pow(10.0, std::floor(std::log10(std::abs(number))) - 3.0);
    around.push_back(
        places(i, {std::floor(number / unit) * unit, std::ceil(number / unit) * unit}));
  }
  if (!any || !few(around)) {
    return best;
  }
  Choice counts;
  Point p = winners(around, estimates(around), conditions, counts).front();
  const bool close =
      best.score.meets ? p.score.meets && p.score.value <= best.score.value +
                                                               kShorter * std::abs(best.score.value)
                       : p.score.misses <= best.score.misses + kShorter;
  return close ? p : best;
}

Choice ChoiceSearch::chosen(Choice choice, const std::vector<Point>& starts,
                            const Conditions& conditions) const {
  const Point* best = nullptr;
  std::vector<Point> points;
  for (const Point& start : starts) {
    points.push_back(choice.every ? start : refined(start, conditions));
  }
  for (const Point& p : points) {
    if (best == nullptr || better(p.score, best->score)) {
      best = &p;
    }
  }
  const Point p = choice.every ? *best : with_fewer_digits(*best, conditions);
  choice.found = p.score.meets;
  choice.values = p.values;
  choice.estimate = p.estimate;
  return choice;
}

Choice ChoiceSearch::best(const Conditions& conditions) {
  Choice choice;
  if (few(ladders_)) {
    if (grid_.empty()) {
      grid_ = estimates(ladders_);
    }
    choice.every = lists_all();
    const std::vector<Point> starts = winners(ladders_, grid_, conditions, choice);
    return chosen(std::move(choice), starts, conditions);
  }
  base::Random random(kSeed, "solve");
  std::vector<std::pair<Point, Index>> starts;
  for (std::size_t s = 0; s < kStarts; ++s) {
    Index at;
    for (const Ladder& l : ladders_) {
      const auto last = static_cast<std::int64_t>(l.values.size()) - 1;
      at.push_back(static_cast<std::size_t>(s == 0 ? last / 2 : random.integer(0, last)));
    }
    Point p = by_pairs(at, conditions, choice);
    starts.emplace_back(std::move(p), std::move(at));
  }
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) {
    return better(a.first.score, b.first.score);
  });
  from_ = starts.front().second;
  std::vector<Point> points;
  for (std::size_t s = 0; s < kRefined; ++s) {
    points.push_back(starts[s].first);
  }
  return chosen(std::move(choice), points, conditions);
}

ChoiceSearch::Conditions ChoiceSearch::tightened(Conditions conditions,
                                                 const std::vector<double>& by) const {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    conditions[i].bound *= by[i];
  }
  return conditions;
}

std::size_t ChoiceSearch::listed_choice(const std::vector<std::string>& values) const {
  std::size_t choice = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto& all = ranges_[i].listed;
    choice = choice * std::max<std::size_t>(1, all.size()) +
             (all.empty() ? 0
                          : static_cast<std::size_t>(std::find(all.begin(), all.end(), values[i]) -
                                                     all.begin()));
  }
  return choice;
}

bool ChoiceSearch::reject(const Choice& choice, const Conditions& conditions,
                          const ServingEstimate& simulated) {
  if (lists_all()) {
    left_out_.insert(choice.values);
    return true;
  }
  auto& by =
      tighter_.try_emplace(listed_choice(choice.values), conditions.size(), 1.0).first->second;
  bool any = false;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Condition& c = conditions[i];
    const double misses = -slack(c, simulated);
    const double now = c.metric.empty() ? 0.0 : find_metric(c.metric)->value(choice.estimate);
    if (!(misses > 0.0) || !(std::abs(now) > 0.0) || c.bound == 0.0) {
      continue;
    }
    Condition tight = c;
    tight.bound = now;
    tight = loosened(tight, -std::clamp(misses, kLeastTighter, kMostTighter));
    if (c.metric == kShare) {  // halfway to 1 at most: nothing is more
      tight.bound = std::min(tight.bound, 0.5 * (1.0 + now));
    }
    by[i] = tight.bound / c.bound;
    any = any || tight.bound != now;
  }
  return any;
}

Choice ChoiceSearch::relaxed(Conditions conditions, std::size_t which, double share) {
  conditions[which] = loosened(conditions[which], share);
  if (from_.empty()) {
    return best(conditions);
  }
  Choice choice;
  Index at = from_;
  const Point start = by_pairs(at, conditions, choice);
  return chosen(std::move(choice), {start}, conditions);
}

}  // namespace roofcast::sim
