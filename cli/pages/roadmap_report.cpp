// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/roadmap_report.hpp"

#include <nlohmann/json.hpp>

#include "cli/assets/asset.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/provenance/version.hpp"
#include "cli/tables/metric_cells.hpp"
#include "cli/text/roadmap_text.hpp"

namespace roofcast::cli {

namespace {

using nlohmann::ordered_json;

ordered_json gain_json(const sim::Gain& gain) {
  return {{"gain", gain.value}, {"low90", gain.interval.low}, {"high90", gain.interval.high}};
}

ordered_json outcome_json(const sim::Outcome& outcome, const sim::Metric& metric) {
  if (!outcome.found) {
    return {{"value", nullptr}, {"reason", outcome.reason}};
  }
  return {{"value", metric.value(outcome.estimate)},
          {"limited_by", limit_of(outcome.estimate, metric.name)},
          {"at", outcome.place},
          {"calibration", outcome.calibration},
          {"provenance", hardware::name(outcome.estimate.provenance)},
          {"replay", replay_text(outcome)},
          {"replay_note", replay_note(outcome)}};
}

ordered_json workload_json(const sim::PortfolioWorkload& workload, const sim::Outcome& base) {
  const sim::Metric& metric = *sim::find_metric(workload.metric);
  ordered_json conditions = ordered_json::array();
  for (const sim::Condition& condition : workload.load.where) {
    conditions.push_back(condition.text);
  }
  return {{"name", workload.name},
          {"weight", workload.weight},
          {"metric", metric.name},
          {"label", metric.label},
          {"unit", metric.unit},
          {"conditions", conditions},
          {"base", outcome_json(base, metric)}};
}

ordered_json option_json(const sim::Roadmap& roadmap, const sim::OptionResult& option,
                         const sim::OptionResult& base) {
  ordered_json json = {{"name", option.name}, {"portfolio", gain_json(option.portfolio)}};
  json["portfolio"]["tok_per_j"] = option.tok_per_j;
  json["portfolio"]["tok_per_usd"] = option.tok_per_usd;
  json["portfolio"]["replayed"] = option.replayed;
  json["replay"] = replay_text(option, base);
  json["workloads"] = ordered_json::array();
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    const auto gain_in = [&](const char* metric) {
      return sim::gain_of(*sim::find_metric(metric), option.outcomes[w], base.outcomes[w]).value;
    };
    ordered_json cell =
        outcome_json(option.outcomes[w], *sim::find_metric(roadmap.workloads[w].metric));
    cell.update(gain_json(option.gains[w]));
    cell["replayed"] = option.replayed_gains[w];
    cell["tok_per_j"] = gain_in("tok_per_j");
    cell["tok_per_usd"] = gain_in("cost_usd_per_mtok");
    json["workloads"].push_back(std::move(cell));
  }
  return json;
}

void add_features(const sim::RoadmapResult& result, ordered_json& data) {
  data["features"] = ordered_json::array();
  for (const sim::FeatureResult& f : result.features) {
    data["features"].push_back({{"name", f.name},
                                {"alone", f.alone},
                                {"last", f.last},
                                {"share", f.share},
                                {"takes", f.takes}});
  }
  data["order"] = result.order;
  data["together"] = ordered_json::array();
  data["funded"] = ordered_json::array();
  for (const sim::OptionResult& funded : result.funded) {
    data["together"].push_back(funded.portfolio.value);
    data["funded"].push_back(
        {{"replayed", funded.replayed}, {"replay", replay_text(funded, result.base)}});
  }
  data["pairs"] = ordered_json::array();
  for (const sim::FeaturePair& pair : result.pairs) {
    data["pairs"].push_back({pair.first, pair.second, pair.gain});
  }
  data["subsets"] = ordered_json::array();
  for (const sim::SubsetGains& gains : result.subsets) {
    data["subsets"].push_back(ordered_json::array());
    for (const double gain : gains) {
      data["subsets"].back().push_back(gain);
    }
  }
  data["no_features"] = result.no_features;
}

}  // namespace

void write_report(const sim::Roadmap& roadmap, const sim::RoadmapResult& result,
                  const std::string& text, const std::filesystem::path& file) {
  ordered_json data = {{"title", file.stem().string()},
                       {"generated_by", "roofcast " + version()},
                       {"question", roadmap.question},
                       {"scenario", text}};
  data["workloads"] = ordered_json::array();
  for (std::size_t w = 0; w < roadmap.workloads.size(); ++w) {
    data["workloads"].push_back(workload_json(roadmap.workloads[w], result.base.outcomes[w]));
  }
  data["options"] = ordered_json::array();
  for (const sim::OptionResult& option : result.options) {
    data["options"].push_back(option_json(roadmap, option, result.base));
  }
  add_features(result, data);
  data["edge_notes"] = edge_notes(roadmap, result);
  data["replay_notes"] = replay_notes(roadmap, result);
  write_page(asset_roadmap_html(), {asset_row_charts_js(), asset_roadmap_js()}, data, file);
}

}  // namespace roofcast::cli
