// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/new_layers.hpp"

#include <map>
#include <utility>

#include "calibrate/fit/fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {
namespace {

// The pairs of a fit, by kind, are added.
void add_fit(const std::string& chip, const std::string& stack, const std::filesystem::path& tables,
             std::map<std::string, std::vector<Pair>>& pairs) {
  ChipPlatforms platforms;
  const sim::Platform* platform = platforms.find(chip, stack);
  FittedCalibration fitted;
  try {
    fitted = fit_calibration({chip, stack, {{}, tables}, Split::layers});
  } catch (const base::InputError&) {
    return;  // too few rows
  }
  if (!fitted.start.is_null()) {
    return;  // of few rows none is held back
  }
  for (const KindErrors& errors : fitted.kinds) {
    for (Pair pair : errors.pairs) {
      const Interval shipped = interval(pair.predicted, errors.kind, platform->system.calibration);
      pair.low = shipped.low;
      pair.high = shipped.high;
      pairs[errors.kind].push_back(pair);
    }
  }
}

}  // namespace

std::vector<NewLayers> new_layers(const std::filesystem::path& tables) {
  std::map<std::string, std::vector<Pair>> pairs;
  for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
    if (const auto dot = id.rfind('.'); dot != std::string::npos) {
      add_fit(id.substr(0, dot), id.substr(dot + 1), tables, pairs);
    }
  }
  std::vector<NewLayers> all;
  for (const std::string& kind : operator_kinds()) {
    if (has_layers(kind) && !pairs[kind].empty()) {
      all.push_back({kind, std::move(pairs[kind])});
    }
  }
  return all;
}

}  // namespace roofcast::calibrate
