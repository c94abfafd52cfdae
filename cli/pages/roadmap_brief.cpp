// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/pages/brief.hpp"
#include "cli/pages/brief_parts.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/roadmap_text.hpp"

namespace roofcast::cli {
namespace {

constexpr double kLargeWeight = 10.0;  // times; no more is called a change of the portfolio

// Where write_roadmap_csv puts things, from 1.
struct RoadmapRows {
  const sim::Roadmap& roadmap;
  const sim::RoadmapResult& result;
  std::size_t block() const { return roadmap.workloads.size() + 1; }
  std::size_t base(std::size_t workload) const { return workload + 1; }
  std::size_t option(std::size_t o, std::size_t workload) const {
    return (o + 1) * block() + workload + 1;
  }
  std::size_t portfolio(std::size_t o) const { return (o + 2) * block(); }
  std::size_t feature(std::size_t f) const { return (result.options.size() + 1) * block() + f + 1; }
};

// ln of what a candidate gains by workload, of those that the base can run.
struct Candidate {
  std::string name;
  std::vector<double> log_gains;
};
struct Contest {
  std::vector<Candidate> candidates;  // the winner first, then the next
  std::vector<std::string> workloads;
  std::vector<double> weights;
};

// By which the winner's portfolio is before another's, as a sum over workloads.
double lead(const Contest& c, std::size_t other) {
  double sum = 0.0;
  for (std::size_t w = 0; w < c.weights.size(); ++w) {
    sum += c.weights[w] * (c.candidates[0].log_gains[w] - c.candidates[other].log_gains[w]);
  }
  return sum;
}

// What of the portfolio would put another first: at m times workload w's weight the lead is
// lead + (m - 1) * by_w, with by_w what of it comes from w.
std::vector<std::string> changes_of(const Contest& c) {
  std::vector<std::string> lines;
  for (std::size_t other = 1; other < c.candidates.size(); ++other) {
    const double all = lead(c, other);
    for (std::size_t w = 0; w < c.weights.size(); ++w) {
      const double by =
          c.weights[w] * (c.candidates[0].log_gains[w] - c.candidates[other].log_gains[w]);
      const double times = by == 0.0 ? 0.0 : 1.0 - all / by;
      if (by < 0.0 && times <= kLargeWeight) {
        lines.push_back(fmt::format("{} would come before {} if {} weighed {:.2g} times as much.",
                                    c.candidates[other].name, c.candidates[0].name, c.workloads[w],
                                    times));
      } else if (by > 0.0 && by > all) {
        lines.push_back(
            fmt::format("{} would come before {} if {} weighed less than {:.2g} of what it does.",
                        c.candidates[other].name, c.candidates[0].name, c.workloads[w], times));
      }
    }
  }
  if (lines.empty() && c.candidates.size() > 1) {
    lines.push_back(fmt::format(
        "No weight of one workload, from none to {:g} times its own, puts another before {}.",
        kLargeWeight, c.candidates[0].name));
  }
  return lines;
}

// The workloads that the base can run, and what each candidate gains there.
template <class LogGain>
Contest contest_of(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                   const std::vector<std::pair<std::string, std::size_t>>& candidates,
                   LogGain log_gain) {
  Contest c;
  for (const auto& [name, index] : candidates) {
    c.candidates.push_back({name, {}});
    for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
      if (result.base.outcomes[w].found) {
        c.candidates.back().log_gains.push_back(log_gain(index, w));
      }
    }
  }
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    if (result.base.outcomes[w].found) {
      c.workloads.push_back(roadmap.workloads[w].name);
      c.weights.push_back(roadmap.workloads[w].weight);
    }
  }
  return c;
}

