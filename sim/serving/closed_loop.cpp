// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

constexpr int kBisections = 18;
constexpr double kTolerance = 0.003;  // relative
constexpr double kLeast = 0.01;       // sequences that decode

class Solver : Server {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace) : Server(s, slots, workspace) {}

  SteadyState solve() {
    double least = std::min(kLeast, running_);
    double most = running_;
    Attempt best = at(least);
    double guess = running_;
    int misses = 0;  // guesses that were too large, one after the other
    for (int i = 0; i < kBisections && most - least > kTolerance * most; ++i) {
      const Attempt now = at(guess);
      const double lacks =
          std::max({now.inside - running_, now.clients - clients_,
                    now.clients * (1.0 - front_limit() / std::max(now.rate, 1e-9))});
      const bool fits = now.stable && lacks <= kTolerance * clients_;
      (fits ? least : most) = guess;
      misses = fits ? 0 : misses + 1;
      if (fits) {
        best = now;
      }
      const double next = now.stable ? guess - lacks * guess / std::max(now.clients, guess) : 0.0;
      // Guesses that come nearer from above alone would never be enough.
      const bool inside = next > least && next < most && misses < 3;
      misses = inside ? misses : 0;
      guess = inside ? next : 0.5 * (least + most);
    }
    best = at(best.decodes, Detail::all);
    Solution found;
    found.rate = best.rate;
    found.present = best.decodes;
    found.mean = best.state;
    found.running = std::min(running_, best.inside);
    found.front = best.front;
    found.slot = std::max(0.0, (clients_ - best.clients) / best.rate);
    const bool host = best.rate > 0.97 * front_limit();
    first(found, best, host ? kHostScv : kSlotScv);
    add_blocking(found, best.blocking);
    SteadyState r;
    report(found, r);
    r.end_to_end = clients_ / found.rate * base::second;  // Little's law
    r.throughput_limit = host ? Limit::host : clients_ > running_ ? Limit::slots : r.tpot_limit;
    return r;
  }

 private:
  // A replica with this many decodes.
  struct Attempt {
    double decodes = 0;  // D
    double rate = 0;     // 1/s
    double front = 0;    // s, wait for the front end
    double inside = 0;   // requests with a slot
    double clients = 0;  // clients that this state needs
    bool stable = false;
    Blocking blocking;
    ServerState state;
  };

  Attempt at(double decodes, Detail detail = Detail::means) {
    Attempt a;
    a.decodes = decodes;
    const double interval = costs_.decode(micro(decodes)).latency.si();
    const double guess = decodes / (decodes_ * interval);
    const FrontEndLoad load = front_end(std::min(guess, front_limit()), decodes);
    const double delay = load.burst + s_.serving->stack.request_overhead.si() + intake();
    const double others = std::max(0.0, (running_ - 1.0) / running_);
    a.state = state(decodes,
                    {.rate = std::max(1e-9, others * decodes / decodes_ / stages_),
                     .closed = true,
                     .delay = delay},
                    detail);
    if (!a.state.stable) {
      return a;
    }
    a.stable = true;
    a.rate = decodes / (decodes_ * a.state.interval + interference(a.state));
    const FrontEndLoad now = front_end(std::min(a.rate, front_limit()), decodes);
    a.front = now.wait_after_messages();
    a.inside = a.rate * (a.state.first) + decodes;
    const double delivery = now.delay((costs_.prompts_first() ? 0.0 : now.burst) + message_time());
    a.blocking = blocking(a.rate, decodes, decodes_ * a.state.interval, true);
    a.clients = a.rate * (a.blocking.wait + s_.serving->stack.request_overhead.si() + intake() +
                          a.front + delivery + a.state.first) +
                decodes;
    return a;
  }

  double front_limit() const {
    const double each = (intake() + messages()) * front_share_;
    return each > 0.0 ? kFrontEndFull / each : 1e30;
  }

  // TTFT: with probability `idle` no other request decodes.
  void first(Solution& found, const Attempt& best, double scv) {
    const double others = std::max(0.0, running_ - 1.0);
    const double idle =
        std::pow(std::max(0.0, 1.0 - std::min(1.0, best.decodes / running_)), others);
    const double wait = found.slot * found.slot * scv;
    const auto add = [&](double weight, const ServerState& s) {
      found.first.add(weight, s.first + found.slot, s.first_square - s.first * s.first + wait,
                      std::min(s.first, s.least));
    };
    add(1.0 - idle, best.state);
    if (idle > kNegligible) {
      add(idle, state(0.0, {.rate = kNegligible}));
    }
  }

  static constexpr double kNegligible = 1e-3;
  static constexpr double kHostScv = 0.01;  // of the wait where the front end is the bound
  static constexpr double kSlotScv = 0.1;   // of the wait for a slot
};

}  // namespace

SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
