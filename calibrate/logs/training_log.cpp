// SPDX-License-Identifier: Apache-2.0
#include "calibrate/logs/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/csv/csv.hpp"
#include "base/statistics/quantile.hpp"
#include "base/units/quantity.hpp"
#include "calibrate/logs/measured_log.hpp"
#include "calibrate/logs/refuse.hpp"

namespace roofcast::calibrate {
namespace {

struct Figure {
  std::string_view label;   // in the line of an iteration
  std::string_view metric;  // a column of sim/result/metrics.hpp
  double unit;              // SI
};
constexpr Figure kFigures[] = {
    {"elapsed time per iteration (ms)", "step_s", 1e-3},
    {"throughput per GPU (TFLOP/s/GPU)", "model_flop_per_s_per_gpu", base::tera},
    {"power per GPU (W/GPU)", "power_w_per_gpu", 1.0},
};

constexpr std::pair<std::string_view, std::string_view> kArguments[] = {
    {"tensor_model_parallel_size", "deployment.tensor_parallel"},
    {"pipeline_model_parallel_size", "deployment.pipeline_parallel"},
    {"context_parallel_size", "deployment.context_parallel"},
    {"expert_model_parallel_size", "deployment.expert_parallel"},
    {"data_parallel_size", "deployment.data_parallel"},
    {"global_batch_size", "training.global_batch"},
    {"micro_batch_size", "training.micro_batch"},
    {"seq_length", "training.sequence_length"},
    {"virtual_pipeline_model_parallel_size", "training.virtual_stages"},
};

// The number behind "label:" in a line of parts between bars.
std::optional<double> figure(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = line.substr(at + label.size());
  rest = rest.substr(0, rest.find('|'));
  const std::size_t colon = rest.find(':');
  return colon == std::string_view::npos ? std::nullopt : number_of(rest.substr(colon + 1));
}

// Of "  micro_batch_size ................................ 1": a name, dots, a whole number.
std::optional<TrainingLog::Setting> argument(std::string_view line) {
  const auto known =
      std::find_if(std::begin(kArguments), std::end(kArguments), [&](const auto& each) {
        return line.starts_with(each.first) && line.substr(each.first.size()).starts_with(" ..");
      });
  if (known == std::end(kArguments)) {
    return std::nullopt;
  }
  const auto value = number_of(line.substr(line.find_last_of(' ') + 1));
  return value ? std::optional(TrainingLog::Setting{std::string(known->second),
                                                    std::to_string(std::llround(*value))})
               : std::nullopt;
}

}  // namespace

TrainingLog read_training_log(const std::filesystem::path& file) {
  const std::string text = base::read_text(file);
  TrainingLog log;
  log.name = file.string();
  std::map<std::string_view, std::vector<double>> values;
  std::optional<double> batch;
  for (const LogLine& line : log_lines(text)) {
    if (const auto setting = argument(line.text)) {
      log.settings.push_back(*setting);
    }
    if (line.text.find(kFigures[0].label) == std::string_view::npos) {
      continue;
    }
    batch = figure(line.text, "global batch size").has_value()
                ? figure(line.text, "global batch size")
                : batch;
    for (const Figure& each : kFigures) {
      if (const auto value = figure(line.text, each.label)) {
        if (&each == &kFigures[0] && !(*value > 0.0 && std::isfinite(*value))) {
          refuse(fmt::format("{}:{}", log.name, line.number),
                 fmt::format("an iteration that takes {:g} ms", *value));
        }
        values[each.metric].push_back(each.unit * *value);
      }
    }
  }
  if (values[kFigures[0].metric].empty()) {
    refuse(log.name, "no line of an iteration with its elapsed time");
  }
  for (const Figure& each : kFigures) {
    std::vector<double>& own = values[each.metric];
    if (own.size() > 1) {
      own.erase(own.begin());
    }
    if (!own.empty()) {
      log.metrics.push_back({std::string(each.metric), base::quantile(own, 0.5)});
    }
  }
  log.lines = values[kFigures[0].metric].size();
  const bool told = std::any_of(log.settings.begin(), log.settings.end(), [](const auto& setting) {
    return setting.knob == "training.global_batch";
  });
  if (batch && !told) {
    log.settings.push_back({"training.global_batch", std::to_string(std::llround(*batch))});
  }
  return log;
}

}  // namespace roofcast::calibrate
