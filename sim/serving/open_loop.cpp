// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/open_loop.hpp"

#include <algorithm>
#include <cmath>

#include "base/queueing/modulated_birth_death.hpp"
#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;
using base::SquareSeconds;

constexpr int kMostStates = 6000;  // requests in a replica
constexpr double kFalls = 0.97;    // ratio of states beyond which the tail may end
constexpr double kNegligibleState =
    1e-7;  // probability of a state, relative to the most probable one
constexpr int kSearch = 12;
constexpr double kOpenTolerance = 0.02;
constexpr double kLessLoad = 0.95;  // of one that is too much

class OpenLoop : Server {
 public:
  OpenLoop(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace) {
    const workloads::Arrivals& arrivals = *s.traffic->arrivals;
    rate_ = workloads::mean_rate(arrivals) / replicas_;
    // Each of r replicas gets about every r-th arrival, after r gaps. Within a phase gaps are exponential.
    const bool phases = arrivals.process == workloads::ArrivalProcess::mmpp;
    const double squared_cv = phases ? 1.0 : workloads::burstiness(arrivals).limit;
    workloads::Arrivals each;
    each.process = workloads::ArrivalProcess::gamma;
    each.rate = rate_;
    each.cv = std::sqrt(squared_cv / replicas_);
    bursts_ = workloads::burstiness(each);
    if (phases) {
      for (std::size_t i = 0; i < arrivals.rates.size(); ++i) {
        phases_.push_back({arrivals.rates[i] / replicas_, arrivals.sojourns[i], 1.0, {}});
      }
      Seconds time;
      for (const Phase& phase : phases_) {
        time += phase.sojourn;
      }
      for (Phase& phase : phases_) {
        phase.share = phase.sojourn / time * phase.rate / rate_;
      }
    } else {
      phases_.push_back({rate_, base::second, 1.0, {}});
    }
  }

  SteadyState solve() {
    SteadyState r;
    most_ = saturation();
    const Hertz most = most_;
    r.saturation = most * replicas_ / base::hertz;
    r.utilisation = rate_ / most;
    if (r.utilisation >= 1.0) {
      return r;
    }
    held_ = std::floor(slots_for_decodes(rate_));
    for (Phase& phase : phases_) {
      nodes(phase);
    }
    if (!probabilities()) {
      r.utilisation = 1.0;
      return r;
    }
    Solution found;
    found.rate = rate_;
    summarise(found);
    for (const Phase& phase : phases_) {
      found.front += phase.share * front_end(phase.rate, found.present).wait();
    }
    add_blocking(found, blocking(rate_, found.present, found.present / rate_, false));
    report(found, r);
    r.throughput_limit = Limit::arrivals;
    return r;
  }

 private:
  struct Phase {
    Hertz rate;  // of a replica
    Seconds sojourn;
    double share = 1;                  // of the arrivals
    std::map<double, ServerState> at;  // by decodes
  };

  Load load_of(const Phase& phase) const { return {.rate = phase.rate, .bursts = bursts_}; }

  // The number of decodes with which Little's law holds for `rate`, where iterations take the prompts of `load`.
  double decodes_at(Hertz rate, const Load& load) {
    const auto wanted = [&](double d) {
      const ServerState s = state(d, load, Detail::decodes);
      return s.stable ? rate * (decodes_ * s.interval + interference(s)) : 2.0 * held_;
    };
    double least = 0.0;
    double most = held_;
    double d = std::min(held_, std::max(1.0, wanted(1.0)));
    for (int i = 0; i < kSearch; ++i) {
      const double next = wanted(d);
      (next > d ? least : most) = d;
      if (std::abs(next - d) < kOpenTolerance * d || most - least < kOpenTolerance * most) {
        break;
      }
      d = next > least && next < most ? next : 0.5 * (least + most);
    }
    return d;
  }

