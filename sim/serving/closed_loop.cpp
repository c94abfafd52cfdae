// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/front_end_load.hpp"
#include "sim/serving/random_traffic.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr int kBisections = 30;
constexpr int kRounds = 40;          // of the fixed point of D'
constexpr double kTolerance = 1e-4;  // relative

class Solver : RandomTraffic {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace)
      : RandomTraffic(s, slots, {}, workspace) {
    const std::int64_t clients = s.traffic->concurrency;
    replicas_ = static_cast<double>(std::min(s.serving->replicas, clients));
    clients_ = static_cast<double>(clients) / replicas_;
    running_ = std::min(clients_, slots_);
  }

  SteadyState solve() {
    const double ceiling = saturation();
    Solution found;
    double least = 0.0;
    double most = ceiling;
    for (int i = 0; i < kBisections; ++i) {
      const double rate = 0.5 * (least + most);
      found = at(rate);
      (rate * stay_ < clients_ && rate * inside_ < running_ ? least : most) = rate;
      if (most - least < kTolerance * most) {
        break;
      }
    }
    // If the front end or prompts are the bottleneck, or all slots are taken, the other clients wait.
    found.slot += std::max(0.0, clients_ / found.rate - stay_);
    found.slot_waits = clients_ > running_ ? 1.0 : found.slot_waits;
    SteadyState r;
    report(found, r);
    r.end_to_end = clients_ / found.rate * base::second;
    const double front_end = found.rate * replicas_ * front_end_time().si();
    r.throughput_limit = front_end > kFrontEndFull ? Limit::host
                         : clients_ > running_     ? Limit::slots
                                                   : r.tpot_limit;
    return r;
  }

 private:
  // The state of a replica that completes `rate` requests per second.
  //
  //   name       symbol of the header                    name          meaning
  //   rate       λ                                       client_delay  s, from the end of an iteration to the next
  //   others     (C−1)/C, at most n in C                               prompt of a client, as the scheduler sees it
  //   present    D'                                      inside_       s, F + T: time in a slot
  //   decoding   T                                       stay_         s, without a wait for a slot that others hold
  Solution at(double rate) {
    Solution found;
    found.rate = rate;
    const double others = (running_ - 1.0) / running_;
    double decoding = 0.0;  // s, T
    double present = 0.0;   // D'
    MeanIteration iteration;
    for (int i = 0; i < kRounds; ++i) {
      const double client_delay = lag_of(rate, present);
      iteration = cycles_.at(1.0 + present, others * rate, costs_.prompts(micro(1.0 + present)),
                             client_delay);
      decoding = decodes_ * iteration.interval + iteration.prefill_interference;
      const double now = std::min(others * rate * decoding, running_ - 1.0);
      const bool same = std::abs(now - present) < kTolerance * (1.0 + present);
      present = now;
      if (same) {
        break;
      }
    }
    found.present = rate * decoding;
    found.tpot = iteration.interval + iteration.mean_prefill_interference;
    first(rate, decoding, present, found);
    const FrontEndLoad load = front_end_load(rate, found.present);
    found.front_wait = load.wait_after_messages();
    found.front_waits = load.load();
    found.shown = shown(load);
    const Blocking whole = blocking(rate, found.present, decoding, true);
    found.slot = whole.wait;
    found.slot_waits = whole.chance;
    inside_ = found.first + decoding;
    stay_ = found.slot + s_.serving->stack.request_overhead.si() + intake_time().si() +
            found.front_wait + found.shown + inside_;
    return found;
  }

  // Time from the end of an iteration to the next prompt of a client: messages, request overhead and intake.
  double lag_of(double rate, double present) const {
    const FrontEndLoad load = front_end_load(rate, 1.0 + present);
    return load.burst + s_.serving->stack.request_overhead.si() + intake_time().si();
  }

  // Mean and variance of F: with probability `idle` no other request decodes, else `present` / (1 − idle) do.
  void first(double rate, double decoding, double present, Solution& found) {
    const double others = (running_ - 1.0) / running_;
    const double idle =
        std::pow(std::max(0.0, 1.0 - std::min(1.0, rate * decoding / running_)), running_ - 1.0);
    const auto add = [&](double n, double weight) {
      if (weight <= 0.0) {
        return;
      }
      const PromptTimes p = costs_.prompts(micro(n));
      const MeanIteration iteration =
          n > 0.0 ? cycles_.at(n, others * rate, p, lag_of(rate, n)) : MeanIteration{};
      const double t = cycles_.first_token(n, others * rate, p, iteration);
      found.first += weight * t;
      found.first_variance +=
          weight * (t * t + cycles_.first_token_variance(n, others * rate, p, iteration));
    };
    add(0.0, idle);
    add(std::max(1.0, present / std::max(1e-9, 1.0 - idle)), 1.0 - idle);
    found.first_variance = std::max(0.0, found.first_variance - found.first * found.first);
  }

  double clients_ = 1;  // C, clients of one replica
  double running_ = 1;  // the most of them that have a slot
  double stay_ = 0;     // s, mean stay of a request, without a wait for a slot that others hold
  double inside_ = 0;   // s, the part with a slot
};

}  // namespace

SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