void say_options(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                 const RoadmapRows& rows, Brief& brief) {
  const sim::OptionResult& best = result.options.front();
  if (std::isnan(best.portfolio.value)) {
    brief.answer.push_back("No option can run every workload.");
  } else {
    std::size_t most = 0;
    for (std::size_t w = 0; w < best.gains.size(); ++w) {
      most = best.gains[w].value > best.gains[most].value ? w : most;
    }
    brief.answer.push_back(fmt::format(
        "{} gains most: {} over the portfolio {}, and up to {} in {} {}.", best.name,
        gain_text(best.portfolio), cite(rows.portfolio(0)), gain_text(best.gains[most].value),
        roadmap.workloads[most].name, cite(rows.option(0, most))));
    brief.answer.push_back(fmt::format("The gain of {} over the portfolio is {} {}.", best.name,
                                       replayed_text(best, result.base), cite(rows.portfolio(0))));
  }
  TextTable table(
      {"option", "portfolio", "90 %", "replayed", "tokens/J", "tokens/$", "replay", "row"});
  for (std::size_t o = 0; o < result.options.size(); ++o) {
    const sim::OptionResult& option = result.options[o];
    table.add({option.name, gain_text(option.portfolio.value), interval_text(option.portfolio),
               gain_text(option.replayed), gain_text(option.tok_per_j),
               gain_text(option.tok_per_usd), replay_text(option, result.base),
               cite(rows.portfolio(o))});
  }
  brief.evidence.push_back({"Options over the portfolio", std::move(table)});
  TextTable by_workload({"workload", "option", "gain", "replayed", "replay", "limited by", "row"});
  std::vector<std::pair<std::string, std::size_t>> able;
  for (std::size_t o = 0; o < result.options.size(); ++o) {
    const sim::OptionResult& option = result.options[o];
    for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
      const sim::Outcome& outcome = option.outcomes[w];
      by_workload.add({roadmap.workloads[w].name, option.name, gain_text(option.gains[w]),
                       gain_text(option.replayed_gains[w]), replay_text(outcome),
                       outcome.found ? limit_text(outcome.estimate, roadmap.workloads[w].metric)
                                     : outcome.reason,
                       cite(rows.option(o, w))});
    }
    if (!std::isnan(option.portfolio.value)) {
      able.emplace_back(option.name, o);
    }
  }
  brief.evidence.push_back({"By workload", std::move(by_workload)});
  if (able.size() > 1) {
    const sim::Gain& second = result.options[able[1].second].portfolio;
    if (result.options[able[1].second].replayed > best.replayed) {
      brief.confidence.push_back(
          fmt::format("In the replays {} gains more than {}.", able[1].first, best.name));
    }
    const bool apart = best.portfolio.interval.low > second.interval.high;
    brief.confidence.push_back(
        fmt::format("The 90 % intervals of {} and {} {}.", best.name, able[1].first,
                    apart ? "lie apart" : "overlap: their order is not certain"));
    const auto changes =
        changes_of(contest_of(roadmap, result, able, [&](std::size_t o, std::size_t w) {
          return std::log(result.options[o].gains[w].value);
        }));
    brief.changes.insert(brief.changes.end(), changes.begin(), changes.end());
  }
}

// Where the next feature of the order gains most on top of those before, and what limits that workload before and with it.
struct BestPlace {
  std::size_t workload = 0;
  double gain = 0.0;
  std::string before;
  std::string with;
};
BestPlace best_place(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                     std::size_t order) {
  const std::vector<sim::Outcome>& before =
      order == 0 ? result.base.outcomes : result.funded[order - 1].outcomes;
  const std::vector<sim::Outcome>& with = result.funded[order].outcomes;
  const auto limit = [](const sim::Outcome& outcome, const std::string& metric) {
    return limit_or_throughput(outcome.estimate, metric) +
           (outcome.place.empty() ? std::string() : fmt::format(" at {}", outcome.place));
  };
  BestPlace best;
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const std::string& metric = roadmap.workloads[w].metric;
    const double gain = sim::gain_of(*sim::find_metric(metric), with[w], before[w]).value;
    if (gain > best.gain) {
      best = {w, gain, limit(before[w], metric), limit(with[w], metric)};
    }
  }
  return best;
}

