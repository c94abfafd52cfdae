// SPDX-License-Identifier: Apache-2.0
//
// The interval that an answer shows where a replay was made. That of the estimate, unless the replay refutes it: then it
// is as wide, by ratio, around the replayed value. How far a server is from its forecast does not depend on which one
// was right.
//
// A replay refutes an estimate whose interval does not hold the replayed value. Where the answer tells to take the
// replayed values, because the two disagree in a time (sim/confirm/verdict.hpp), it refutes them all.
#pragma once

#include "sim/confirm/replayed_estimate.hpp"

namespace roofcast::sim {

// Whether the interval of an estimate holds a value. True where there is no interval or no value.
bool holds(const Interval90& interval, double value);

// The interval of `estimated`, moved to `replayed`.
Interval90 moved(const Interval90& interval, double estimated, double replayed);

// `disagrees`: the answer tells to take the replayed values.
Interval90 believed_interval(const Metric& metric, const ServingEstimate& estimate,
                             const Replayed& replayed, bool disagrees);

}  // namespace roofcast::sim
