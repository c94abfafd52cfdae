// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/request_runs.hpp"
#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "cli/validation.hpp"

namespace roofcast::cli {
namespace {

constexpr const char* kRejected = "longer than the model's context or than the KV cache";

// A run and its simulation: what was served in both.
struct Errors {
  std::vector<calibrate::Pair> ttft;  // s
  std::vector<calibrate::Pair> tpot;
};

Errors errors_of(const calibrate::Replay& replay) {
  Errors errors;
  for (const calibrate::RequestPair& pair : replay.requests) {
    if (pair.rejected) {
      continue;
    }
    errors.ttft.push_back({pair.measured.ttft(), pair.simulated.ttft()});
    if (pair.output_tokens > 1) {
      errors.tpot.push_back({pair.tpot(pair.measured), pair.tpot(pair.simulated)});
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
    add_row(table, name + label, calibrate::quantile(measured, q),
            calibrate::quantile(simulated, q), "s");
  }
}

// From the first start to the last token.
void add_rates(TextTable& table, const calibrate::Replay& replay) {
  const auto duration = [&](calibrate::RequestTimes calibrate::RequestPair::*side) {
    double first = INFINITY;
    double last = -INFINITY;
    for (const calibrate::RequestPair& pair : replay.requests) {
      if (!pair.rejected) {
        first = std::min(first, (pair.*side).start);
        last = std::max(last, (pair.*side).last_token);
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
  const double measured = duration(&calibrate::RequestPair::measured);
  const double simulated = duration(&calibrate::RequestPair::simulated);
  add_row(table, "requests/s", requests / measured, requests / simulated, "");
  add_row(table, "output tok/s", tokens / measured, tokens / simulated, "");
}

void add_load(TextTable& table, const std::string& name, const calibrate::LoadDifference& load) {
  table.add({name, fmt::format("{:.1f}", load.measured), fmt::format("{:.1f}", load.simulated),
             fmt::format("{:.1f}", load.difference)});
}

void print_run(const calibrate::RequestRun& run, const calibrate::Replay& replay,
               const Errors& errors) {
  fmt::print("{}: {} on {}, {} requests, TTFT from the {} on\n", run.name, run.model, run.chip,
             run.requests.size(), run.one_clock ? "arrival" : "queue");
  if (!replay.reason.empty()) {
    fmt::print("not simulated: {}\n\n", replay.reason);
    return;
  }
  if (errors.ttft.empty()) {
    fmt::print("not simulated: every request is rejected\n\n");
    return;
  }
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
  fmt::print("{}\n", table.text());
  if (!run.loads.empty()) {
    TextTable loads({"each second", "measured", "simulated", "mean difference"});
    add_load(loads, "running", replay.running);
    add_load(loads, "waiting", replay.waiting);
    fmt::print("{}\n", loads.text());
  }
}

// Every request with its own columns, then what was compared.
class RequestErrorsFile {
 public:
  RequestErrorsFile(const std::string& file, const std::vector<calibrate::RequestRun>& runs) {
    if (file.empty()) {
      return;
    }
    for (const calibrate::RequestRun& run : runs) {
      for (const std::string& column : run.columns) {
        if (std::find(own_.begin(), own_.end(), column) == own_.end()) {
          own_.push_back(column);
        }
      }
    }
    std::vector<std::string> columns = {"run"};
    columns.insert(columns.end(), own_.begin(), own_.end());
    columns.insert(columns.end(), {"measured_ttft_s", "measured_tpot_s", "predicted_ttft_s",
                                   "predicted_tpot_s", "provenance", "reason"});
    csv_ = std::make_unique<base::CsvWriter>(std::filesystem::path(file), columns);
  }

  void add(const calibrate::RequestRun& run, const calibrate::Replay& replay) {
    for (std::size_t i = 0; csv_ != nullptr && i < run.requests.size(); ++i) {
      csv_->append(run.name);
      for (const std::string& column : own_) {
        const auto found = std::find(run.columns.begin(), run.columns.end(), column);
        csv_->append(
            found == run.columns.end()
                ? std::string_view()
                : run.requests[i].cells[static_cast<std::size_t>(found - run.columns.begin())]);
      }
      const bool replayed = replay.reason.empty();
      const bool served = replayed && !replay.requests[i].rejected;
      const calibrate::RequestPair pair = replayed ? replay.requests[i] : calibrate::RequestPair{};
      csv_->append(replayed ? pair.measured.ttft() : NAN);
      csv_->append(replayed ? pair.tpot(pair.measured) : NAN);
      csv_->append(served ? pair.simulated.ttft() : NAN);
      csv_->append(served ? pair.tpot(pair.simulated) : NAN);
      csv_->append(served ? hardware::name(run.platform->system.provenance()) : "");
      csv_->append(replayed && !served ? kRejected : replay.reason);
      csv_->end_row();
    }
  }

  void close() {
    if (csv_ != nullptr) {
      csv_->close();
    }
  }

 private:
  std::vector<std::string> own_;
  std::unique_ptr<base::CsvWriter> csv_;
};

}  // namespace

int validate_requests(const ValidationOptions& options) {
  if (!options.where.empty()) {
    throw base::InputError("error: --where is of tables; requests are simulated together\n");
  }
  calibrate::ChipPlatforms platforms(options.calibration, options.measured());
  std::vector<calibrate::RequestRun> runs;
  for (const std::filesystem::path& directory : calibrate::request_runs(options.data)) {
    runs.push_back(calibrate::read_request_run(directory, platforms));
  }
  RequestErrorsFile out(options.out, runs);
  Errors all;
  std::map<std::string, std::size_t> skipped_by_reason;
  std::size_t requests = 0;
  for (const calibrate::RequestRun& run : runs) {
    const calibrate::Replay replay = calibrate::replay(run);
    const Errors errors = errors_of(replay);
    print_run(run, replay, errors);
    out.add(run, replay);
    const std::size_t skipped = run.requests.size() - errors.ttft.size();
    if (skipped > 0) {
      skipped_by_reason[replay.reason.empty() ? kRejected : replay.reason] += skipped;
    }
    requests += run.requests.size();
    all.ttft.insert(all.ttft.end(), errors.ttft.begin(), errors.ttft.end());
    all.tpot.insert(all.tpot.end(), errors.tpot.begin(), errors.tpot.end());
  }
  out.close();
  fmt::print("{}", skipped_table(skipped_by_reason));
  for (const auto& [name, pairs] : {std::pair{"tpot", &all.tpot}, {"ttft", &all.ttft}}) {
    fmt::print("{}\n", calibrate::summary_line(name, calibrate::summarise(*pairs),
                                               requests - pairs->size()));
  }
  return kDone;
}

}  // namespace roofcast::cli
