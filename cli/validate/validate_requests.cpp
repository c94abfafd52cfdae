// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "base/statistics/quantile.hpp"
#include "calibrate/servers/request_runs.hpp"
#include "cli/pages/simulation_report.hpp"
#include "cli/tables/say.hpp"
#include "cli/tables/text_table.hpp"
#include "cli/text/exit_code.hpp"
#include "cli/text/json_answer.hpp"
#include "cli/validate/peer_comparison.hpp"
#include "cli/validate/validation.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kRejected = "longer than the model's context or than the KV cache";

// A run and its simulation: what was served in both.
struct RequestErrors {
  std::vector<calibrate::Pair> ttft;  // s
  std::vector<calibrate::Pair> tpot;
};

calibrate::Pair ttft_of(const calibrate::RequestPair& pair) {
  return {pair.measured.ttft() / base::second, pair.simulated.ttft() / base::second};
}
calibrate::Pair tpot_of(const calibrate::RequestPair& pair) {
  return {pair.tpot(pair.measured) / base::second, pair.tpot(pair.simulated) / base::second};
}

RequestErrors errors_of(const calibrate::Replay& replay) {
  RequestErrors errors;
  for (const calibrate::RequestPair& pair : replay.requests) {
    if (pair.rejected) {
      continue;
    }
    errors.ttft.push_back(ttft_of(pair));
    if (pair.output_tokens > 1) {
      errors.tpot.push_back(tpot_of(pair));
    }
  }
  return errors;
}

void add_row(TextTable& table, const std::string& name, double measured, double simulated,
             std::string_view unit) {
  const double error = simulated / measured - 1.0;
  table.add({name, display(measured, unit), display(simulated, unit), calibrate::percent(error)});
}

