// SPDX-License-Identifier: Apache-2.0
//
// Which value of a knob meets conditions.
//
// A range is looked at in kLooks places, evenly by ratio, to see where the conditions begin or cease to hold. Where they
// hold in none, the two gaps beside the place that misses by least are searched, as if one place between them missed by
// least. The place of the first change is then found by bisection, in whole numbers where the knob has them. Where
// conditions hold at the low end, the answer is how far up they do, else from where on. More than one change says
// that the conditions are not monotone in the knob. Where they hold in all places, the answer is the end of the range with
// less slack: the edge lies beyond it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/decide/sweep.hpp"
#include "sim/estimate.hpp"

namespace roofcast::sim {

// What a knob may be set to: values that are listed, or all from low to high.
//
//   8..64             whole numbers where the ends and the knob are, else any
//   1 /s..50 /s       numbers with a unit
//   x0.5..x8          factors of what is there
//   a,b,c             these
struct KnobRange {
  std::string path;
  std::vector<std::string> listed;
  double low = 0.0;
  double high = 0.0;
  bool whole = false;
  std::string before;  // of a value's number: "x"
  std::string after;   // its unit
  std::string origin;  // what messages call its values

  std::string text(double number) const;
};

// "PATH" or "PATH=RANGE", the text of `written`; without a range, from a thousandth to a thousand times what `document`, with its
// references loaded, has there, or from 1 on for whole numbers.
KnobRange parse_knob_range(const base::Source& written, const base::Node& document,
                           base::Problems& problems);

// The estimate with the knob at this value.
using EstimateAt = std::function<ServingEstimate(const std::string& value)>;

// How far a value or an estimate is from a condition's bound, relative to it: negative where it misses it. The first one
// is not for "fits", of which the second is NaN.
double slack(const Condition& condition, double value);
double slack(const Condition& condition, const ServingEstimate& estimate);
// The condition with its bound looser by a share of it.
Condition loosened(Condition condition, double share);

// By how much an estimate misses the conditions, relative to the bounds: 0 where it meets all, infinite where
// it does not fit.
double shortfall(const std::vector<Condition>& conditions, const ServingEstimate& estimate);

struct Boundary {
  bool found = false;
  bool upwards = false;  // from here on, else up to here
  bool everywhere = false;
  int changes = 0;        // between meeting and not
  std::size_t looks = 0;  // places that were looked at before bisection
  bool every = false;     // the range has no other
  double number = 0.0;    // at the edge; of what comes nearest where none meets
  std::string value;      // the same, as it is written
  std::string beyond;     // the nearest value found that does not meet
  ServingEstimate estimate;
  ServingEstimate estimate_beyond;
};
Boundary boundary_of(const KnobRange& range, const std::vector<Condition>& conditions,
                     const EstimateAt& estimate_at);

}  // namespace roofcast::sim
