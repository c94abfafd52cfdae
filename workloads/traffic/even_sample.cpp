// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/even_sample.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast::workloads {
namespace {

constexpr double kStep = 1.03;   // between lengths whose share is calculated
constexpr double kCycles = 6.0;  // of phases, at least

double as_double(std::size_t n) { return static_cast<double>(n); }

// Lengths of a phase in `count` cycles, with the mean `mean`.
std::vector<double> sojourns(double mean, std::size_t count, base::Random& random) {
  std::vector<double> all;
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(-std::log(1.0 - (as_double(i) + 0.5) / as_double(count)));
    sum += all.back();
  }
  for (double& each : all) {
    each *= mean * as_double(count) / sum;
  }
  shuffle(all, random);
  return all;
}

// The first half of a part of the gaps has this share of the part's time on average; `z` is how far its own share is off,
// in standard deviations.
struct Half {
  std::size_t from = 0;
  std::size_t upto = 0;
  double mean = 0;
  double deviation = 0;
  double z = 0;

  std::size_t middle() const { return from + (upto - from) / 2; }
};

// The same ends of gaps, moved so that the gaps sum up to their number and are as uneven as gamma variables at every scale:
// the share that the first half has of a sum of these is a beta variable. Shares of the halves of all, of the halves of
// these and so on are scaled to its variance.
//
//   shape   of a gap: 1 / cv²
std::vector<double> evened(const std::vector<double>& ends, double shape) {
  const std::size_t n = ends.size() - 1;
  std::vector<double> even(n + 1);
  even[n] = as_double(n);
  std::vector<Half> halves = {{0, n}};
  while (!halves.empty()) {
    double squares = 0.0;
    for (Half& h : halves) {
      const double all = as_double(h.upto - h.from);
      h.mean = as_double(h.middle() - h.from) / all;
      h.deviation = std::sqrt(h.mean * (1.0 - h.mean) / (shape * all + 1.0));
      const double sum = ends[h.upto] - ends[h.from];
      const double share = sum > 0.0 ? (ends[h.middle()] - ends[h.from]) / sum : h.mean;
      h.z = (share - h.mean) / h.deviation;
      squares += h.z * h.z;
    }
    const double scale = squares > 0.0 ? std::sqrt(as_double(halves.size()) / squares) : 1.0;
    std::vector<Half> next;
    for (const Half& h : halves) {
      // Mirrored at the ends: requests come at one time only where they were drawn so.
      const double inside = std::abs(h.mean + scale * h.deviation * h.z);
      const double share = std::max(0.0, 1.0 - std::abs(1.0 - inside));
      even[h.middle()] = even[h.from] + share * (even[h.upto] - even[h.from]);
      for (const Half& half : {Half{h.from, h.middle()}, Half{h.middle(), h.upto}}) {
        if (half.upto - half.from > 1) {
          next.push_back(half);
        }
      }
    }
    halves.swap(next);
  }
  return even;
}

// Arrivals of a rate of 1, the last at n. Those of phases are Poisson in the time in which all phases have the same rate.
std::vector<double> arrivals_at_one(const Arrivals& arrivals, std::size_t n, base::Random& random) {
  std::vector<double> ends = {0.0};
  const double scv = arrivals.process == ArrivalProcess::constant ? 0.0
                     : arrivals.process == ArrivalProcess::gamma  ? arrivals.cv * arrivals.cv
                                                                  : 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    ends.push_back(ends.back() + (scv == 1.0  ? random.exponential(1.0)
                                  : scv > 0.0 ? random.gamma(1.0 / scv, scv)
                                              : 1.0));
  }
  if (scv > 0.0 && n > 1) {
    ends = evened(ends, 1.0 / scv);
  }
  return {ends.begin() + 1, ends.end()};
}

// Requests of a cycle of the phases.
double per_cycle(const Arrivals& arrivals, double share) {
  double requests = 0.0;
  for (std::size_t i = 0; i < arrivals.rates.size(); ++i) {
    requests += share * (arrivals.rates[i] * arrivals.sojourns[i]);
  }
  return requests;
}