  // The number of decodes with which Little's law holds for the phase's rate, and states about it.
  void nodes(Phase& phase) {
    Load load = load_of(phase);
    phase.at[0.0] = state(0.0, load);
    if (decodes_ <= 0.0) {
      return;
    }
    double d = decodes_at(phase.rate, load);
    // Of a phase that sends more than iterations take: these are nearly full.
    for (int i = 0; i < kSearch && !state(d, load, Detail::decodes).stable; ++i) {
      load.rate *= kLessLoad;
      d = decodes_at(phase.rate, load);
    }
    const double spread = std::sqrt(std::max(1.0, d));
    for (const double beyond : {-2.0, 0.0, 2.0}) {
      const double place = std::clamp(d + beyond * spread, 1.0, held_);
      phase.at[place] = state(place, load);
    }
    phase.at.try_emplace(held_, state(held_, load, Detail::means));
    // Prompts begin no faster than answers end, so that prompts that run first cannot hold up the decodes for good.
    ServerState& s = phase.at.at(held_);
    const Seconds longest = (held_ / most_ - interference(s)) / decodes_;
    if (costs_.prompts_first() && s.stable && longest > Seconds{}) {
      s.interval = base::min(s.interval, longest);
    }
  }

  // States between those that were calculated. Times between decodes are relative to an iteration without prompts.
  ServerState between(const Phase& phase, double d) {
    const auto above = phase.at.lower_bound(d);
    if (above != phase.at.end() && above->first == d && (above->second.stable || d == 0.0)) {
      return above->second;
    }
    if (above == phase.at.end()) {
      return std::prev(above)->second;
    }
    const auto below = std::prev(above);
    if (!above->second.stable || below->first == 0.0) {
      return below->first == 0.0 ? above->second : below->second;
    }
    const double share = (d - below->first) / (above->first - below->first);
    ServerState s = below->second;
    const auto mix = [&](auto... of) {
      ((s.*of += share * (above->second.*of - below->second.*of)), ...);
    };
    mix(&ServerState::interval, &ServerState::variance, &ServerState::persistence,
        &ServerState::iteration, &ServerState::share, &ServerState::first,
        &ServerState::first_square, &ServerState::waits, &ServerState::least);
    for (std::size_t i = 0; i < s.interference.size(); ++i) {
      s.interference[i] += share * (above->second.interference[i] - below->second.interference[i]);
    }
    return s;
  }

