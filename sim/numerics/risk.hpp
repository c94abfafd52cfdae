// SPDX-License-Identifier: Apache-2.0
//
// The verdict of one rule about number formats (sim/numerics/numerics.hpp).
#pragma once

#include <string>
#include <string_view>

namespace roofcast::sim {

struct NumericRisk {
  std::string_view rule;
  std::string what;       // the part of the scenario
  std::string quantity;   // what the figure is
  std::string_view unit;  // "share", "parameters", "tokens"; empty: a plain number
  double figure = 0.0;
  double threshold = 0.0;
  bool at_risk = false;
  std::string reason;
  std::string remedy;  // empty if there is no risk
  std::string cost;    // of the remedy, in this scenario
  std::string source;
};

}  // namespace roofcast::sim
