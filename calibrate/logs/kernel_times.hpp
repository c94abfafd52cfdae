// SPDX-License-Identifier: Apache-2.0
//
// How long the kernels of a profile ran, by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units/quantity.hpp"

namespace roofcast::calibrate {

struct KernelTime {
  std::string name;
  std::int64_t runs = 0;
  double seconds = 0.0;  // of all runs
};

struct KernelProfile {
  std::string name;
  std::vector<KernelTime> kernels;  // by time, the longest first; at least one
  std::int64_t iterations = 0;      // 0 where the log tells none
  std::int64_t gpus = 1;
  // Of all GPUs, from the first kernel's start to the last one's end, and the part of it in which any runs; NaN where
  // the log does not tell when kernels ran.
  base::Seconds span = base::Seconds::from_si(std::numeric_limits<double>::quiet_NaN());
  base::Seconds busy = span;
};

// Sorts the kernels; InputError where there are none, or they take no time.
void finish(KernelProfile& profile);

// Gathers runs one by one. `Gpu` is what a log calls a GPU, `unit` that of its times in seconds: differences of large
// times are exact in the log's own unit.
template <class Gpu>
class KernelRuns {
 public:
  explicit KernelRuns(double unit) : unit_(unit) {}

  void add(const Gpu& gpu, const std::string& kernel, double start, double duration) {
    auto& [runs, sum] = kernels_[kernel];
    ++runs;
    sum += duration;
    intervals_[gpu].emplace_back(start, start + duration);
  }

  KernelProfile profile(const std::string& name) {
    KernelProfile profile;
    profile.name = name;
    for (const auto& [kernel, time] : kernels_) {
      profile.kernels.push_back({kernel, time.first, unit_ * time.second});
    }
    finish(profile);
    profile.gpus = static_cast<std::int64_t>(intervals_.size());
    profile.span = profile.busy = base::Seconds{};
    for (auto& [gpu, intervals] : intervals_) {
      std::sort(intervals.begin(), intervals.end());
      double until = intervals.front().first;
      for (const auto& [begin, end] : intervals) {
        profile.busy += unit_ * std::max(end - std::max(begin, until), 0.0) * base::second;
        until = std::max(until, end);
      }
      profile.span += unit_ * (until - intervals.front().first) * base::second;
    }
    return profile;
  }

 private:
  double unit_;
  std::unordered_map<std::string, std::pair<std::int64_t, double>> kernels_;
  std::unordered_map<Gpu, std::vector<std::pair<double, double>>> intervals_;
};

}  // namespace roofcast::calibrate