  // p_[i][n] for every phase i.
  bool probabilities() {
    std::vector<std::vector<double>> deaths(phases_.size());
    const double tail =
        std::max(1.0, 2.0 * bursts_.limit);  // of clusters: how much slower it falls
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      Phase& phase = phases_[i];
      double p = 0.0;
      double top = 0.0;
      for (int n = 1; n < kMostStates && decodes_ > 0.0; ++n) {
        const double d = std::min<double>(n, held_);
        const ServerState s = between(phase, d);
        const Hertz death = d / (decodes_ * s.interval + interference(s));
        deaths[i].push_back(death.si());
        p += std::log(phase.rate / death);
        top = std::max(top, p);
        if ((p - top) / tail < std::log(kNegligibleState) && phase.rate < kFalls * death) {
          break;
        }
      }
    }
    std::size_t states = 0;
    for (const std::vector<double>& d : deaths) {
      states = std::max(states, d.size());
    }
    if (states + 1 >= kMostStates && decodes_ > 0.0 && phases_.size() == 1 &&
        phases_[0].rate.si() >= deaths[0].back()) {
      return false;
    }
    std::vector<base::queueing::BirthPhase> phases;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      while (deaths[i].size() < states) {
        const double n = static_cast<double>(deaths[i].size() + 1);
        const double d = std::min(n, held_);
        const ServerState s = between(phases_[i], d);
        deaths[i].push_back((d / (decodes_ * s.interval + interference(s))).si());
      }
      phases.push_back({phases_[i].rate.si(), (1.0 / phases_[i].sojourn).si(), deaths[i]});
    }
    p_ = base::queueing::modulated_birth_death(phases);
    for (std::size_t i = 0; i < phases_.size() && bursts_.limit != 1.0 && states > 0; ++i) {
      spread(p_[i], phases_[i].rate.si(), deaths[i]);
    }
    return true;
  }

  // Arrivals that are not Poisson. If they cluster, clusters of a geometric number arrive at random, with the dispersion
  // of the arrivals in a stay: F(n) = q F(n − 1) + λ(1 − q) p(n) is the flow over level n, and p(n + 1) = F(n)/death(n + 1).
  // If they are regular, p(n)^(1/z), where z is the variance of n over its mean. Replicas that are equally loaded each
  // have their part of all requests, whose variance is a part of the mean too. In any other case random stays make
  // z more even than the arrivals. The probability of the phase stays.
  //
  //   symbol            meaning                                                               unit
  //   p(n)              probability of n requests in the replica                              –
  //   births, deaths    λ; ends of answers with n of them                                     1/s
  //   dispersion        of the arrivals in a mean stay: variance over mean                    –
  //   q                 (dispersion − 1)/(dispersion + 1): a cluster has one more request     –
  void spread(std::vector<double>& p, double births, const std::vector<double>& deaths) {
    double mean = 0.0;
    double all = 0.0;
    for (std::size_t n = 0; n < p.size(); ++n) {
      all += p[n];
      mean += p[n] * static_cast<double>(n);
    }
    const double dispersion = bursts_.dispersion(Seconds::from_si(mean / all / births));
    if (dispersion > 1.0) {
      cluster(p, births, deaths, dispersion);
    } else {
      const bool balanced =
          s_.serving->router == workloads::Router::least_loaded && replicas_ > 1.0;
      const double scv = workloads::squared_variation(s_.traffic->output);
      const double z =
          std::max(0.1, balanced ? bursts_.limit : 1.0 + (dispersion - 1.0) / (1.0 + scv));
      const double top = *std::max_element(p.begin(), p.end());
      for (double& x : p) {
        x = x > 0.0 ? std::pow(x / top, 1.0 / z) : 0.0;
      }
    }
    double sum = 0.0;
    for (const double x : p) {
      sum += x;
    }
    for (double& x : p) {
      x *= all / sum;
    }
  }

  static void cluster(std::vector<double>& p, double births, const std::vector<double>& deaths,
                      double dispersion) {
    const double q = (dispersion - 1.0) / (dispersion + 1.0);
    double flow = 0.0;
    p[0] = 1.0;
    double top = 1.0;
    for (std::size_t n = 0; n + 1 < p.size(); ++n) {
      flow = q * flow + births * (1.0 - q) * p[n];
      p[n + 1] = flow / deaths[n];
      top = std::max(top, p[n + 1]);
      if (top > 1e200) {
        for (std::size_t m = 0; m <= n + 1; ++m) {
          p[m] *= 1e-200;
        }
        flow *= 1e-200;
        top *= 1e-200;
      }
    }
  }

  // Means over the states. Arrivals weigh a state by the rate of its phase, sequences by their number.
  //
  //   sequences   Σ p·D             rate   Σ p·D/C, decodes per second
  //   behind      n − n' + 1: answers that a request waits for
  void summarise(Solution& found) {
    double sequences = 0.0;
    Hertz rate;
    Seconds intervals;
    SquareSeconds squares;
    double arrivals = 0.0;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      const Phase& phase = phases_[i];
      std::map<double, double> weights;  // of the calculated states
      double waiting = 0.0;              // probability, and moments of `behind`
      double behind = 0.0;
      double behind_square = 0.0;
      for (std::size_t n = 0; n < p_[i].size(); ++n) {
        const double p = p_[i][n];
        if (p <= 0.0) {
          continue;
        }
        const double d = std::min(static_cast<double>(n), held_);
        const ServerState s =
            n > 0 || decodes_ <= 0.0 ? between(phase, d) : phase.at.begin()->second;
        const double seen = p * phase.rate.si();
        arrivals += seen;
        if (n > 0) {
          sequences += p * d;
          rate += p * d / s.interval;
          intervals += p * d * s.interval;
          squares += p * d * s.interval * s.interval;
        }
        const double queue = static_cast<double>(n) - held_;
        found.slot +=
            seen * (queue >= 0.0 ? (queue + 1.0) * (decodes_ * s.interval) / d : Seconds{});
        for (std::size_t j = 0; j < s.interference.size(); ++j) {
          found.mean.interference[j] += seen * s.interference[j];
        }
        const auto add = [&](auto... of) { ((found.mean.*of += seen * (s.*of)), ...); };
        add(&ServerState::iteration, &ServerState::share, &ServerState::first, &ServerState::waits);
        if (queue >= 0.0 && decodes_ > 0.0) {
          waiting += seen;
          behind += seen * (queue + 1.0);
          behind_square += seen * (queue + 1.0) * (queue + 1.0);
        } else {
          weights[d] += seen;
        }
        if (n > 0) {
          found.mean.variance += p * d * s.variance;
          found.mean.persistence += p * d * s.persistence;
        }
      }
      parts(found, phase, weights);
      if (waiting > 0.0) {
        const ServerState s = between(phase, held_);
        const Seconds each = decodes_ * s.interval / held_;  // between the ends of answers
        const Seconds mean = behind / waiting * each;
        const SquareSeconds square = behind_square / waiting * each * each;
        const SquareSeconds variance = s.first_square - s.first * s.first +
                                       base::max(SquareSeconds{}, square - mean * mean) +
                                       mean * each;
        found.first.add(waiting, s.first + mean, variance, s.least);
      }
    }
    for (Seconds& each : found.mean.interference) {
      each /= arrivals;
    }
    for (Seconds* of : {&found.slot, &found.mean.iteration, &found.mean.first, &found.mean.waits}) {
      *of /= arrivals;
    }
    found.mean.share /= arrivals;
    if (sequences > 0.0) {
      found.mean.interval = sequences / rate;
      found.mean.variance /= sequences;
      found.mean.persistence /= sequences;
      const Seconds mean = intervals / sequences;
      found.interval_variance = base::max(SquareSeconds{}, squares / sequences - mean * mean);
      found.present = rate_ * (decodes_ * found.mean.interval + interference(found.mean));
    }
    found.present = std::min(found.present, held_);
    found.running = std::min(slots_, found.present + rate_ * (found.mean.first - found.mean.waits));
  }

  // TTFT given the number of decodes: a part for the states about each calculated one.
  void parts(Solution& found, const Phase& phase, const std::map<double, double>& weights) {
    std::map<double, double> shares;
    for (const auto& [d, weight] : weights) {
      const auto above = phase.at.lower_bound(d);
      if (above == phase.at.end()) {
        shares[std::prev(above)->first] += weight;
      } else if (above->first == d || above == phase.at.begin()) {
        shares[above->first] += weight;
      } else {
        const auto below = std::prev(above);
        const double share = (d - below->first) / (above->first - below->first);
        shares[above->first] += share * weight;
        shares[below->first] += (1.0 - share) * weight;
      }
    }
    for (const auto& [d, weight] : shares) {
      const ServerState& s = phase.at.at(d);
      if (s.stable) {
        found.first.add(weight, s.first, s.first_square - s.first * s.first, s.least);
      }
    }
  }

  workloads::Burstiness bursts_;
  Hertz rate_;       // of a replica
  Hertz most_;       // saturation
  double held_ = 0;  // n'
  std::vector<Phase> phases_;
  std::vector<std::vector<double>> p_;
};

}  // namespace

SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return OpenLoop(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