void add_times(TextTable& table, const std::string& name,
               const std::vector<calibrate::Pair>& pairs) {
  std::vector<double> measured;
  std::vector<double> simulated;
  for (const calibrate::Pair& pair : pairs) {
    measured.push_back(pair.measured);
    simulated.push_back(pair.predicted);
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  add_row(table, name + " mean", mean(measured), mean(simulated), "s");
  for (const auto& [label, q] : {std::pair{" p50", 0.5}, {" p90", 0.9}, {" p99", 0.99}}) {
    add_row(table, name + label, base::quantile(measured, q), base::quantile(simulated, q), "s");
  }
}

// From the first start to the last token.
void add_rates(TextTable& table, const calibrate::Replay& replay) {
  const auto duration = [&](calibrate::RequestTimes calibrate::RequestPair::*side) {
    base::Seconds first = base::Seconds::infinity();
    base::Seconds last = -first;
    for (const calibrate::RequestPair& pair : replay.requests) {
      if (!pair.rejected) {
        first = base::min(first, (pair.*side).start);
        last = base::max(last, (pair.*side).last_token);
      }
    }
    return last - first;
  };
  double requests = 0.0;
  double tokens = 0.0;
  for (const calibrate::RequestPair& pair : replay.requests) {
    requests += pair.rejected ? 0.0 : 1.0;
    tokens += pair.rejected ? 0.0 : static_cast<double>(pair.output_tokens);
  }
  const base::Seconds measured = duration(&calibrate::RequestPair::measured);
  const base::Seconds simulated = duration(&calibrate::RequestPair::simulated);
  const auto row = [&](const std::string& name, double count) {
    add_row(table, name, count / measured / base::hertz, count / simulated / base::hertz, "");
  };
  row("requests/s", requests);
  row("output tok/s", tokens);
}

void add_load(TextTable& table, const std::string& name, const calibrate::LoadDifference& load) {
  table.add({name, fmt::format("{:.1f}", load.measured), fmt::format("{:.1f}", load.simulated),
             fmt::format("{:.1f}", load.difference)});
}

std::string text_of(const calibrate::RequestRun& run) {
  return fmt::format("{} on {}, {} requests, TTFT from the {} on", run.model, run.chip,
                     run.requests.size(), run.one_clock ? "arrival" : "queue");
}

TextTable times_table(const calibrate::RequestRun& run, const calibrate::Replay& replay,
                      const RequestErrors& errors) {
  TextTable table({"", "measured", "simulated", "error"});
  add_times(table, "TTFT", errors.ttft);
  if (!errors.tpot.empty()) {
    add_times(table, "TPOT", errors.tpot);
  }
  add_rates(table, replay);
  if (run.cache_tokens) {
    add_row(table, "KV cache, tokens", static_cast<double>(*run.cache_tokens),
            static_cast<double>(replay.cache_tokens), "");
  }
  return table;
}

TextTable loads_table(const calibrate::Replay& replay) {
  TextTable loads({"each second", "measured", "simulated", "mean difference"});
  add_load(loads, "running", replay.running);
  add_load(loads, "waiting", replay.waiting);
  return loads;
}

void print_run(const calibrate::RequestRun& run, const calibrate::Replay& replay,
               const RequestErrors& errors) {
  say("{}: {}\n", run.name, text_of(run));
  if (!replay.reason.empty()) {
    say("not simulated: {}\n\n", replay.reason);
    return;
  }
  if (errors.ttft.empty()) {
    say("not simulated: every request is rejected\n\n");
    return;
  }
  say("{}\n", times_table(run, replay, errors).text());
  if (!run.loads.empty()) {
    say("{}\n", loads_table(replay).text());
  }
}

nlohmann::ordered_json json_of(const calibrate::RequestRun& run, const calibrate::Replay& replay,
                               const RequestErrors& errors) {
  nlohmann::ordered_json json = {{"run", run.name}, {"text", text_of(run)}};
  if (errors.ttft.empty()) {
    json["not_simulated"] =
        replay.reason.empty() ? std::string("every request is rejected") : replay.reason;
    return json;
  }
  json["tpot"] = error_json(calibrate::summarise(errors.tpot));
  json["ttft"] = error_json(calibrate::summarise(errors.ttft));
  json["times"] = json_rows(times_table(run, replay, errors));
  return json;
}

// Every request with its own columns, then what was compared.
std::vector<std::string> own_columns(std::span<const calibrate::RequestRun> runs) {
  std::vector<std::string> own;
  for (const calibrate::RequestRun& run : runs) {
    for (const std::string& column : run.columns) {
      if (std::find(own.begin(), own.end(), column) == own.end()) {
        own.push_back(column);
      }
    }
  }
  return own;
}

std::vector<std::string> request_columns(std::span<const calibrate::RequestRun> runs) {
  std::vector<std::string> columns = own_columns(runs);
  columns.insert(columns.begin(), "run");
  columns.insert(columns.end(), {"measured_ttft_s", "measured_tpot_s", "predicted_ttft_s",
                                 "predicted_tpot_s", "provenance", "reason"});
  return columns;
}

void write_requests(base::CsvWriter& csv, const std::vector<std::string>& own,
                    const calibrate::RequestRun& run, const calibrate::Replay& replay) {
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    csv.append(run.name);
    for (const std::string& column : own) {
      const auto found = std::find(run.columns.begin(), run.columns.end(), column);
      csv.append(
          found == run.columns.end()
              ? std::string_view()
              : run.requests[i].cells[static_cast<std::size_t>(found - run.columns.begin())]);
    }
    const bool replayed = replay.reason.empty();
    const bool served = replayed && !replay.requests[i].rejected;
    const calibrate::RequestPair pair = replayed ? replay.requests[i] : calibrate::RequestPair{};
    const calibrate::Pair ttft = ttft_of(pair);
    const calibrate::Pair tpot = tpot_of(pair);
    csv.append(replayed ? ttft.measured : NAN);
    csv.append(replayed ? tpot.measured : NAN);
    csv.append(served ? ttft.predicted : NAN);
    csv.append(served ? tpot.predicted : NAN);
    csv.append(served ? hardware::name(run.platform->system.provenance()) : "");
    csv.append(replayed && !served ? kRejected : replay.reason);
    csv.end_row();
  }
}

