// SPDX-License-Identifier: Apache-2.0
#include "cli/validate/validate_speculation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/tables/text_table.hpp"

namespace roofcast::cli {

void SpeculationErrors::add(const calibrate::MeasuredServer& measured,
                            const calibrate::ServerForecast& without, sim::Workspace& workspace) {
  calibrate::MeasuredServer speculating = measured;
  speculating.serving = measured.speculating.value();
  const calibrate::ServerForecast with = calibrate::forecast(speculating, workspace);
  if (!with.predicted()) {
    return;
  }
  const auto error = [&](const calibrate::ServerForecast& forecast) {
    return std::abs(std::log(forecast.tpot_ms / measured.tpot_ms));
  };
  for (Group* group : {&groups_[{measured.chip, measured.stack}], &all_}) {
    group->without.push_back({measured.tpot_ms, without.tpot_ms});
    group->with.push_back({measured.tpot_ms, with.tpot_ms});
    group->better += error(with) < error(without) ? 1U : 0U;
  }
}

std::string SpeculationErrors::text() const {
  if (all_.with.empty()) {
    return {};
  }
  TextTable table({"may speculate: chip", "stack", "rows", "tpot median without", "bias",
                   "with mtp", "bias", "nearer with"});
  const auto add = [&](const std::string& chip, const std::string& stack, const Group& group) {
    const calibrate::ErrorSummary without = calibrate::summarise(group.without);
    const calibrate::ErrorSummary with = calibrate::summarise(group.with);
    table.add(
        {chip, stack, fmt::format("{}", with.rows), calibrate::percent(without.median),
         calibrate::percent(without.bias), calibrate::percent(with.median),
         calibrate::percent(with.bias),
         calibrate::percent(static_cast<double>(group.better) / static_cast<double>(with.rows))});
  };
  for (const auto& [key, group] : groups_) {
    add(key.first, key.second, group);
  }
  add("all", "", all_);
  return table.text() + "\n";
}

}  // namespace roofcast::cli
