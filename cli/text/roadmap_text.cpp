// SPDX-License-Identifier: Apache-2.0
#include "cli/text/roadmap_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/csv/csv.hpp"
#include "cli/tables/metric_cells.hpp"
#include "sim/result/metrics.hpp"

namespace roofcast::cli {
namespace {

using Json = nlohmann::ordered_json;

bool is_confirmed(const sim::Outcome& outcome) {
  return outcome.found && outcome.judgement.verdict == sim::Verdict::confirmed;
}

void add_gain(Json& json, const sim::Gain& gain) {
  json["gain"] = gain.value;
  json["low90_gain"] = gain.interval.low;
  json["high90_gain"] = gain.interval.high;
}

// Of the points behind a portfolio's gain: those that count, and those that the replay confirms.
struct Replays {
  std::size_t count = 0;
  std::size_t confirmed = 0;
};
Replays replays_of(const sim::OptionResult& option, const sim::OptionResult& base) {
  Replays replays;
  for (const auto* of : {&option, &base}) {
    for (std::size_t w = 0; w < of->outcomes.size(); ++w) {
      const sim::Outcome& outcome = of->outcomes[w];
      replays.count += base.outcomes[w].found && outcome.found ? 1U : 0U;
      replays.confirmed += base.outcomes[w].found && is_confirmed(outcome) ? 1U : 0U;
    }
  }
  return replays;
}

Json option_json(const sim::Roadmap& roadmap, const sim::OptionResult& o,
                 const sim::OptionResult& base) {
  Json json = {{"name", o.name}};
  add_gain(json, o.portfolio);
  json["replayed_gain"] = o.replayed;
  json["replay"] = replay_text(o, base);
  json["tok_per_j_gain"] = o.tok_per_j;
  json["tok_per_usd_gain"] = o.tok_per_usd;
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const sim::Metric& metric = *sim::find_metric(roadmap.workloads[w].metric);
    const sim::Outcome& outcome = o.outcomes[w];
    Json workload = {{"name", roadmap.workloads[w].name},
                     {"metric", std::string(metric.name)},
                     {"value", outcome.found ? metric.value(outcome.estimate) : std::nan("")}};
    add_gain(workload, o.gains[w]);
    workload["limited_by"] =
        std::string(outcome.found ? limit_of(outcome.estimate, metric.name) : std::string_view());
    workload["at"] = outcome.place;
    workload["reason"] = outcome.reason;
    workload["replayed_value"] = outcome.replayed;
    workload["replayed_gain"] = o.replayed_gains[w];
    workload["replay"] = replay_text(outcome);
    workload["replay_note"] = replay_note(outcome);
    json["workloads"].push_back(std::move(workload));
  }
  return json;
}

}  // namespace

std::string gain_text(double gain) { return std::isnan(gain) ? "-" : fmt::format("x{:.3g}", gain); }

std::string interval_text(const sim::Gain& gain) {
  return std::isnan(gain.interval.low)
             ? "-"
             : fmt::format("x{:.3g} to x{:.3g}", gain.interval.low, gain.interval.high);
}

std::string gain_text(const sim::Gain& gain) {
  return std::isnan(gain.interval.low)
             ? gain_text(gain.value)
             : fmt::format("{} ({})", gain_text(gain.value), interval_text(gain));
}

std::string replay_text(const sim::Outcome& outcome) {
  return outcome.found ? std::string(name(outcome.judgement.verdict)) : std::string();
}

std::string replay_note(const sim::Outcome& outcome) {
  return outcome.found && !outcome.broken.empty()
             ? fmt::format("{}; broken: {}", outcome.judgement.note, outcome.broken)
         : outcome.found ? outcome.judgement.note
                         : std::string();
}

std::string replay_text(const sim::OptionResult& option, const sim::OptionResult& base) {
  const Replays replays = replays_of(option, base);
  return replays.confirmed == 0 ? std::string(name(sim::Verdict::estimated))
         : replays.confirmed == replays.count
             ? std::string(name(sim::Verdict::confirmed))
             : fmt::format("confirmed in {} of {} points", replays.confirmed, replays.count);
}

std::string replayed_text(const sim::OptionResult& option, const sim::OptionResult& base) {
  return std::isnan(option.replayed)
             ? replay_text(option, base)
             : fmt::format("{}, {} in the replay", replay_text(option, base),
                           gain_text(option.replayed));
}

