// SPDX-License-Identifier: Apache-2.0
#include "sim/confirm/replayed_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/threads.hpp"

namespace roofcast::sim {
namespace {

constexpr double kSure = 2.0;          // standard errors
constexpr double kExact = 0.003;       // of a knob that is no whole number
constexpr double kFirstStep = 0.05;    // by ratio; by share of the range if it reaches 0
constexpr double kStepBack = 0.01;     // the same
constexpr double kSurer = 2.5;         // standard deviations between seeds
constexpr std::size_t kSeeds = 8;      // at most, and 2 at least
constexpr double kSeedRequests = 2e5;  // of all seeds together
constexpr std::size_t kMostBack = 40;
constexpr std::size_t kMostTries = 40;  // of several knobs

// Whether the mean of replays holds by kSurer standard deviations of one of them.
bool hold_together(const std::vector<Condition>& conditions, const std::vector<Replayed>& all) {
  Replayed mean = all.front();
  mean.errors.clear();
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
    const Metric* metric = find_metric(condition.metric);
    if (metric == nullptr) {
      return true;
    }
    const auto count = static_cast<double>(all.size());
    double sum = 0.0;
    double error = 0.0;
    for (const Replayed& each : all) {
      sum += metric->value(each.estimate) / count;
      error += each.error(*metric) / count;
    }
    double squares = 0.0;
    for (const Replayed& each : all) {
      const double off = metric->value(each.estimate) - sum;
      squares += off * off / (count - 1.0);
    }
    const double by = kSurer * std::max(error, std::sqrt(squares));
    using Relation = Condition::Relation;
    const bool at_most =
        condition.relation == Relation::less || condition.relation == Relation::less_equal;
    return holds(condition, condition.relation == Relation::equal ? sum
                            : at_most                             ? sum + by
                                                                  : sum - by);
  });
}

// Places of one knob and what was replayed there.
class Places {
 public:
  Places(const KnobRange& range, const std::vector<Condition>& conditions,
         const ReplayAt& replay_at)
      : range_(range), conditions_(conditions), replay_at_(replay_at) {}

  const Replayed& at(double number) {
    const auto known = replayed_.find(number);
    return known != replayed_.end()
               ? known->second
               : replayed_.emplace(number, replay_at_({range_.text(number)}, 0)).first->second;
  }
  bool meets(double number) {
    const Replayed& r = at(number);
    return r.done() && holds_by(conditions_, r, kSure);
  }
  // With more seeds.
  bool stands(double number) {
    const double requests = static_cast<double>(std::max<std::size_t>(1, at(number).requests));
    const auto seeds = static_cast<std::size_t>(
        std::clamp(kSeedRequests / requests, 2.0, static_cast<double>(kSeeds)));
    std::vector<Replayed> all(seeds);
    all.front() = at(number);
    base::on_threads(static_cast<unsigned>(seeds) - 1, [&](unsigned i) {
      all[i + 1] = replay_at_({range_.text(number)}, static_cast<std::int64_t>(i) + 1);
    });
    more_ += seeds - 1;
    return std::all_of(all.begin(), all.end(), [](const Replayed& r) { return r.done(); }) &&
           hold_together(conditions_, all);
  }
  // One step by a share, kept in the range.
  double step(double from, double share) const {
    double to =
        range_.low > 0.0 ? from * std::exp(share) : from + share * (range_.high - range_.low);
    if (range_.whole) {
      to = share > 0.0 ? std::max(from + 1.0, std::floor(to)) : std::min(from - 1.0, std::ceil(to));
    }
    return std::clamp(to, range_.low, range_.high);
  }
  double middle(double a, double b) const {
    return range_.whole       ? std::floor(0.5 * (a + b))
           : range_.low > 0.0 ? std::sqrt(a * b)
                              : 0.5 * (a + b);
  }
  bool adjacent(double a, double b) const {
    return range_.whole ? std::abs(a - b) <= 1.0
                        : std::abs(a - b) <= kExact * std::max(std::abs(a), std::abs(b));
  }
  // The place that misses by least.
  double nearest() const {
    double best = replayed_.begin()->first;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [number, r] : replayed_) {
      if (const double misses = r.done() ? shortfall(conditions_, r.estimate) : least;
          misses < least) {
        best = number;
        least = misses;
      }
    }
    return best;
  }
  std::size_t replays() const { return replayed_.size() + more_; }

 private:
  const KnobRange& range_;
  const std::vector<Condition>& conditions_;
  const ReplayAt& replay_at_;
  std::map<double, Replayed> replayed_;
  std::size_t more_ = 0;
};

// Three digits after the first, towards `inward`.
double shortened(double number, double inward) {
  if (number == 0.0) {
    return number;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(number))) - 3.0);
  return (inward > 0.0 ? std::ceil(number / unit) : std::floor(number / unit)) * unit;
}

}  // namespace

