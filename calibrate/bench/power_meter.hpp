// SPDX-License-Identifier: Apache-2.0
//
// Power, clocks and temperature of a GPU as its driver's management library (NVML) tells them. The library is opened
// when a program runs, so that none is needed to build one.
//
// nvmlDeviceGetPowerUsage is the mean of the last second on most GPUs since Ampere: readings of the first second of a
// load tell of what was before.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace roofcast::bench {

struct PowerReading {
  double power_w = 0.0;
  double sm_clock_mhz = 0.0;
  double memory_clock_mhz = 0.0;
  double temperature_c = 0.0;
  double time_s = 0.0;  // calibrate/bench/clock.hpp; set by a sampler
};

struct PowerFacts {
  std::string driver;
  double power_limit_w = 0.0;
  double most_sm_clock_mhz = 0.0;
  double most_memory_clock_mhz = 0.0;
};

class PowerMeter {
 public:
  explicit PowerMeter(const std::string& pci_bus_id);  // std::runtime_error with the reason
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;
  ~PowerMeter();

  PowerReading read() const;
  PowerFacts facts() const;  // zero where the driver does not say

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// Reads a meter every 20 ms on a thread of its own until stopped.
class PowerSampler {
 public:
  explicit PowerSampler(const PowerMeter& meter);
  PowerSampler(const PowerSampler&) = delete;
  PowerSampler& operator=(const PowerSampler&) = delete;
  ~PowerSampler();

  std::vector<PowerReading> stop();  // what was read; throws what the reading threw

 private:
  std::atomic<bool> stopping_ = false;
  std::vector<PowerReading> readings_;
  std::exception_ptr failure_;
  std::thread thread_;  // last: starts when the rest is there
};

}  // namespace roofcast::bench