std::vector<std::string> replay_notes(const sim::Roadmap& roadmap,
                                      const sim::RoadmapResult& result) {
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text) {
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) {
      notes.push_back(text);
    }
  };
  const auto say = [&](const sim::OptionResult& option, std::string_view with) {
    for (std::size_t w = 0; w < option.outcomes.size(); ++w) {
      const sim::Outcome& outcome = option.outcomes[w];
      const std::string& workload = roadmap.workloads[w].name;
      if (!outcome.broken.empty()) {
        note(fmt::format("{} {}: the replay breaks {}.", workload, with, outcome.broken));
      }
      if (outcome.found && outcome.judgement.verdict == sim::Verdict::estimated) {
        note(fmt::format("{} is estimated only: {}.", workload, outcome.judgement.note));
      }
    }
  };
  say(result.base, "without any option");
  for (const auto* options : {&result.options, &result.funded}) {
    for (const sim::OptionResult& option : *options) {
      say(option, fmt::format("with {}", option.name));
    }
  }
  if (!result.features.empty()) {
    notes.emplace_back(
        "Of features, gains alone, on top of all others, shares and pairs are estimated only.");
  }
  return notes;
}

std::vector<std::string> edge_notes(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  std::vector<std::string> notes;
  for (const sim::ListEdge& edge : result.edges) {
    notes.push_back(fmt::format(
        "{} is best at {}, with {}: a list that goes on may change what this says of it.",
        roadmap.workloads[edge.workload].name, edge.at, fmt::join(edge.with, ", ")));
  }
  return notes;
}

