// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit/parameter_spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv/csv.hpp"
#include "calibrate/fit/candidates.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::calibrate {
namespace {

using base::Node;

struct Overlay {
  std::string id;
  Node document;
};

const std::vector<Overlay>& overlays() {
  static const std::vector<Overlay> all = [] {
    std::vector<Overlay> found;
    for (const std::string& id : base::catalog_ids(hardware::calibration_catalog())) {
      if (id.find('.') != std::string::npos) {
        found.push_back({id, base::load_entry(hardware::calibration_catalog(), id)});
      }
    }
    return found;
  }();
  return all;
}

PlacedParameter placed_by(const Overlay& overlay, const std::string& path,
                          const std::string& value) {
  PlacedParameter placed{overlay.id, value};
  const Node* list = overlay.document.find("uncertainty");
  for (const Node& item : list == nullptr ? std::vector<Node>() : list->items) {
    const Node* parameter = item.find("parameter");
    const Node* percent = item.find("percent");
    if (parameter != nullptr && percent != nullptr && parameter->text == path) {
      placed.uncertainty = base::parse_number(percent->text).value_or(0.0) / 100.0;
      placed.fixed = item.find("fixed") != nullptr;
    }
  }
  return placed;
}

double deviation_of(const std::vector<double>& values) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    if (!(value > 0.0)) {
      return 0.0;
    }
    sum += std::log(value);
    squares += std::log(value) * std::log(value);
  }
  const auto n = static_cast<double>(values.size());
  return n < 2.0 ? 0.0 : std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1.0)));
}

ParameterSpread spread_of(const Candidate& candidate, const Node& generic) {
  ParameterSpread spread;
  spread.path = candidate.path;
  spread.generic = generic.find_path(candidate.path)->text;
  spread.least = spread.most = spread.generic;
  std::vector<double> values;
  for (const Overlay& overlay : overlays()) {
    const Node* own = overlay.document.find(candidate.path);
    const std::string& text = own == nullptr ? spread.generic : own->text;
    const double value = candidate.value_of(text);
    if (own != nullptr) {
      spread.placed.push_back(placed_by(overlay, candidate.path, text));
    }
    spread.least = value < candidate.value_of(spread.least) ? text : spread.least;
    spread.most = value > candidate.value_of(spread.most) ? text : spread.most;
    values.push_back(value);
  }
  spread.deviation = deviation_of(values);
  return spread;
}

}  // namespace

const std::vector<ParameterSpread>& parameter_spreads() {
  static const std::vector<ParameterSpread> all = [] {
    const Node generic = base::load_entry(hardware::calibration_catalog(), "generic");
    std::vector<ParameterSpread> found;
    for (const Candidate& candidate : all_candidates()) {
      if (generic.find_path(candidate.path) != nullptr) {
        found.push_back(spread_of(candidate, generic));
      }
    }
    return found;
  }();
  return all;
}

std::string percent_text(double share) {
  return share < 0.1 ? fmt::format("{:.2g}", 100.0 * share) : fmt::format("{:.0f}", 100.0 * share);
}

const std::vector<FittedOn>& fitted_calibrations() {
  static const std::vector<FittedOn> all = [] {
    std::vector<FittedOn> found;
    for (const Overlay& overlay : overlays()) {
      const Node* rows = overlay.document.find("fitted_on");
      found.push_back({overlay.id, rows == nullptr ? "" : rows->text});
    }
    return found;
  }();
  return all;
}

}  // namespace roofcast::calibrate