// The loads by second, as a simulation tells them; NaN where none was recorded.
ServedSide measured_side(const calibrate::RequestRun& run, const RequestErrors& errors) {
  ServedSide side;
  side.name = "measured";
  for (const auto& [pairs, times] :
       {std::pair{&errors.ttft, &side.ttft}, {&errors.tpot, &side.tpot}}) {
    for (const calibrate::Pair& pair : *pairs) {
      times->push_back(pair.measured * base::second);
    }
  }
  const auto seconds = [&](double calibrate::MeasuredLoad::*what) {
    std::vector<double> values;
    bool any = false;
    for (const calibrate::MeasuredLoad& load : run.loads) {
      const auto second =
          static_cast<std::size_t>(std::max(std::ceil(load.time / base::second) - 1.0, 0.0));
      values.resize(std::max(values.size(), second + 1), NAN);
      values[second] = load.*what;
      any = any || std::isfinite(load.*what);
    }
    return any ? values : std::vector<double>();
  };
  side.running = seconds(&calibrate::MeasuredLoad::running);
  side.waiting = seconds(&calibrate::MeasuredLoad::waiting);
  side.cache = seconds(&calibrate::MeasuredLoad::cache);
  side.output = seconds(&calibrate::MeasuredLoad::output_rate);
  return side;
}

void write_seconds(base::CsvWriter& csv, const ServedSide& measured, const ServedSide& simulated) {
  for (std::size_t second = 0; second < std::max(measured.running.size(), simulated.running.size());
       ++second) {
    csv.append(second);
    for (const auto what :
         {&ServedSide::running, &ServedSide::waiting, &ServedSide::cache, &ServedSide::output}) {
      for (const ServedSide* side : {&measured, &simulated}) {
        const std::vector<double>& values = side->*what;
        csv.append(second < values.size() ? values[second] : NAN);
      }
    }
    csv.end_row();
  }
}

void add_run(ServedReport& report, const calibrate::RequestRun& run,
             const calibrate::Replay& replay, const RequestErrors& errors) {
  if (errors.ttft.empty()) {
    report.notes.push_back(
        fmt::format("{}: not simulated: {}", run.name,
                    replay.reason.empty() ? "every request is rejected" : replay.reason));
    return;
  }
  ServedRun page;
  page.name = run.name;
  page.text = text_of(run) + ".";
  page.tables.push_back(times_table(run, replay, errors));
  if (!run.loads.empty()) {
    page.tables.push_back(loads_table(replay));
  }
  std::vector<base::Seconds> ttft;
  std::vector<base::Seconds> tpot;
  for (const auto& [pairs, times] : {std::pair{&errors.ttft, &ttft}, {&errors.tpot, &tpot}}) {
    for (const calibrate::Pair& pair : *pairs) {
      times->push_back(pair.predicted * base::second);
    }
  }
  page.sides = {measured_side(run, errors), simulated_side(ttft, tpot, replay.seconds)};
  page.sides.back().busy.clear();
  const std::span<const calibrate::RequestRun> one(&run, 1);
  add_file(report, page, "requests.csv", run.requests.size(), request_columns(one),
           [&](base::CsvWriter& csv) { write_requests(csv, own_columns(one), run, replay); });
  add_file(report, page, "timeline.csv", replay.seconds.size(),
           {"second", "measured_running", "simulated_running", "measured_waiting",
            "simulated_waiting", "measured_cache_share", "simulated_cache_share",
            "measured_output_tokens", "simulated_output_tokens"},
           [&](base::CsvWriter& csv) { write_seconds(csv, page.sides[0], page.sides[1]); });
  report.runs.push_back(std::move(page));
}

