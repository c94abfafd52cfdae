// SPDX-License-Identifier: Apache-2.0
//
// How far measurements of operators are from forecasts, and from each other: hardware/spreads/operators.yaml.
//
// The errors of a calibration are of rows that one laboratory measured. Whoever measures the same operators on a GPU of
// their own gets other times: another GPU of the kind, other libraries, another way to time. A forecast's 90 % interval is of
// anybody's measurement, so it contains both. In the logarithm, its half-width on each side is
//
//   √(rows² + repeated²)
//
//   rows      –  of the rows that the fit did not see (KindError), or of another architecture's
//   repeated  –  90 % quantile of |ln(one measurement / another)| over shapes that two laboratories measured; 0 for kinds
//                that nobody measured twice
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/catalog.hpp"
#include "hardware/calibration.hpp"

namespace roofcast::hardware {

// Half-widths of ln(measured / predicted) between unrelated architectures, by the architecture that they do not know.
struct ArchitectureSpread {
  std::string unmeasured;  // "blackwell"; "none" where all that are measured are known
  std::string kind;        // of operators
  double below = 0.0;
  double above = 0.0;
};

struct RepeatedSpread {
  std::string kind;
  double half_width = 0.0;  // `repeated`
};

struct Spreads {
  std::vector<ArchitectureSpread> architectures;
  std::vector<RepeatedSpread> repeated;
};
void read(base::Fields& f, Spreads& spreads);

const Spreads& spreads();
base::Catalog spread_catalog();

// The ends of the interval relative to the forecast.
struct Ends {
  double low = 1.0;
  double high = 1.0;
};
Ends interval(const KindError& error);

}  // namespace roofcast::hardware
