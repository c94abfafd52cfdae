// SPDX-License-Identifier: Apache-2.0
#include "calibrate/bench/sustained.hpp"

#include <limits>

#include "base/statistics/quantile.hpp"

namespace roofcast::bench {

std::vector<Second> by_second(double start, const std::vector<double>& ends,
                              const std::vector<PowerReading>& readings, std::size_t seconds) {
  std::vector<Second> all;
  double before = start;
  auto round = ends.begin();
  for (std::size_t i = 0; i < seconds; ++i) {
    const double begin = start + static_cast<double>(i);
    const double end = begin + 1.0;
    Second& second = all.emplace_back();
    double rounds = 0.0;
    const double first = before;
    for (; round != ends.end() && *round <= end; ++round) {
      before = *round;
      rounds += 1.0;
    }
    second.seconds_per_round =
        rounds > 0.0 ? (before - first) / rounds : std::numeric_limits<double>::quiet_NaN();
    std::vector<double> power, sm, memory, temperature;
    for (const PowerReading& reading : readings) {
      if (reading.time_s > begin && reading.time_s <= end) {
        power.push_back(reading.power_w);
        sm.push_back(reading.sm_clock_mhz);
        memory.push_back(reading.memory_clock_mhz);
        temperature.push_back(reading.temperature_c);
      }
    }
    second.power_w = base::quantile(power, 0.5);
    second.sm_clock_mhz = base::quantile(sm, 0.5);
    second.memory_clock_mhz = base::quantile(memory, 0.5);
    second.temperature_c = base::quantile(temperature, 0.5);
    second.readings = static_cast<std::int64_t>(power.size());
  }
  return all;
}

}  // namespace roofcast::bench