namespace {

// "a and b both set system.chip.compute.sms": the value of the second replaces that of the first.
void add_replaced(const std::vector<sim::AxisValue>& features, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t j = i + 1; j < features.size(); ++j) {
      for (const sim::Assignment& a : features[i].set) {
        for (const sim::Assignment& b : features[j].set) {
          const bool multiplies = b.value.is_scalar() && b.value.text.starts_with('x');
          if (a.path == b.path && !multiplies) {
            notes.push_back(fmt::format("{} and {} both set {}: together only one of them counts.",
                                        features[i].label, features[j].label, a.path));
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<std::string> portfolio_notes(const sim::Roadmap& roadmap,
                                         const sim::RoadmapResult& result) {
  std::vector<std::string> notes = edge_notes(roadmap, result);
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const sim::PortfolioWorkload& workload = roadmap.workloads[w];
    const sim::Outcome& outcome = result.base.outcomes[w];
    if (!outcome.found) {
      notes.push_back(fmt::format(
          "{} (weight {:g}) is left out of all gains: without any option it does not run ({}).",
          workload.name, workload.weight, outcome.reason));
    } else if (sim::find_metric(workload.metric)->value(outcome.estimate) == 0.0) {
      notes.push_back(
          fmt::format("No gain can be told of {} (weight {:g}): {} is 0 without any option.",
                      workload.name, workload.weight, workload.metric));
    }
    for (const sim::OptionResult& option : result.options) {
      if (outcome.found && !option.outcomes[w].found) {
        notes.push_back(fmt::format(
            "{} has no gain of the portfolio: {} (weight {:g}) does not run on it ({}).",
            option.name, workload.name, workload.weight, option.outcomes[w].reason));
      }
    }
  }
  for (std::size_t i = result.funded.size(); i < result.features.size(); ++i) {
    notes.push_back(
        fmt::format("{} is not in the order to fund: on top of those before it gains nothing.",
                    result.features[result.order[i]].name));
  }
  add_replaced(roadmap.features, notes);
  return notes;
}

std::string order_text(sim::FundBy by) {
  switch (by) {
    case sim::FundBy::cost:
      return "each the next one with the most gain for its cost";
    case sim::FundBy::area:
      return "each the next one with the most gain for its area";
    case sim::FundBy::power:
      return "each the next one with the most gain for its power";
    case sim::FundBy::gain:
      break;
  }
  return "each the best next one";
}

std::string takes_text(sim::FundBy by, double takes) {
  return by == sim::FundBy::gain    ? ""
         : by == sim::FundBy::cost  ? fmt::format(", {:g} USD", takes)
         : by == sim::FundBy::power ? fmt::format(", {:g} W", takes)
                                    : fmt::format(", {:g} mm2", takes);
}

std::vector<std::string> price_notes(const sim::RoadmapResult& result) {
  std::vector<std::string> notes;
  for (const sim::OptionResult& option : result.options) {
    std::set<std::string> chips;
    for (const sim::Outcome& outcome : option.outcomes) {
      if (!outcome.priced_with.empty()) {
        chips.insert(outcome.priced_with);
      }
    }
    if (!chips.empty()) {
      notes.push_back(fmt::format("tokens/$ of {} is at the price of {}.", option.name,
                                  fmt::join(chips, ", ")));
    }
  }
  return notes;
}

void write_roadmap_csv(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                       const std::string& file) {
  base::CsvWriter csv(
      std::filesystem::path(file),
      {"part",        "name",          "workload",       "metric",         "value",
       "gain",        "low90_gain",    "high90_gain",    "tok_per_j_gain", "tok_per_usd_gain",
       "gain_on_top", "share_of_gain", "place_in_order", "gain_in_order",  "limited_by",
       "at",          "reason",        "takes",          "replayed_value", "replayed_gain",
       "replay",      "replay_note"});
  const auto option = [&](const sim::OptionResult& o, const char* part) {
    for (std::size_t w = 0; w <= roadmap.workloads.size(); ++w) {
      const bool all = w == roadmap.workloads.size();
      const sim::Metric* metric = all ? nullptr : sim::find_metric(roadmap.workloads[w].metric);
      const sim::Outcome* outcome = all ? nullptr : &o.outcomes[w];
      const sim::Gain& gain = all ? o.portfolio : o.gains[w];
      const bool found = !all && outcome->found;
      csv.append(part);
      csv.append(o.name);
      csv.append(all ? std::string_view("portfolio") : roadmap.workloads[w].name);
      csv.append(all ? std::string_view() : metric->name);
      csv.append(found ? metric->value(outcome->estimate) : std::nan(""));
      csv.append(gain.value);
      csv.append(gain.interval.low);
      csv.append(gain.interval.high);
      csv.append(all ? o.tok_per_j : std::nan(""));
      csv.append(all ? o.tok_per_usd : std::nan(""));
      for (int empty = 0; empty < 4; ++empty) {
        csv.append("");
      }
      csv.append(found ? limit_of(outcome->estimate, metric->name) : std::string_view());
      csv.append(all ? std::string_view() : outcome->place);
      csv.append(all ? std::string_view() : outcome->reason);
      csv.append("");
      csv.append(all ? std::nan("") : outcome->replayed);
      csv.append(all ? o.replayed : o.replayed_gains[w]);
      csv.append(all ? replay_text(o, result.base) : replay_text(*outcome));
      csv.append(all ? std::string() : replay_note(*outcome));
      csv.end_row();
    }
  };
  option(result.base, "base");
  for (const sim::OptionResult& o : result.options) {
    option(o, "option");
  }
  for (std::size_t i = 0; i < result.features.size(); ++i) {
    const sim::FeatureResult& f = result.features[i];
    const auto place = static_cast<std::size_t>(
        std::find(result.order.begin(), result.order.end(), i) - result.order.begin());
    const bool is_funded = place < result.funded.size();
    csv.append("feature");
    csv.append(f.name);
    csv.append("portfolio");
    csv.append("");
    csv.append("");
    csv.append(f.alone);
    for (int empty = 0; empty < 4; ++empty) {
      csv.append("");
    }
    csv.append(f.last);
    csv.append(f.share);
    csv.append(is_funded ? static_cast<double>(place + 1) : std::nan(""));
    csv.append(is_funded ? result.funded[place].portfolio.value : std::nan(""));
    csv.append("");
    csv.append("");
    csv.append("");
    csv.append(f.takes);
    csv.append(std::nan(""));
    csv.append(is_funded ? result.funded[place].replayed : std::nan(""));
    csv.append(is_funded ? replay_text(result.funded[place], result.base) : std::string());
    csv.append(is_funded ? "of gain_in_order" : "not in the order: it gains nothing on top");
    csv.end_row();
  }
  if (!result.no_features.empty()) {
    csv.append("features");
    for (int empty = 0; empty < 15; ++empty) {
      csv.append("");
    }
    csv.append(result.no_features);
    for (int empty = 0; empty < 5; ++empty) {
      csv.append("");
    }
    csv.end_row();
  }
  csv.close();
}

nlohmann::ordered_json roadmap_json(const sim::Roadmap& roadmap, const sim::RoadmapResult& result) {
  Json json = {
      {"question", roadmap.question},     {"base", option_json(roadmap, result.base, result.base)},
      {"options", Json::array()},         {"features", Json::array()},
      {"order", Json::array()},           {"pairs", Json::array()},
      {"no_features", result.no_features}};
  for (const sim::OptionResult& o : result.options) {
    json["options"].push_back(option_json(roadmap, o, result.base));
  }
  for (const sim::FeatureResult& f : result.features) {
    json["features"].push_back({{"name", f.name},
                                {"gain", f.alone},
                                {"gain_on_top", f.last},
                                {"share_of_gain", f.share},
                                {"replay", std::string(name(sim::Verdict::estimated))}});
  }
  for (std::size_t i = 0; i < result.funded.size(); ++i) {
    json["order"].push_back({{"name", result.features[result.order[i]].name},
                             {"gain_together", result.funded[i].portfolio.value},
                             {"replayed_gain_together", result.funded[i].replayed},
                             {"replay", replay_text(result.funded[i], result.base)}});
  }
  for (const sim::FeaturePair& pair : result.pairs) {
    json["pairs"].push_back({{"first", result.features[pair.first].name},
                             {"second", result.features[pair.second].name},
                             {"gain", pair.gain},
                             {"replay", std::string(name(sim::Verdict::estimated))}});
  }
  json["notes"] = portfolio_notes(roadmap, result);
  json["replay_notes"] = replay_notes(roadmap, result);
  return json;
}

}  // namespace roofcast::cli