// Times of whole cycles of the phases at which so many requests have arrived, where n arrive in all.
void in_phases(const Arrivals& arrivals, double share, std::vector<double>& arrived,
               base::Random& random) {
  const double requests = per_cycle(arrivals, share);
  const double n = as_double(arrived.size());
  const double cycles = std::max(kCycles, std::round(n / requests));
  const double scale = n / (requests * cycles);
  std::vector<std::vector<double>> phases;
  for (const base::Seconds sojourn : arrivals.sojourns) {
    phases.push_back(sojourns(scale * sojourn.si(), static_cast<std::size_t>(cycles), random));
  }
  double began = 0.0;  // of a phase
  double count = 0.0;  // of those that arrived before it
  std::size_t next = 0;
  for (std::size_t cycle = 0; cycle < phases.front().size(); ++cycle) {
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const double rate = share * arrivals.rates[i].si();
      const double end = count + rate * phases[i][cycle];
      for (; rate > 0.0 && next < arrived.size() && arrived[next] <= end; ++next) {
        arrived[next] = began + (arrived[next] - count) / rate;
      }
      count = end;
      began += phases[i][cycle];
    }
  }
  for (; next < arrived.size(); ++next) {  // what rounding leaves
    arrived[next] = began;
  }
}

}  // namespace

void shuffle(std::vector<double>& values, base::Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    const auto with = random.integer(0, static_cast<std::int64_t>(i) - 1);
    std::swap(values[i - 1], values[static_cast<std::size_t>(with)]);
  }
}

// share   of the lengths up to `below`
std::vector<double> quantiles(const Lengths& lengths, std::size_t n) {
  std::vector<double> values;
  values.reserve(n);
  const auto most = static_cast<double>(lengths.most);
  double below = static_cast<double>(lengths.least) - 1.0;
  double share = 0.0;
  while (values.size() < n) {
    // All that is drawn beyond the longest length has that one.
    const double before = std::max(below + 1.0, most - 1.0);
    const double at = std::min(before, std::max(below + 1.0, std::floor(kStep * below)));
    const double now = at < most ? share_up_to(lengths, static_cast<std::int64_t>(at)) : 1.0;
    for (; values.size() < n;) {
      const double wanted = (as_double(values.size()) + 0.5) / as_double(n);
      if (wanted > now) {
        break;
      }
      values.push_back(std::ceil(below + (wanted - share) / (now - share) * (at - below)));
    }
    below = at;
    share = now;
  }
  return values;
}

std::vector<double> even_lengths(const Lengths& lengths, std::int64_t mean, std::size_t n,
                                 base::Random& random) {
  if (lengths.shape == Lengths::Shape::fixed) {
    return std::vector<double>(n, static_cast<double>(mean));
  }
  std::vector<double> values = quantiles(lengths, n);
  shuffle(values, random);
  return values;
}

std::size_t whole_cycles(const Arrivals& arrivals, double share, std::size_t n, std::size_t most) {
  const double cycles =
      arrivals.process == ArrivalProcess::mmpp ? kCycles * per_cycle(arrivals, share) : 0.0;
  return static_cast<std::size_t>(std::clamp(std::ceil(cycles), as_double(n), as_double(most)));
}

std::vector<base::Seconds> even_arrivals(const Arrivals& arrivals, double share, std::size_t n,
                                         base::Random& random) {
  std::vector<double> times = arrivals_at_one(arrivals, n, random);
  const bool phases = arrivals.process == ArrivalProcess::mmpp;
  if (phases) {
    in_phases(arrivals, share, times, random);
  }
  const double scale = phases ? 1.0 : 1.0 / (share * arrivals.rate.si());
  std::vector<base::Seconds> arriving;
  arriving.reserve(n);
  for (const double time : times) {
    arriving.push_back(base::Seconds::from_si(scale * time));
  }
  return arriving;
}

}  // namespace roofcast::workloads