// inward   1 or −1: the way to values that meet         good, bad   the nearest values found that meet and do not
ReplayedBoundary replayed_boundary(const KnobRange& range, const std::vector<Condition>& conditions,
                                   const Boundary& closed_form, const ReplayAt& replay_at,
                                   bool looks_once) {
  Places places(range, conditions, replay_at);
  ReplayedBoundary r;
  Boundary& b = r.boundary;
  b.changes = closed_form.changes;
  double start = closed_form.number;
  b.upwards = closed_form.found ? closed_form.upwards : start == range.high;
  bool to_the_end = false;  // every value outward meets
  if (closed_form.everywhere) {
    const bool low = places.meets(range.low);
    const bool high = places.meets(range.high);
    to_the_end = low && high;
    b.upwards = to_the_end ? closed_form.upwards : high && !low;
    start = to_the_end == b.upwards ? range.low : range.high;
  }
  const double inward = b.upwards ? 1.0 : -1.0;
  const double inner_end = b.upwards ? range.high : range.low;
  const double outer_end = b.upwards ? range.low : range.high;
  double good = start;
  double bad = start;
  const bool meets = places.meets(start);
  for (double share = kFirstStep; !to_the_end; share *= 2.0) {
    if (meets) {
      if (good == outer_end) {
        to_the_end = true;
        break;
      }
      bad = places.step(good, -inward * share);
      if (!places.meets(bad)) {
        break;
      }
      good = bad;
    } else {
      if (bad == inner_end) {
        break;
      }
      good = places.step(bad, inward * share);
      if (places.meets(good)) {
        break;
      }
      bad = good;
    }
  }
  b.found = places.meets(good);
  if (!b.found) {
    good = places.nearest();
  }
  while (b.found && !to_the_end && !places.adjacent(good, bad)) {
    const double middle = places.middle(good, bad);
    if (middle == good || middle == bad) {
      break;
    }
    (places.meets(middle) ? good : bad) = middle;
  }
  r.edge = good;
  if (b.found && !range.whole && !to_the_end) {
    good = std::clamp(shortened(good, inward), range.low, range.high);
  }
  for (std::size_t back = 0; b.found && !looks_once && !places.stands(good); ++back) {
    if (good == inner_end || back == kMostBack) {
      b.found = false;
      break;
    }
    bad = good;
    good = places.step(good, inward * kStepBack);
    good = range.whole ? good : std::clamp(shortened(good, inward), range.low, range.high);
    to_the_end = false;
  }
  b.everywhere = b.found && to_the_end;
  b.number = good;
  b.value = range.text(good);
  r.replayed = places.at(good);
  b.estimate = r.replayed.estimate;
  if (b.found && !to_the_end) {
    const Replayed& beyond = places.at(bad);
    b.beyond = range.text(bad);
    b.estimate_beyond = beyond.estimate;
    const Judgement judgement = judge(conditions, beyond);
    r.beyond_misses = judgement.verdict == Verdict::confirmed
                          ? "meets them, but not by two standard errors with every seed"
                          : judgement.note;
  }
  r.replays = places.replays();
  return r;
}

ReplayedChoice replayed_choice(ChoiceSearch& search, const std::vector<Condition>& conditions,
                               const ReplayAt& replay_at) {
  ReplayedChoice r;
  Choice nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t tries = 0; tries < kMostTries; ++tries) {
    Choice choice = search.best(conditions);
    if (tries > 0) {
      choice.tried = r.choice.tried;
      choice.met = r.choice.met;
      choice.unknown = r.choice.unknown;
    }
    r.choice = choice;
    if (!choice.found) {
      break;
    }
    r.replayed = replay_at(choice.values, 0);
    const Judgement judgement = judge(conditions, r.replayed);
    if (judgement.verdict != Verdict::broken) {
      return r;
    }
    r.broken.push_back({choice.values, judgement.note});
    if (const double misses = shortfall(conditions, r.replayed.estimate); misses < least) {
      least = misses;
      nearest = choice;
    }
    r.gave_up = !search.reject(choice, conditions, r.replayed.estimate);
    if (r.gave_up) {
      break;
    }
  }
  r.gave_up = r.gave_up || r.choice.found;
  if (!r.broken.empty()) {
    nearest.tried = r.choice.tried;
    nearest.met = r.choice.met;
    nearest.unknown = r.choice.unknown;
    nearest.found = false;
    r.choice = nearest;
  }
  // What comes nearest may meet the conditions after all.
  r.replayed = replay_at(r.choice.values, 0);
  r.choice.found = r.replayed.done() && holds_by(conditions, r.replayed, 0.0);
  return r;
}

}  // namespace roofcast::sim