// "request_id", which --against finds the rows by.
std::size_t id_column(const calibrate::RequestRun& run) {
  const auto found = std::find(run.columns.begin(), run.columns.end(), "request_id");
  if (found == run.columns.end()) {
    throw base::InputError(fmt::format(
        "{}: error: its requests have no \"request_id\", which --against finds them by\n",
        run.name));
  }
  return static_cast<std::size_t>(found - run.columns.begin());
}

void compare(PeerComparison& peer, const calibrate::RequestRun& run,
             const calibrate::Replay& replay) {
  const std::size_t id = id_column(run);
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    calibrate::Pair ttft{NAN, NAN};
    calibrate::Pair tpot{NAN, NAN};
    std::string reason = replay.reason;
    if (reason.empty() && replay.requests[i].rejected) {
      reason = kRejected;
    } else if (reason.empty()) {
      const calibrate::RequestPair& pair = replay.requests[i];
      ttft = ttft_of(pair);
      tpot = tpot_of(pair);
    }
    peer.add({run.name, run.requests[i].cells[id]}, {ttft, tpot}, reason);
  }
}

}  // namespace

int validate_requests(const ValidationOptions& options) {
  if (!options.where.empty()) {
    throw base::InputError("error: --where is of tables; requests are simulated together\n");
  }
  calibrate::ChipPlatforms platforms(options.calibration, options.unmeasured());
  std::vector<calibrate::RequestRun> runs;
  for (const std::filesystem::path& directory : calibrate::request_runs(options.data)) {
    runs.push_back(calibrate::read_request_run(directory, platforms));
  }
  std::unique_ptr<base::CsvWriter> out;
  if (!options.out.empty()) {
    out = std::make_unique<base::CsvWriter>(std::filesystem::path(options.out),
                                            request_columns(runs));
  }
  ServedReport report;
  report.question = "Measured requests, and the same requests simulated";
  PeerComparison peer(options.against, {"run", "request_id"},
                      {"predicted_ttft_s", "predicted_tpot_s"});
  RequestErrors all;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t requests = 0;
  for (const calibrate::RequestRun& run : runs) {
    const calibrate::Replay replay = calibrate::replay(run);
    const RequestErrors errors = errors_of(replay);
    if (options.json == nullptr) {
      print_run(run, replay, errors);
    } else {
      (*options.json)["runs"].push_back(json_of(run, replay, errors));
    }
    if (out != nullptr) {
      write_requests(*out, own_columns(runs), run, replay);
    }
    if (!options.report.empty()) {
      add_run(report, run, replay, errors);
    }
    if (!options.against.empty()) {
      compare(peer, run, replay);
    }
    const std::size_t skipped = run.requests.size() - errors.ttft.size();
    if (skipped > 0) {
      skipped_by_reason[replay.reason.empty() ? kRejected : replay.reason] += skipped;
    }
    requests += run.requests.size();
    all.ttft.insert(all.ttft.end(), errors.ttft.begin(), errors.ttft.end());
    all.tpot.insert(all.tpot.end(), errors.tpot.begin(), errors.tpot.end());
  }
  if (out != nullptr) {
    out->close();
  }
  if (!options.report.empty()) {
    write_report(report, options.report);
  }
  if (options.json != nullptr) {
    (*options.json)["all"] = {{"tpot", error_json(calibrate::summarise(all.tpot))},
                              {"ttft", error_json(calibrate::summarise(all.ttft))}};
    (*options.json)["not_predicted"] = skipped_by_reason;
    (*options.json)["against"] = peer.text();
    return kDone;
  }
  say("{}{}", skipped_table(skipped_by_reason), peer.text());
  for (const auto& [name, pairs] : {std::pair{"tpot", &all.tpot}, {"ttft", &all.ttft}}) {
    say("{}\n",
        calibrate::summary_line(name, calibrate::summarise(*pairs), requests - pairs->size()));
  }
  return kDone;
}

}  // namespace roofcast::cli
