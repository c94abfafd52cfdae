// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "sim/serving/server.hpp"

namespace roofcast::sim {
namespace {

using base::Hertz;
using base::Seconds;

constexpr int kClosedBisections = 18;
constexpr double kClosedTolerance = 0.003;  // relative
constexpr double kLeast = 0.01;             // sequences that decode

class ClosedLoop : Server {
 public:
  ClosedLoop(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace) {}

  SteadyState solve() {
    double least = std::min(kLeast, running_);
    double most = running_;
    Attempt best = at(least);
    double guess = running_;
    int misses = 0;  // guesses that were too large, one after the other
    for (int i = 0; i < kClosedBisections && most - least > kClosedTolerance * most; ++i) {
      const Attempt now = at(guess);
      const double lacks =
          std::max({now.inside - running_, now.clients - clients_,
                    now.clients * (1.0 - front_limit() / base::max(now.rate, kNoRate))});
      const bool fits = now.stable && lacks <= kClosedTolerance * clients_;
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
    found.slot = base::max(Seconds{}, (clients_ - best.clients) / best.rate);
    const bool host = best.rate > 0.97 * front_limit();
    first(found, best, host ? kHostScv : kSlotScv);
    add_blocking(found, best.blocking);
    SteadyState r;
    report(found, r);
    r.end_to_end = clients_ / found.rate;  // Little's law
    r.throughput_limit = host ? Limit::host : clients_ > running_ ? Limit::slots : r.tpot_limit;
    return r;
  }

 private:
  // A replica with this many decodes.
  struct Attempt {
    double decodes = 0;  // D
    Hertz rate;
    Seconds front;       // wait for the front end
    double inside = 0;   // requests with a slot
    double clients = 0;  // clients that this state needs
    bool stable = false;
    Blocking blocking;
    ServerState state;
  };

  Attempt at(double decodes, Detail detail = Detail::means) {
    Attempt a;
    a.decodes = decodes;
    const Seconds interval = costs_.decode(micro(decodes)).latency;
    const Hertz guess = decodes / (decodes_ * interval);
    const FrontEndLoad load = front_end(base::min(guess, front_limit()), decodes);
    const Seconds delay = load.burst + s_.serving->stack.request_overhead + intake();
    const double others = std::max(0.0, (running_ - 1.0) / running_);
    a.state = state(decodes,
                    {.closed = true,
                     .per_iteration = std::max(1e-9, others * decodes / decodes_ / stages_),
                     .delay = delay},
                    detail);
    if (!a.state.stable) {
      return a;
    }
    a.stable = true;
    a.rate = decodes / (decodes_ * a.state.interval + interference(a.state));
    const FrontEndLoad now = front_end(base::min(a.rate, front_limit()), decodes);
    a.front = now.wait_after_messages();
    a.inside = a.rate * (a.state.first) + decodes;
    const Seconds delivery =
        now.delay((costs_.prompts_first() ? Seconds{} : now.burst) + message_time());
    a.blocking = blocking(a.rate, decodes, decodes_ * a.state.interval, true);
    a.clients = a.rate * (a.blocking.wait + s_.serving->stack.request_overhead + intake() +
                          a.front + delivery + a.state.first) +
                decodes;
    return a;
  }

  Hertz front_limit() const {
    const Seconds each = (intake() + messages()) * front_share_;
    return each > Seconds{} ? kFrontEndFull / each : 1e30 * base::hertz;
  }

  // TTFT: with probability `idle` no other request decodes.
  void first(Solution& found, const Attempt& best, double scv) {
    const double others = std::max(0.0, running_ - 1.0);
    const double idle =
        std::pow(std::max(0.0, 1.0 - std::min(1.0, best.decodes / running_)), others);
    const base::SquareSeconds wait = found.slot * found.slot * scv;
    const auto add = [&](double weight, const ServerState& s) {
      found.first.add(weight, s.first + found.slot, s.first_square - s.first * s.first + wait,
                      base::min(s.first, s.least));
    };
    add(1.0 - idle, best.state);
    if (idle > kNegligible) {
      add(idle, state(0.0, {.rate = kNegligible * base::hertz}));
    }
  }

  static constexpr double kNegligible = 1e-3;
  static constexpr Hertz kNoRate = 1e-9 * base::hertz;
  static constexpr double kHostScv = 0.01;  // of the wait where the front end is the bound
  static constexpr double kSlotScv = 0.1;   // of the wait for a slot
};

}  // namespace

SteadyState closed_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return ClosedLoop(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
