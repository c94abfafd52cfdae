// SPDX-License-Identifier: Apache-2.0
//
// A part of a recorded trace, from one time to another, and what a closed form knows of it:
//
//   lengths     the distribution of its prompts and that of its answers, each on its own
//   rate        requests over the length of the window
//   burstiness  I∞ and κ (workloads/traffic/arrivals.hpp) that fit the trace's index of dispersion best, by least
//               squares of relative errors. The windows are a mean gap long, two, four, … as long as 32 of them fit.
//               A trace counts as Poisson if it has fewer than 64 requests, or if no window's index is more than 3
//               standard errors of Poisson arrivals, √(2 / (windows − 1)), from 1
//
// So a closed form knows neither the order of lengths, nor that long prompts may come together, nor swings that take
// longer than 1/32 of the trace. A replay knows all of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/units/quantity.hpp"
#include "workloads/traffic/arrivals.hpp"
#include "workloads/traffic/lengths.hpp"
#include "workloads/traffic/requests.hpp"

namespace roofcast::workloads {

struct TraceWindow {
  std::shared_ptr<const Requests> trace;  // all of it; its first request arrives at 0
  // Its requests are trace->requests[first, end): those from `from` on, before from + length.
  std::size_t first = 0;
  std::size_t end = 0;
  base::Seconds from;
  base::Seconds length;
  bool has_priorities = false;
  Lengths input;
  Lengths output;
  base::Hertz rate;
  Burstiness burstiness;
  std::size_t requests() const { return end - first; }
};

// Where a trace ends: one mean gap after its last arrival, so that it can be repeated. One second, if all requests
// arrive at once.
base::Seconds end_of(const Requests& trace);

// From `from` to `to`, or to the end. A file is read once and a window is made once, in all threads together, as long as
// the file keeps its size and its time of writing. InputError with the reason if the file is no trace, or the window
// has no request or ends after the trace.
std::shared_ptr<const TraceWindow> trace_window(const std::filesystem::path& file,
                                                base::Seconds from,
                                                std::optional<base::Seconds> to);

}  // namespace roofcast::workloads