void say_features(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                  const RoadmapRows& rows, Brief& brief) {
  if (!result.no_features.empty()) {
    brief.answer.push_back(fmt::format("Features cannot be combined: {}.", result.no_features));
    return;
  }
  if (result.funded.empty()) {
    brief.answer.emplace_back("No feature gains alone: none is to fund.");
    return;
  }
  const std::size_t first = result.order.front();
  std::string sentence =
      fmt::format("Of the features fund {} first, which alone brings {}{} {}",
                  result.features[first].name, gain_text(result.features[first].alone),
                  takes_text(roadmap.by, result.features[first].takes), cite(rows.feature(first)));
  if (result.funded.size() > 1) {
    sentence += fmt::format(
        "; then {}, with which it is {} {}", result.features[result.order[1]].name,
        gain_text(result.funded[1].portfolio.value), cite(rows.feature(result.order[1])));
  }
  brief.answer.push_back(sentence + ".");
  const BestPlace most = best_place(roadmap, result, 0);
  brief.answer.push_back(fmt::format(
      "The first gains most in {}, {}: that workload is limited by {} {}, and with the feature by "
      "{}.",
      roadmap.workloads[most.workload].name, gain_text(most.gain), most.before,
      cite(rows.base(most.workload)), most.with));
  brief.answer.push_back(fmt::format("The gain of the first is {} {}.",
                                     replayed_text(result.funded.front(), result.base),
                                     cite(rows.feature(first))));
  if (const std::size_t count = result.funded.size(); count > 2) {
    brief.answer.push_back(fmt::format("{} {} together bring {} {}.",
                                       count == result.order.size() ? "All" : "The first", count,
                                       gain_text(result.funded.back().portfolio.value),
                                       cite(rows.feature(result.order[count - 1]))));
  }
  TextTable table({"order", "feature", "alone", "together with those before", "replayed", "replay",
                   "on top of all others", "share of all", "most in", "gain there", "limited by",
                   "with it by", "row"});
  std::vector<std::pair<std::string, std::size_t>> alone;
  for (std::size_t i = 0; i < result.funded.size(); ++i) {
    const sim::FeatureResult& f = result.features[result.order[i]];
    const BestPlace place = best_place(roadmap, result, i);
    table.add({fmt::format("{}", i + 1), f.name, gain_text(f.alone),
               gain_text(result.funded[i].portfolio.value), gain_text(result.funded[i].replayed),
               replay_text(result.funded[i], result.base), gain_text(f.last),
               std::isfinite(f.share) ? fmt::format("{:.1f}%", 100.0 * f.share) : "-",
               roadmap.workloads[place.workload].name, gain_text(place.gain), place.before,
               place.with, cite(rows.feature(result.order[i]))});
    alone.emplace_back(f.name, std::size_t{1} << result.order[i]);
  }
  brief.evidence.push_back({"Features in the order to fund them", std::move(table)});
  if (roadmap.by != sim::FundBy::gain) {
    brief.assumptions.push_back(fmt::format("The order: {}.", order_text(roadmap.by)));
  }
  if (alone.size() > 1) {
    const auto changes =
        changes_of(contest_of(roadmap, result, alone, [&](std::size_t subset, std::size_t w) {
          return result.subsets[w][subset];
        }));
    brief.changes.insert(brief.changes.end(), changes.begin(), changes.end());
  }
}

}  // namespace

Brief brief_of(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  Brief brief;
  const RoadmapRows rows{roadmap, result};
  brief.question = roadmap.question.empty() ? "What does the roadmap buy?" : roadmap.question;
  if (!result.options.empty()) {
    say_options(roadmap, result, rows, brief);
  }
  if (!roadmap.features.empty()) {
    say_features(roadmap, result, rows, brief);
  }
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const sim::PortfolioWorkload& workload = roadmap.workloads[w];
    const sim::Metric& metric = *sim::find_metric(workload.metric);
    const sim::Outcome& outcome = result.base.outcomes[w];
    std::string conditions;
    for (const sim::Condition& condition : workload.load.where) {
      conditions += fmt::format(", {}", condition.text);
    }
    if (outcome.found) {
      brief.assumptions.push_back(
          fmt::format("{}: weight {:g}{}; {} {} without any option {}.", workload.name,
                      workload.weight, conditions, metric.label,
                      display(metric.value(outcome.estimate), metric.unit), cite(rows.base(w))));
    }
  }
  for (const std::string& note : portfolio_notes(roadmap, result)) {
    brief.assumptions.push_back(note);
  }
  for (const std::string& note : price_notes(result)) {
    brief.assumptions.push_back(note);
  }
  brief.assumptions.push_back(
      "A portfolio's gain is the weighted geometric mean of its workloads'.");
  std::set<std::string> parameters;
  for (const auto* option : [&] {
         std::vector<const sim::OptionResult*> all = {&result.base};
         for (const sim::OptionResult& o : result.options) {
           all.push_back(&o);
         }
         return all;
       }()) {
    for (const sim::Outcome& outcome : option->outcomes) {
      if (outcome.found) {
        parameters.insert(parameters_text(outcome.calibration, outcome.estimate.provenance));
      }
    }
  }
  for (const std::string& note : replay_notes(roadmap, result)) {
    brief.confidence.push_back(note);
  }
  brief.confidence.push_back(fmt::format("Parameters: {}.", fmt::join(parameters, ", ")));
  brief.confidence.emplace_back(kIntervals);
  return brief;
}

}  // namespace roofcast::cli
