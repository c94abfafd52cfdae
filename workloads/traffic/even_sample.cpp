// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/even_sample.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/traffic/length_cells.hpp"

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

std::vector<double> of_phases(const Arrivals& arrivals, double share, std::size_t n,
                              base::Random& random) {
  double requests = 0.0;  // of a cycle
  for (std::size_t i = 0; i < arrivals.rates.size(); ++i) {
    requests += share * (arrivals.rates[i] * arrivals.sojourns[i]);
  }
  const double cycles = std::max(kCycles, std::round(as_double(n) / requests));
  const double scale = std::min(1.0, as_double(n) / requests / cycles);
  std::vector<std::vector<double>> phases;
  for (const base::Seconds sojourn : arrivals.sojourns) {
    phases.push_back(sojourns(scale * sojourn.si(), static_cast<std::size_t>(cycles), random));
  }
  std::vector<double> times;
  double end = 0.0;
  for (std::size_t cycle = 0; times.size() < n; cycle = (cycle + 1) % phases.front().size()) {
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const double rate = share * arrivals.rates[i].si();
      double now = end;
      end += phases[i][cycle];
      while (rate > 0.0 && times.size() < n) {
        now += random.exponential(1.0 / rate);
        if (now > end) {
          break;
        }
        times.push_back(now);
      }
    }
  }
  return times;
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
    const double at = std::min(most, std::max(below + 1.0, std::floor(kStep * below)));
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

std::vector<base::Seconds> even_arrivals(const Arrivals& arrivals, double share, std::size_t n,
                                         base::Random& random) {
  std::vector<double> times;
  if (arrivals.process == ArrivalProcess::mmpp) {
    times = of_phases(arrivals, share, n, random);
  } else {
    const bool poisson = arrivals.process == ArrivalProcess::poisson;
    const double scv = arrivals.process == ArrivalProcess::gamma ? arrivals.cv * arrivals.cv : 0.0;
    double now = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      now += poisson ? random.exponential(1.0) : scv > 0.0 ? random.gamma(1.0 / scv, scv) : 1.0;
      times.push_back(now);
    }
  }
  const double scale = as_double(n) / (share * mean_rate(arrivals).si()) / times.back();
  std::vector<base::Seconds> arriving;
  arriving.reserve(n);
  for (const double time : times) {
    arriving.push_back(base::Seconds::from_si(scale * time));
  }
  return arriving;
}

}  // namespace roofcast::workloads
