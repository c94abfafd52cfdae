// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/open_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/random_traffic.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr double kMostRatio = 0.999;  // of the geometric tail
constexpr double kNegligible = 1e-7;  // probability of a state, relative to the most probable one
constexpr double kLeastDispersion = 0.1;
constexpr double kMostDispersion = 100.0;
constexpr int kBisections = 40;

class Solver : RandomTraffic {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace)
      : RandomTraffic(s, slots, bursts_of(s), workspace), bursts_(bursts_of(s)) {
    rate_ = workloads::mean_rate(*s.traffic->arrivals).si() / replicas_;
  }

  SteadyState solve() {
    SteadyState r;
    const double most = saturation();
    r.saturation = most * replicas_;
    r.utilisation = rate_ / most;
    if (r.utilisation >= 1.0) {
      return r;
    }
    states();
    const FrontEndLoad front_end = front_end_load(rate_, solution_.present);
    solution_.rate = rate_;
    solution_.front_wait = front_end.wait();
    solution_.front_waits = front_end.load();
    solution_.shown = shown(front_end);
    const Blocking whole = blocking(rate_, solution_.present, solution_.present / rate_, false);
    solution_.slot += whole.wait;
    solution_.slot_waits = std::min(1.0, solution_.slot_waits + whole.chance);
    report(solution_, r);
    r.end_to_end = r.ttft_mean + solution_.tpot * decodes_ * base::second;
    r.throughput_limit = Limit::arrivals;
    return r;
  }

 private:
  // Burstiness of the arrivals at one replica. Routers spread arrivals more evenly than chance, so the part above 1 is
  // divided by the replicas.
  static workloads::Burstiness bursts_of(const ScenarioView& s) {
    workloads::Burstiness bursts = workloads::burstiness(*s.traffic->arrivals);
    bursts.limit = 1.0 + (bursts.limit - 1.0) / static_cast<double>(s.serving->replicas);
    return bursts;
  }

  // Probabilities of D, the number of sequences that decode, and the means that follow from them.
  //
  //   symbol          meaning                                                                      unit
  //   present, stay   mean of D; mean time for which a request decodes                             –, s
  //   spread          I, dispersion of the arrivals in that time                                   –
  //   inside          z of the header, the exponent 1/z of states with free slots                  –
  //   beyond          (I + scv)/2, the same for requests that queue                                –
  //   held            slots, less those in which prompts are computed                              –
  //   up              birth rate of state n − 1 over death rate of state n                         –
  //   log_p, top      log of the weight p(n) of a state, and the largest so far                    –
  //   last, ratio     weight of the last state with free slots; ratio of the states beyond it      –
  //   tail, queued    Σ of these weights; Σ of weight times requests in the queue                  –
  //   t               first token of a request that finds n decodes                                s
  //
  // All sums are relative to the weight of the most probable state so far, so that no weight overflows.
  void states() {
    const double present = mean_present();
    const double stay = present / rate_;
    const double spread =
        bursts_.dispersion(Seconds::from_si(std::max(stay, costs_.prompts(0.0).own)));
    const auto bounded = [](double z) { return std::clamp(z, kLeastDispersion, kMostDispersion); };
    const double inside = bounded(1.0 + (spread - 1.0) / (1.0 + output_scv_));
    const double beyond = bounded(0.5 * (spread + output_scv_));
    const double held = std::max(1.0, slots_ - rate_ * costs_.prompts(micro(slots_)).own);
    double log_p = 0.0;
    double top = 0.0;
    double sum = 0.0;
    double sequences = 0.0;
    double rate = 0.0;
    double prefill_interference = 0.0;
    double mean_prefill_interference = 0.0;
    double intervals = 0.0;  // weighted by sequences
    double interval_squares = 0.0;
    double first = 0.0;
    double first_square = 0.0;
    const auto add = [&](double n, double weight, const PromptTimes& p,
                         const MeanIteration& iteration) {
      const double t = cycles_.first_token(n, rate_, p, iteration);
      sum += weight;
      sequences += weight * n;
      rate += n > 0.0 ? weight * n / iteration.interval : 0.0;
      prefill_interference += weight * iteration.prefill_interference;
      mean_prefill_interference += weight * iteration.mean_prefill_interference;
      first += weight * t;
      first_square += weight * (t * t + cycles_.first_token_variance(n, rate_, p, iteration));
      if (n > 0.0) {
        intervals += weight * n * iteration.interval;
        interval_squares += weight * n * iteration.interval * iteration.interval;
      }
    };
    MeanIteration lone;  // for a request that finds no decodes
    const MeanIteration after = cycles_.at(1.0, rate_, costs_.prompts(micro(1.0)));
    lone.prefill_interference = after.prefill_interference;
    lone.mean_prefill_interference = after.mean_prefill_interference;
    add(0.0, 1.0, costs_.prompts(0.0), lone);
    double last = 0.0;   // weight of the last state
    double ratio = 0.0;  // of the weights of the states beyond it
    if (decodes_ > 0.0) {
      for (double n = 1.0;; n += 1.0) {
        const PromptTimes p = costs_.prompts(micro(n));
        const MeanIteration iteration = cycles_.at(n, rate_, p);
        const double up =
            rate_ * (decodes_ * iteration.interval + iteration.prefill_interference) / n;
        log_p += std::log(up) / inside;
        if (log_p > top) {
          const double scale = std::exp(top - log_p);
          for (double* each :
               {&sum, &sequences, &rate, &prefill_interference, &mean_prefill_interference,
                &intervals, &interval_squares, &first, &first_square}) {
            *each *= scale;
          }
          top = log_p;
        }
        last = std::exp(log_p - top);
        add(n, last, p, iteration);
        if (n >= held) {
          ratio = std::pow(std::min(up, kMostRatio), 1.0 / beyond);
          break;
        }
        if (last < kNegligible && up < 1.0) {
          break;
        }
      }
    }
    // Requests that wait for a slot: a geometric tail.
    double queued = 0.0;
    if (ratio > 0.0) {
      const double tail = last * ratio / (1.0 - ratio);
      const PromptTimes p = costs_.prompts(micro(held));
      const MeanIteration iteration = cycles_.at(held, rate_, p);
      add(held, tail, p, iteration);
      queued = tail / (1.0 - ratio);
      solution_.slot_waits = (last + tail) / sum;
    }
    if (decodes_ > 0.0) {
      // Prefill interference slows short answers more, per decode.
      const double interval = sequences / rate;
      solution_.tpot = interval + mean_prefill_interference / sum;
      solution_.present = rate_ * (decodes_ * interval + prefill_interference / sum);
    }
    solution_.slot = queued / sum / rate_;
    solution_.first = first / sum;
    solution_.first_variance =
        std::max(0.0, first_square / sum - solution_.first * solution_.first);
    if (sequences > 0.0) {
      const double mean = intervals / sequences;
      solution_.interval_variance = std::max(0.0, interval_squares / sequences - mean * mean);
    }
  }

  // The number of decodes with which Little's law holds, if it is always at its mean.
  double mean_present() {
    if (decodes_ == 0.0) {
      return 0.0;
    }
    const auto grows = [&](double n) {
      const MeanIteration iteration = cycles_.at(n, rate_, costs_.prompts(micro(n)));
      return rate_ * (decodes_ * iteration.interval + iteration.prefill_interference) > n;
    };
    // There may be several solutions. A server that starts empty stays at the least one.
    double least = 0.0;
    double most = std::min(1.0, slots_);
    while (most < slots_ && grows(most)) {
      least = most;
      most = std::min(1.5 * most, slots_);
    }
    for (int i = 0; i < kBisections && most - least > 1e-3 * most; ++i) {
      const double n = 0.5 * (least + most);
      (grows(n) ? least : most) = n;
    }
    return most;
  }

  workloads::Burstiness bursts_;
  double rate_ = 0;  // requests per second of one replica
  Solution solution_;
};

}  // namespace

SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
