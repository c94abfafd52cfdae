// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/units/quantity.hpp"
#include "sim/serving/server.hpp"

namespace roofcast::sim {

// A time as a function of a number, linear between the few places where it was calculated.
class Line {
 public:
  void add(double at, base::Seconds value) {
    Point& point = points_[count_];
    if (count_ > 0) {
      Point& before = points_[count_ - 1];
      before.slope = (value - before.value) / (at - before.at);
      point.slope = before.slope;
    }
    point.at = at;
    point.value = value;
    ++count_;
    if (count_ > 2) {
      bends_[count_ - 3] = points_[count_ - 2].at;
    }
  }
  base::Seconds operator()(double at) const {
    const auto piece = static_cast<std::size_t>(bends_[0] < at) + (bends_[1] < at);
    const Point& from = points_[piece];
    return from.value + (std::max(at, points_.front().at) - from.at) * from.slope;
  }

 private:
  struct Point {
    double at = 0;
    base::Seconds value;
    base::Seconds slope;  // a unit of `at`, to the next point
  };
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  std::array<Point, 4> points_;
  std::array<double, 2> bends_{kNone, kNone};  // where another piece begins
  std::size_t count_ = 0;
};

// The iterations of a server of equal requests: their times are lines between some that are calculated.
class LockstepCosts : protected Server {
 protected:
  LockstepCosts(const ScenarioView& s, double slots, Workspace& workspace)
      : Server(s, slots, workspace),
        prompt_(static_cast<double>(s.traffic->input_tokens - s.traffic->cached_tokens)),
        query_(static_cast<double>(s.serving->speculation.query_tokens())),
        most_tokens_(ranks_ * stages_ *
                     static_cast<double>(s.serving->limits.max_tokens_per_iteration)),
        first_(costs_.prompts_first()),
        whole_server_(ranks_ * stages_ <= 1.0),
        graph_tokens_(static_cast<double>(s.serving->stack.graph_tokens)) {
    for (const bool decodes : {false, true}) {
      for (const bool beyond : {false, true}) {
        launches_[place(decodes, beyond)] =
            of_round(costs_.launches(decodes, graph_tokens_ + (beyond ? 1.0 : 0.0)));
      }
    }
    const double most = decodes_ > 0.0 ? running_ : 0.0;
    if (most > 0.0) {
      double last = 0.0;
      for (const double share : {0.0, 0.25, 0.5, 1.0}) {
        const double b = std::max(1.0, std::round(micro(std::max(1.0, share * most))));
        if (b > last) {
          alone_.add(b, time(costs_.decode_batch(static_cast<std::int64_t>(b))));
          last = b;
        }
      }
    }
    add_prompts(most);
  }

  // Tokens of a round of all micro-batches and ranks that b decodes leave to prompts.
  double budget(double b) const {
    const double taken = first_ ? 0.0 : b * query_;
    return std::max(1.0, most_tokens_ - taken);
  }

  // An iteration of b decodes without prompts, of the micro-batch that is the slowest.
  base::Seconds alone(double b) const { return b > 0.0 ? alone_(slowest(b)) : empty_; }

  // What n prompts add to it on the GPUs.
  base::Seconds extra(double n) const { return extra_(n); }

  // The iteration that b decodes have where prompts run: nothing where these run alone.
  base::Seconds beside_prompts(double b) const { return first_ ? base::Seconds{} : alone(b); }

  // An iteration of n prompts, and of b decodes unless prompts run alone. Where the host's launches take longer than the GPUs,
  // neither makes it longer.
  base::Seconds mixed(double n, double b) const { return mixed(n, b, beside_prompts(b)); }
  base::Seconds mixed(double n, double b, base::Seconds beside) const {
    return base::max(beside + extra(n), launched(n, first_ ? 0.0 : b));
  }

  // Until n prompts and b decodes have had an iteration, together or one after the other.
  base::Seconds both(double n, double b) const {
    return mixed(n, b) + (first_ ? alone(b) : base::Seconds{});
  }

  double prompt_;       // tokens of a prompt
  double query_;        // tokens of a decode
  double most_tokens_;  // of a round of all micro-batches and ranks
  bool first_;          // prompts run alone
  double whole_ = 1;    // prompts that fit in an iteration, whole
  double fits_ = 1;     // the same, where they may be cut

 private:
  // Fewer clients than stages leave some of these empty.
  base::Seconds of_round(const IterationTime& t) const {
    return base::max(t.latency, std::min(stages_, std::max(1.0, running_)) * t.period);
  }
  // Decodes of the slowest micro-batch, of b. A division by one is left out.
  double slowest(double b) const { return whole_server_ ? std::max(1.0, b) : micro(b); }

  static std::size_t place(bool decodes, bool beyond_graphs) {
    return (decodes ? 2U : 0U) + (beyond_graphs ? 1U : 0U);
  }
  // The host's launches of n prompts and so many decodes.
  base::Seconds launched(double n, double decodes) const {
    double tokens = n * prompt_;
    if (ranks_ > 1.0) {
      tokens = std::max(tokens / ranks_, std::min(tokens, std::min(prompt_, budget(decodes))));
    }
    const bool any = decodes > 0.0;
    return launches_[place(any, (any ? slowest(decodes) * query_ : 0.0) + tokens > graph_tokens_)];
  }
  base::Seconds time(const workloads::Batch& batch) { return of_round(costs_.of_gpus(batch)); }

  void add_prompts(double most) {
    const double decodes = first_ || clients_ <= 1.0 ? 0.0 : std::round(micro(0.9 * most));
    const auto d = static_cast<std::int64_t>(decodes);
    const base::Seconds without = d > 0 ? alone_(decodes) : base::Seconds{};
    whole_ = std::max(1.0, std::floor(budget(most) / prompt_));
    // A prompt that is cut fills an iteration.
    const bool cut = s_.serving->policy.chunked_prompts || prompt_ > budget(most);
    fits_ = cut ? budget(most) / prompt_ : whole_;
    const double all = std::min(fits_, std::max(ranks_, clients_));
    // What one rank takes of a long prompt, where there are several.
    const double part = ranks_ > 1.0 ? std::clamp(budget(most) / ranks_ / prompt_, 0.05, 1.0) : 1.0;
    const double few = cut ? 0.25 * std::min(1.0, all) : part;
    double last = 0.0;
    for (const double n : {std::min(part, few), std::min(1.0, all), std::sqrt(all), all}) {
      if (n > last) {
        extra_.add(n, base::max(base::Seconds{}, time(costs_.prompts_of(d, n)) - without));
        last = n;
      }
    }
    if (!first_) {
      empty_ = base::max(base::Seconds{}, time(costs_.prompts_of(0, 1.0)) - extra_(1.0));
    }
  }

  bool whole_server_;                      // it has one rank and one stage
  double graph_tokens_;                    // up to here CUDA graphs cover an iteration
  std::array<base::Seconds, 4> launches_;  // with decodes, beyond graphs
  Line alone_;                             // iteration of so many decodes of a micro-batch
  Line extra_;                             // what so many prompts add
  base::Seconds empty_;  // of an iteration without decodes, beyond its prompts' share
};

}  // namespace roofcast::sim
