// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/trace_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/document/problems.hpp"
#include "workloads/traffic/request_traces.hpp"

namespace roofcast::workloads {
namespace {

constexpr std::size_t kWindows = 32;  // at least so many give a variance
constexpr double kLeast = 0.1;        // a smaller index of dispersion weighs as much as this one
constexpr double kFadingRatio = 1.1;  // of one κ that is tried to the next
constexpr double kByChance = 3.0;     // standard errors

struct Dispersion {
  double window_s = 0.0;
  double index = 0.0;  // variance over mean of the number of arrivals
  double error = 0.0;  // its standard error where arrivals are Poisson
};

Dispersion dispersion(std::span<const Request> requests, base::Seconds from, double window_s,
                      std::size_t windows) {
  std::vector<double> counts(windows);
  for (const Request& request : requests) {
    const auto window = static_cast<std::size_t>((request.arrival - from).si() / window_s);
    if (window < windows) {
      counts[window] += 1.0;
    }
  }
  double sum = 0.0;
  for (const double count : counts) {
    sum += count;
  }
  const double mean = sum / static_cast<double>(windows);
  double squares = 0.0;
  for (const double count : counts) {
    squares += (count - mean) * (count - mean);
  }
  const auto freedom = static_cast<double>(windows - 1);
  return {window_s, mean > 0.0 ? squares / freedom / mean : 1.0, std::sqrt(2.0 / freedom)};
}

// For a given κ, the best I∞ − 1 is that of a line.
Burstiness fitted(const std::vector<Dispersion>& measured) {
  Burstiness best;
  double least = std::numeric_limits<double>::infinity();
  const double slowest = 0.1 / measured.back().window_s;
  const double fastest = 10.0 / measured.front().window_s;
  for (double fading = slowest; fading < fastest; fading *= kFadingRatio) {
    double above = 0.0;
    double below = 0.0;
    const auto reached = [&](const Dispersion& d) {
      return Burstiness{2.0, fading * base::hertz}.dispersion(base::Seconds::from_si(d.window_s)) -
             1.0;
    };
    for (const Dispersion& d : measured) {
      const double weight = 1.0 / std::max(d.index, kLeast);
      above += weight * weight * reached(d) * (d.index - 1.0);
      below += weight * weight * reached(d) * reached(d);
    }
    const Burstiness tried{std::max(0.0, 1.0 + above / below), fading * base::hertz};
    double error = 0.0;
    for (const Dispersion& d : measured) {
      const double off = (tried.dispersion(base::Seconds::from_si(d.window_s)) - d.index) /
                         std::max(d.index, kLeast);
      error += off * off;
    }
    if (error < least) {
      least = error;
      best = tried;
    }
  }
  return best;
}

Burstiness burstiness_of(const TraceWindow& window) {
  const double length_s = window.length.si();
  std::vector<Dispersion> measured;
  for (std::size_t windows = window.requests(); windows >= kWindows; windows /= 2) {
    measured.push_back(
        dispersion(std::span(window.trace->requests).subspan(window.first, window.requests()),
                   window.from, length_s / static_cast<double>(windows), windows));
  }
  const bool by_chance = std::all_of(measured.begin(), measured.end(), [](const Dispersion& d) {
    return std::abs(d.index - 1.0) <= kByChance * d.error;
  });
  return measured.size() < 2 || by_chance ? Burstiness{1.0, window.rate} : fitted(measured);
}

Lengths lengths_of(const TraceWindow& window, std::int64_t Request::*tokens) {
  std::vector<std::int32_t> samples;
  samples.reserve(window.requests());
  for (std::size_t i = window.first; i < window.end; ++i) {
    samples.push_back(static_cast<std::int32_t>(window.trace->requests[i].*tokens));
  }
  return measured_lengths(std::move(samples));
}

std::string seconds_text(base::Seconds time) { return fmt::format("{:.6g} s", time.si()); }

std::shared_ptr<const TraceWindow> window_of(std::shared_ptr<const Requests> trace,
                                             base::Seconds from, std::optional<base::Seconds> to) {
  const base::Seconds end = end_of(*trace);
  if (from >= end || (to && *to > end)) {
    throw base::InputError(
        fmt::format("the trace ends after {}; leave out \"to\" for its end", seconds_text(end)));
  }
  TraceWindow window;
  window.from = from;
  window.length = to.value_or(end) - from;
  const std::vector<Request>& requests = trace->requests;
  const auto at = [&](base::Seconds time) {
    const auto before = [](const Request& r, base::Seconds t) { return r.arrival < t; };
    return static_cast<std::size_t>(
        std::lower_bound(requests.begin(), requests.end(), time, before) - requests.begin());
  };
  window.first = at(from);
  window.end = to ? at(*to) : requests.size();
  if (window.requests() == 0) {
    throw base::InputError(fmt::format("no request of the trace arrives from {} to {}",
                                       seconds_text(from), seconds_text(to.value_or(end))));
  }
  window.trace = std::move(trace);
  window.has_priorities = std::any_of(requests.begin(), requests.end(),
                                      [](const Request& r) { return r.priority != 0; });
  window.input = lengths_of(window, &Request::input_tokens);
  window.output = lengths_of(window, &Request::output_tokens);
  window.rate = static_cast<double>(window.requests()) / window.length;
  window.burstiness = burstiness_of(window);
  return std::make_shared<const TraceWindow>(std::move(window));
}

// A file as it was when it was read.
struct ReadFile {
  std::filesystem::file_time_type written;
  std::uintmax_t size = 0;
  std::shared_ptr<const Requests> trace;
  std::map<std::tuple<double, double>, std::shared_ptr<const TraceWindow>> windows;
};

}  // namespace

base::Seconds end_of(const Requests& trace) {
  const auto count = static_cast<double>(trace.requests.size());
  const base::Seconds last = trace.requests.back().arrival;
  return last.si() > 0.0 ? last * (count / (count - 1.0)) : base::Seconds::from_si(1.0);
}

std::shared_ptr<const TraceWindow> trace_window(const std::filesystem::path& file,
                                                base::Seconds from,
                                                std::optional<base::Seconds> to) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, ReadFile> files;
  const std::lock_guard lock(mutex);
  std::error_code error;  // what is no file says so when it is read
  const auto written = std::filesystem::last_write_time(file, error);
  const auto size = std::filesystem::file_size(file, error);
  ReadFile& read = files[file];
  if (read.trace == nullptr || read.written != written || read.size != size) {
    read = {written, size, std::make_shared<const Requests>(read_requests(file)), {}};
  }
  std::shared_ptr<const TraceWindow>& window =
      read.windows[{from.si(), to ? to->si() : std::numeric_limits<double>::infinity()}];
  if (window == nullptr) {
    window = window_of(read.trace, from, to);
  }
  return window;
}

}  // namespace roofcast::workloads
