// SPDX-License-Identifier: Apache-2.0
#include "calibrate/accuracy/new_layers.hpp"

#include <algorithm>

#include "calibrate/fit/fit.hpp"
#include "calibrate/operators/operator_rows.hpp"
#include "calibrate/operators/predict.hpp"
#include "calibrate/platforms/chip_platforms.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {
namespace {

// The pairs of a fit are added to their kinds.
void add_fit(const std::string& chip, const std::string& stack, const std::filesystem::path& tables,
             std::vector<NewLayers>& all) {
  ChipPlatforms platforms;
  const sim::Platform* platform = platforms.find_timed(chip, stack);
  FittedCalibration fitted;
  try {
    fitted = fit_calibration({chip, stack, {{}, tables}, Split::layers});
  } catch (const base::InputError&) {
    return;  // too few rows
  }
  if (!fitted.start.is_null()) {
    return;  // of few rows none is held back
  }
  for (NewLayers& layers : all) {
    const auto errors = std::find_if(fitted.kinds.begin(), fitted.kinds.end(),
                                     [&](const KindErrors& e) { return e.kind == layers.kind; });
    if (errors == fitted.kinds.end() || errors->pairs.empty()) {
      continue;
    }
    for (Pair pair : errors->pairs) {
      const Interval shipped = interval(pair.predicted, layers.kind, platform->system.calibration);
      pair.low = shipped.low;
      pair.high = shipped.high;
      layers.pairs[{chip, stack}].push_back(pair);
    }
  }
}

}  // namespace

std::vector<NewLayers> new_layers(const std::filesystem::path& tables) {
  std::vector<NewLayers> all;
  for (const std::string& kind : operator_kinds()) {
    if (has_layers(kind)) {
      all.push_back({kind, {}});
    }
  }
  for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
    if (const auto dot = id.rfind('.'); dot != std::string::npos) {
      add_fit(id.substr(0, dot), id.substr(dot + 1), tables, all);
    }
  }
  return all;
}

}  // namespace roofcast::calibrate
