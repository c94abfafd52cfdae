// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate/parameters_page.hpp"

#include <fmt/format.h>

#include "calibrate/fit/parameter_fit.hpp"
#include "calibrate/fit/parameter_spread.hpp"
#include "cli/catalog/calibration_table.hpp"

namespace roofcast::cli {
namespace {

using calibrate::FittedOn;
using calibrate::ParameterSpread;
using calibrate::PlacedParameter;

constexpr std::string_view kIntroduction = R"(# Parameters of the calibrations

Written by `roofcast calibrate parameters -o docs/parameters.md` from the shipped calibrations; do not edit by hand.
[calibration.md](calibration.md) says how they are fitted.

## What they mean, and how far they range

A fit keeps the generic value where its rows do not place the parameter apart from it. *Placed* is in how many of the
{} fitted calibrations they do; least and most are over all of these. A *trip* is one DRAM latency.

| parameter | meaning | generic | least | most | placed |
|---|---|---:|---:|---:|---:|
)";

constexpr std::string_view kUncertainty = R"(
## How well each chip and stack places them

± with 90 % confidence, were rows independent: a share of the value, or of the generic one if that is more. A dash: the generic
value stays.

)";

constexpr std::string_view kRows = R"(
## What they were fitted on

Rows of the tables in `calibrate/measurements/ops`, those that judge the fit among them. The hash is of what they say, in any
order ([calibration.md](calibration.md#rows-of-your-own)).

| calibration | rows |
|---|---|
)";

std::string uncertainty_percent(double uncertainty) {
  return calibrate::percent_text(uncertainty) + " %";
}

const PlacedParameter* placed_by(const ParameterSpread& spread, const std::string& calibration) {
  for (const PlacedParameter& placed : spread.placed) {
    if (placed.calibration == calibration) {
      return &placed;
    }
  }
  return nullptr;
}

std::string loose() {
  std::string text = fmt::format(
      "\n## Placed to no better than ± {:.0f} %\n\nThe rows move these away from the generic "
      "value, "
      "but tell them no better than that. They are fixed at what was\nfound, one by one and the "
      "loosest first, and the rest is fitted again.\n\n"
      "| calibration | parameter | generic | fixed at | ± |\n|---|---|---:|---:|---:|\n",
      100.0 * calibrate::kLoose);
  for (const FittedOn& fitted : calibrate::fitted_calibrations()) {
    for (const ParameterSpread& spread : calibrate::parameter_spreads()) {
      for (const PlacedParameter& p : spread.placed) {
        if (p.fixed && p.calibration == fitted.calibration) {
          text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", p.calibration, spread.path,
                              spread.generic, p.text, uncertainty_percent(p.uncertainty));
        }
      }
    }
  }
  return text;
}

}  // namespace

std::string parameters_page() {
  std::string page =
      fmt::format(fmt::runtime(kIntroduction), calibrate::fitted_calibrations().size());
  for (const ParameterSpread& spread : calibrate::parameter_spreads()) {
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", spread.path, meaning_of(spread.path),
                        spread.generic, spread.least, spread.most, spread.placed.size());
  }
  page += kUncertainty;
  page += "| parameter |";
  std::string line = "\n|---|";
  for (const FittedOn& fitted : calibrate::fitted_calibrations()) {
    page += fmt::format(" {} |", fitted.calibration);
    line += "---:|";
  }
  page += line + "\n";
  for (const ParameterSpread& spread : calibrate::parameter_spreads()) {
    if (spread.placed.empty()) {
      continue;
    }
    page += fmt::format("| `{}` |", spread.path);
    for (const FittedOn& fitted : calibrate::fitted_calibrations()) {
      const PlacedParameter* placed = placed_by(spread, fitted.calibration);
      page +=
          fmt::format(" {} |", placed == nullptr ? "–" : uncertainty_percent(placed->uncertainty));
    }
    page += "\n";
  }
  page += loose();
  page += kRows;
  for (const FittedOn& fitted : calibrate::fitted_calibrations()) {
    page += fmt::format("| `{}` | {} |\n", fitted.calibration, fitted.rows);
  }
  return page;
}

}  // namespace roofcast::cli
