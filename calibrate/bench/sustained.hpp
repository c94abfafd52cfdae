// SPDX-License-Identifier: Apache-2.0
//
// What a load that is kept up did, second by second.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/bench/power_meter.hpp"

namespace roofcast::bench {

struct Second {
  double seconds_per_round = 0.0;  // NaN where no round ended in it
  // Medians of the meter's readings in it; NaN where there are none.
  double power_w = 0.0, sm_clock_mhz = 0.0, memory_clock_mhz = 0.0, temperature_c = 0.0;
  std::int64_t readings = 0;
};

// `ends`: when each round ended, in order; the first one began at `start`. A round belongs to the second in which it ends.
std::vector<Second> by_second(double start, const std::vector<double>& ends,
                              const std::vector<PowerReading>& readings, std::size_t seconds);

}  // namespace roofcast::bench
