// SPDX-License-Identifier: Apache-2.0
//
// `traffic.trace:` of a scenario: a recorded trace (workloads/traffic/request_traces.hpp) in place of lengths and
// arrivals.
//
//   trace: azure_conv.csv
//
//   trace:
//     file: azure_conv.csv        # relative to the document that says it
//     from: 10 min                # of the trace's own time, which begins with its first request
//     to: 40 min
//     repeat: 3                   # the window is replayed three times, one after the other
//     keep: 0.5                   # share of the requests, or of the sessions, that are kept
//     speed: 2                    # arrivals come twice as fast
//     daily: [0.2, 0.1, …]        # 24 rates relative to each other, one for each hour of the day
//
// The steps are taken in this order:
//
//   window   requests that arrive from `from` on and before `to`. Their times count from `from` on
//   repeat   each repeat begins a window's length after the one before. Its sessions are new ones, and its prompts
//            share no blocks with those of another repeat
//   keep     a request is kept with this probability, which traffic.seed draws. A session is kept whole or not at all.
//            A greater share keeps the same requests and more
//   speed    times are divided by it
//   daily    times are stretched so that the rate at time t is the rate without it, times p(t)/p̄:
//
//                ∫ p(u)/p̄ du from 0 to t  =  time without the profile
//
//            t = 0 is midnight. Over whole days the mean rate stays, and every request is kept. An hour of 0 has no
//            arrivals
//
// `traffic.requests` then leaves out all but the first.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "base/document/fields.hpp"
#include "base/units/quantity.hpp"
#include "workloads/traffic/requests.hpp"
#include "workloads/traffic/trace_window.hpp"

namespace roofcast::workloads {

inline constexpr std::size_t kHours = 24;
using DailyProfile = std::array<double, kHours>;  // not negative, at least one positive

struct ReplayedTrace {
  std::filesystem::path file;
  base::Seconds from;
  std::optional<base::Seconds> to;
  std::int64_t repeat = 1;
  double keep = 1.0;
  double speed = 1.0;
  std::optional<DailyProfile> daily;
  std::shared_ptr<const TraceWindow> window;  // null if the document has a problem
};

// `key` of `f` is the name of a file or a map.
void read(base::Fields& f, std::string_view key, ReplayedTrace& trace);

// The process that stands for the replay in a closed form (workloads/traffic/trace_window.hpp). Thinning brings I∞
// nearer to 1: keep·(I∞ − 1) is left. With a profile, the phases of an mmpp are the hours, and within an hour arrivals
// count as Poisson.
Arrivals arrivals_of(const ReplayedTrace& trace);

// The first `limit` requests of the replay, or all. InputError if none is kept.
Requests replay_of(const ReplayedTrace& trace, std::optional<std::int64_t> limit,
                   std::uint64_t seed);

}  // namespace roofcast::workloads
