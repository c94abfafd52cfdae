// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/simulation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/assets/asset.hpp"
#include "cli/pages/html_page.hpp"
#include "cli/provenance/version.hpp"
#include "sim/replay/simulation_summary.hpp"

namespace roofcast::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRequestRows = 20'000;   // of a table that can be saved
constexpr std::size_t kMostRequestPoints = 2'000;  // of a curve

// The values in order; of many, as many quantiles.
ordered_json distribution(std::vector<base::Seconds> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = std::min(values.size(), kMostRequestPoints);
  ordered_json json = ordered_json::array();
  for (std::size_t i = 0; i < count; ++i) {
    json.push_back(values[(2 * i + 1) * values.size() / (2 * count)].si());
  }
  return json;
}

// Means of `step` seconds each.
ordered_json curve(const std::vector<double>& seconds, std::size_t step) {
  ordered_json json = ordered_json::array();
  for (std::size_t first = 0; first < seconds.size(); first += step) {
    const std::size_t last = std::min(first + step, seconds.size());
    double sum = 0.0;
    for (std::size_t i = first; i < last; ++i) {
      sum += seconds[i];
    }
    json.push_back(sum / static_cast<double>(last - first));
  }
  return json;
}

// p50, p90, p95 and p99; none without values.
ordered_json quantiles(const std::vector<base::Seconds>& values) {
  const sim::SimulatedTimes times = sim::times_of(values);
  return values.empty()
             ? ordered_json::array()
             : ordered_json{times.p50.si(), times.p90.si(), times.p95.si(), times.p99.si()};
}

ordered_json limit(const std::optional<base::Seconds>& time) {
  return time ? ordered_json(time->si()) : ordered_json();
}

ordered_json side_json(const ServedSide& side, std::size_t step) {
  return {{"name", side.name},
          {"ttft", distribution(side.ttft)},
          {"tpot", distribution(side.tpot)},
          {"quantiles", {{"ttft", quantiles(side.ttft)}, {"tpot", quantiles(side.tpot)}}},
          {"running", curve(side.running, step)},
          {"waiting", curve(side.waiting, step)},
          {"cache", curve(side.cache, step)},
          {"output", curve(side.output, step)},
          {"busy", curve(side.busy, step)}};
}

ordered_json run_json(const ServedRun& run) {
  ordered_json json = {{"name", run.name}, {"text", run.text}, {"start", run.start}};
  std::size_t seconds = 0;
  for (const ServedSide& side : run.sides) {
    seconds = std::max({seconds, side.running.size(), side.output.size()});
  }
  const std::size_t step = seconds / kMostRequestPoints + 1;
  json["seconds_per_point"] = step;
  json["limits"] = {{"ttft", limit(run.ttft_limit)}, {"tpot", limit(run.tpot_limit)}};
  json["requests_per_s"] = run.requests_per_s;
  json["facts"] = ordered_json::array();
  for (const auto& [label, text] : run.facts) {
    json["facts"].push_back({label, text});
  }
  json["tables"] = ordered_json::array();
  for (const TextTable& table : run.tables) {
    json["tables"].push_back(table.rows());
  }
  json["sides"] = ordered_json::array();
  for (const ServedSide& side : run.sides) {
    json["sides"].push_back(side_json(side, step));
  }
  json["files"] = ordered_json::array();
  for (const ReportFile& file : run.files) {
    json["files"].push_back({{"name", file.name}, {"text", file.text}});
  }
  return json;
}

}  // namespace

ServedSide simulated_side(const std::vector<base::Seconds>& ttft,
                          const std::vector<base::Seconds>& tpot,
                          const std::vector<sim::SimulatedSecond>& seconds) {
  ServedSide side{"simulated", ttft, tpot, {}, {}, {}, {}, {}};
  for (const sim::SimulatedSecond& second : seconds) {
    side.running.push_back(second.running);
    side.waiting.push_back(second.waiting);
    side.cache.push_back(second.cache);
    side.output.push_back(static_cast<double>(second.output_tokens));
    side.busy.push_back(second.busy);
  }
  return side;
}

void add_file(ServedReport& report, ServedRun& run, const std::string& name, std::size_t rows,
              const std::vector<std::string>& columns,
              const std::function<void(base::CsvWriter&)>& write) {
  if (rows > kMostRequestRows) {
    report.notes.push_back(fmt::format(
        "{} has {} rows, more than this page holds: write it to a file of its own.", name, rows));
    return;
  }
  std::ostringstream text;
  base::CsvWriter csv(text, columns);
  write(csv);
  csv.close();
  run.files.push_back({name, text.str()});
}

void write_report(const ServedReport& report, const std::filesystem::path& file) {
  ordered_json data = {{"title", file.stem().string()},
                       {"generated_by", "roofcast " + version()},
                       {"question", report.question},
                       {"scenario", report.scenario},
                       {"notes", report.notes}};
  data["runs"] = ordered_json::array();
  for (const ServedRun& run : report.runs) {
    data["runs"].push_back(run_json(run));
  }
  write_page(asset_simulation_html(), {asset_simulation_js()}, data, file);
}

}  // namespace roofcast::cli
