// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/replayed_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/document/catalog.hpp"
#include "base/document/problems.hpp"
#include "base/fnv.hpp"

namespace roofcast::workloads {
namespace {

constexpr base::Range kShare{0.0, 1.0, true};

void read_daily(base::Fields& f, std::optional<DailyProfile>& daily) {
  std::vector<double> rates;
  f.numbers("daily", rates, {0.0, 1e6}, base::optional);
  if (!f.has("daily")) {
    return;
  }
  if (rates.size() != kHours || std::accumulate(rates.begin(), rates.end(), 0.0) <= 0.0) {
    f.problem("daily", "24 rates relative to each other are expected, at least one more than 0");
    return;
  }
  std::copy(rates.begin(), rates.end(), daily.emplace().begin());
}

// What is wrong with the file is told at `key`.
void open_window(base::Fields& f, std::string_view key, ReplayedTrace& trace) {
  const base::Node* node = f.node().find(key);
  if (node == nullptr || !node->is_scalar()) {
    return;
  }
  trace.file = base::named_file(*node);
  std::error_code unreadable;
  if (!std::filesystem::exists(trace.file, unreadable)) {
    f.problem(key, fmt::format("there is no file {}", trace.file.string()));
    return;
  }
  try {
    trace.window = trace_window(trace.file, trace.from, trace.to);
  } catch (const base::InputError& error) {
    std::string_view text = error.what();
    text.remove_suffix(text.ends_with('\n') ? 1 : 0);
    f.problem(key, text);
    return;
  }
  const auto most = kMostRequests / static_cast<std::int64_t>(trace.window->requests());
  if (trace.repeat > most) {
    f.problem("repeat", fmt::format("{} times {} requests are more than {}", trace.repeat,
                                    trace.window->requests(), kMostRequests));
    trace.window.reset();
  }
}

// Time in which the rate follows a profile.
class DailyClock {
 public:
  explicit DailyClock(const DailyProfile& profile) : profile_(profile) {
    const double mean = std::accumulate(profile.begin(), profile.end(), 0.0) / kHours;
    base::Seconds now;
    for (std::size_t hour = 0; hour < kHours; ++hour) {
      profile_[hour] /= mean;
      begins_[hour] = now;
      now += profile_[hour] * base::hour;
    }
  }
  // From a time without the profile.
  base::Seconds at(base::Seconds without) const {
    const double day = std::floor(without / (kHours * base::hour));
    const base::Seconds rest = without - day * kHours * base::hour;
    const auto hour = static_cast<std::size_t>(
        std::upper_bound(begins_.begin(), begins_.end(), rest) - begins_.begin() - 1);
    return (day * kHours + static_cast<double>(hour)) * base::hour +
           (profile_[hour] > 0.0 ? (rest - begins_[hour]) / profile_[hour] : base::Seconds{});
  }

 private:
  DailyProfile profile_;                        // relative to the mean
  std::array<base::Seconds, kHours> begins_{};  // of each hour, without the profile
};

// Draws what is kept: every request, or every session when it is first seen.
class Thinning {
 public:
  Thinning(double keep, std::uint64_t seed) : keep_(keep), random_(seed, "keep") {}
  void begin_repeat() { sessions_.clear(); }
  // Sessions that are kept get numbers of their own among all repeats.
  bool keeps(Request& request) {
    if (request.session < 0) {
      return is_drawn();
    }
    const auto [session, is_new] = sessions_.try_emplace(request.session, kLeftOut);
    if (is_new && is_drawn()) {
      session->second = next_++;
    }
    request.session = session->second;
    return request.session != kLeftOut;
  }

 private:
  static constexpr std::int32_t kLeftOut = -1;

  bool is_drawn() { return keep_ == 1.0 || random_.uniform() < keep_; }

  double keep_;
  base::Random random_;
  std::unordered_map<std::int32_t, std::int32_t> sessions_;  // new numbers by recorded ones
  std::int32_t next_ = 0;
};

// Prompts of different repeats share nothing.
std::uint64_t block_of(std::uint64_t recorded, std::int64_t repeat) {
  return repeat == 0
             ? recorded
             : base::fnv(base::fnv(base::kFnvStart, recorded), static_cast<std::uint64_t>(repeat));
}

}  // namespace

void read(base::Fields& f, std::string_view key, ReplayedTrace& trace) {
  if (!f.is_map(key)) {
    std::string file;
    f.text(key, file);
    open_window(f, key, trace);
    return;
  }
  f.group(key, [&](base::Fields& g) {
    std::string file;
    g.text("file", file);
    g.quantity("from", trace.from, base::not_negative, base::optional);
    g.quantity("to", trace.to);
    g.integer("repeat", trace.repeat, {1.0, 1e8}, base::optional);
    g.number("keep", trace.keep, kShare, base::optional);
    g.number("speed", trace.speed, {1e-6, 1e6}, base::optional);
    read_daily(g, trace.daily);
    if (trace.to && *trace.to <= trace.from) {
      g.problem("to", "must be later than from");
    } else {
      open_window(g, "file", trace);
    }
  });
}

Arrivals arrivals_of(const ReplayedTrace& trace) {
  const base::Hertz rate = trace.keep * trace.speed * trace.window->rate;
  if (!trace.daily) {
    Burstiness b = trace.window->burstiness;
    b.limit = 1.0 + trace.keep * (b.limit - 1.0);
    b.fading = trace.speed * b.fading;
    return arrivals_with(rate, b);
  }
  const double mean = std::accumulate(trace.daily->begin(), trace.daily->end(), 0.0) / kHours;
  Arrivals arrivals;
  arrivals.process = ArrivalProcess::mmpp;
  for (const double relative : *trace.daily) {
    arrivals.rates.push_back(relative / mean * rate);
    arrivals.sojourns.push_back(base::hour);
  }
  return arrivals;
}

Requests replay_of(const ReplayedTrace& trace, std::optional<std::int64_t> limit,
                   std::uint64_t seed) {
  const TraceWindow& window = *trace.window;
  const Requests& recorded = *window.trace;
  std::optional<DailyClock> clock;
  if (trace.daily) {
    clock.emplace(*trace.daily);
  }
  Requests replay;
  replay.block_tokens = recorded.block_tokens;
  replay.blocks_have_answers = recorded.blocks_have_answers;
  Thinning thinning(trace.keep, seed);
  for (std::int64_t repeat = 0; repeat < trace.repeat; ++repeat) {
    thinning.begin_repeat();
    const base::Seconds begin = static_cast<double>(repeat) * window.length;
    for (std::size_t i = window.first; i < window.end; ++i) {
      Request request = recorded.requests[i];
      if (!thinning.keeps(request) || replay.available++ >= limit.value_or(kMostRequests)) {
        continue;
      }
      request.recorded = request.arrival;
      request.arrival = (begin + request.arrival - window.from) / trace.speed;
      if (clock) {
        request.arrival = clock->at(request.arrival);
      }
      request.first_block = replay.blocks.size();
      for (const std::uint64_t block : recorded.blocks_of(recorded.requests[i])) {
        replay.blocks.push_back(block_of(block, repeat));
      }
      replay.requests.push_back(request);
    }
  }
  if (replay.requests.empty()) {
    throw base::InputError(fmt::format("error: traffic.trace.keep: {} keeps no request of {}\n",
                                       trace.keep, trace.file.string()));
  }
  return replay;
}

}  // namespace roofcast::workloads
