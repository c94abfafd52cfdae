// SPDX-License-Identifier: Apache-2.0
#include "sim/open_loop.hpp"

#include <algorithm>
#include <cmath>

#include "base/queueing/open_queue.hpp"
#include "sim/pass_costs.hpp"
#include "sim/pass_mix.hpp"
#include "sim/percentiles.hpp"

namespace roofcast::sim {
namespace {

using base::Seconds;

constexpr int kRounds = 5;          // of Newton's method
constexpr int kMostPasses = 60;     // of prompts, one after the other
constexpr double kEnough = 1e-4;    // of a pass
constexpr double kMostLoad = 0.98;  // of prompts, where formulas have its distance from 1
constexpr double kMostRatio = 0.999;
constexpr double kNegligible = 1e-7;  // probability of a state, relative to the likeliest
constexpr double kLeastDispersion = 0.1;
constexpr double kMostDispersion = 100.0;
constexpr int kBisections = 40;

class Solver {
 public:
  Solver(const ScenarioView& s, double slots, Workspace& workspace)
      : s_(s), workspace_(workspace), costs_(s, workspace) {
    const workloads::Traffic& t = *s.traffic;
    replicas_ = static_cast<double>(s.serving->replicas);
    rate_ = workloads::mean_rate(*t.arrivals).si() / replicas_;
    // Of one replica: routers deal arrivals out more evenly than chance.
    bursts_ = workloads::burstiness(*t.arrivals);
    bursts_.limit = 1.0 + (bursts_.limit - 1.0) / replicas_;
    ranks_ = static_cast<double>(s.mapping->data_parallel);
    stages_ = static_cast<double>(s.mapping->pipeline_parallel);
    decodes_ = s.serving->speculation.steps(t.output_tokens - 1);
    output_scv_ = workloads::squared_variation(t.output);
    // Blocks that are promised for an answer are not there for others.
    if (s.serving->policy.reserves == workloads::Reservation::request) {
      const double held = workloads::mean_context(t);
      const double promised = static_cast<double>(t.input_tokens) +
                              s.serving->policy.reserved_output *
                                  static_cast<double>(t.output_tokens) * (1.0 + output_scv_);
      slots = std::max(1.0, slots * held / std::max(held, promised));
    }
    input_scv_ = workloads::squared_variation(t.input);
    const workloads::SchedulerLimits& limits = s.serving->limits;
    slots_ =
        ranks_ *
        std::min({slots, static_cast<double>(limits.max_sequences),
                  static_cast<double>(std::max<std::int64_t>(
                      1, limits.max_tokens_per_step / s.serving->speculation.query_tokens()))});
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
    return result(r);
  }

 private:
  double micro(double present) const {
    return present / ranks_ / std::clamp(present / ranks_, 1.0, stages_);
  }
  double in_flight(double present) const { return std::clamp(present / ranks_, 1.0, stages_); }

  struct Pass {
    double mean = 0;      // s, of a micro-batch on the slowest stage
    double interval = 0;  // s, between a sequence's tokens
    double seen = 0;      // s, E[C²]/E[C]: the pass that an arrival falls into
    double load = 0;      // of prompts: what those of a pass add to the next, over it
    double met = 0;       // s, that a request's decodes take longer for what came during its prompt
  };

  // A pass while requests arrive at `rate`; `present` is not 0.
  Pass pass_at(double present, double rate, const PromptTimes& p) {
    const PassTime t = costs_.decode(micro(present));
    const PromptCrowd& crowd = costs_.crowd(micro(present));
    Pass pass;
    // Only a few decodes can be beside more prompts than passes take; there soon are more of them.
    pass.load = std::min(rate * p.extra * crowd.last_slope(), kMostLoad);
    if (costs_.prompts_first()) {
      // Passes of prompts follow each other until one meets no arrival.
      double c = t.period;
      double square = t.period * t.period;
      double length = t.period;
      double chance = 1.0;  // that they have gone on so far
      for (int i = 0; i < kMostPasses && chance * length > kEnough * c; ++i) {
        const PromptCrowd::Added added = crowd.at(rate * length);
        const double on = -std::expm1(-rate * length);
        square += chance * p.extra * p.extra *
                  std::max(0.0, added.square + unevenness(rate, length, added.slope));
        c += chance * p.extra * added.mean;
        length = p.extra * added.mean / on;
        chance *= on;
      }
      pass.mean = c;
      pass.seen = square / c;
    } else {
      double c = t.period / (1.0 - pass.load);
      for (int i = 0; i < kRounds; ++i) {
        const PromptCrowd::Added added = crowd.at(rate * c);
        const double slope = std::min(rate * p.extra * added.slope, kMostLoad);
        c += (t.period + p.extra * added.mean - c) / (1.0 - slope);
        c = std::clamp(c, t.period, t.period / (1.0 - kMostLoad));
      }
      const PromptCrowd::Added added = crowd.at(rate * c);
      const double variance =
          std::max(0.0, added.square - added.mean * added.mean + unevenness(rate, c, added.slope)) *
          p.extra * p.extra;
      const double slope = std::min(rate * p.extra * added.slope, kMostLoad);
      pass.mean = c;
      pass.load = slope;
      pass.seen = c + variance / (1.0 - slope * slope) / c;
    }
    pass.interval = std::max(t.latency, in_flight(present) * t.period) * (pass.mean / t.period);
    // Prompts that came while a request's own was computed are met by its first decodes, in place of those that
    // come in its last pass.
    const double others = others_of(rate, p, pass);
    const double batch = p.own + p.extra * (crowd.together(1.0 + others) - 1.0);
    const double last = costs_.prompts_first() ? t.period : pass.mean;
    pass.met = pass.load / (1.0 - pass.load) *
               std::max(0.0, batch - last + 0.5 * (1.0 - p.fits) * pass.seen);
    return pass;
  }

  // Variance of the number that arrives in a time beyond Poisson's, each of which adds `slope`.
  double unevenness(double rate, double seconds, double slope) const {
    return (bursts_.dispersion(Seconds::from_si(seconds)) - 1.0) * rate * seconds * slope * slope;
  }

  // Prompts that share a request's first pass: those that came before it, and those after that fit.
  double others_of(double rate, const PromptTimes& p, const Pass& pass) const {
    const double half = 0.5 * pass.seen;
    return std::max(0.0, rate * half + bursts_.beyond(Seconds::from_si(half))) * (1.0 + p.fits);
  }

  // From the scheduler's queue to the first token, without a wait for a slot, at `present` decodes.
  double first_token(double present, double rate, const PromptTimes& p, const Pass& pass) {
    const PromptCrowd& crowd = costs_.crowd(micro(present));
    if (present < 1.0) {
      const double busy = std::min(rate * p.own * crowd.last_slope(), 0.98);
      // Kingman's ratio of the wait to that of Poisson arrivals.
      const double scv = std::max(0.0, p.own_square / (p.own * p.own) - 1.0);
      const double uneven = (bursts_.limit + scv) / (1.0 + scv);
      return uneven * rate * crowd.last_slope() * p.own_square / (2.0 * (1.0 - busy)) + p.own;
    }
    const double others = others_of(rate, p, pass);
    return 0.5 * pass.seen + p.own + p.extra * (crowd.together(1.0 + others) - 1.0);
  }

  // s². The rest of a pass is taken as even, waits of an idle replica as exponential.
  double first_token_variance(double present, double rate, const PromptTimes& p, const Pass& pass) {
    const PromptCrowd& crowd = costs_.crowd(micro(present));
    const double own = std::max(0.0, p.own_square - p.own * p.own);
    if (present < 1.0) {
      const double busy = std::min(rate * p.own * crowd.last_slope(), 0.98);
      const double wait = rate * crowd.last_slope() * p.own_square / (2.0 * (1.0 - busy));
      return own + (busy > 0.0 ? wait * wait * (2.0 / busy - 1.0) : 0.0);
    }
    const double slope = crowd.last_slope();
    const double others = others_of(rate, p, pass);
    return own + pass.seen * pass.seen / 12.0 + others * slope * slope * p.extra_square;
  }

  // Of the front end, for a request and its answer; it serves all replicas.
  Seconds front_end_time() const {
    const workloads::Stack& stack = s_.serving->stack;
    const workloads::Traffic& t = *s_.traffic;
    return workloads::intake_time(stack, static_cast<double>(t.input_tokens)) +
           static_cast<double>(t.output_tokens) /
               static_cast<double>(s_.serving->policy.stream_interval) * stack.message_overhead;
  }

  // The largest rate of a replica: all slots taken.
  double saturation() {
    const double full = decodes_ > 0.0 ? micro(slots_) : 0.0;
    const PromptTimes p = costs_.prompts(full);
    double least = 0.0;
    double most = 1.0 / (p.extra * costs_.crowd(full).last_slope() + 1e-12);
    const double front = front_end_time().si() * replicas_;
    if (front > 0.0) {
      most = std::min(most, 1.0 / front);
    }
    const double ceiling = most;
    for (int i = 0; i < kBisections; ++i) {
      const double rate = 0.5 * (least + most);
      (serves(rate, p) ? least : most) = rate;
    }
    return least > 0.999 * ceiling ? ceiling : least;
  }

  bool serves(double rate, const PromptTimes& p) {
    if (decodes_ == 0.0) {
      return true;
    }
    const Pass pass = pass_at(slots_, rate, p);
    // Prompts hold a slot from their first pass on.
    const double decoding = slots_ - rate * p.own;
    if (decoding <= 0.0) {
      return false;
    }
    const double tokens = rate * pass.mean / ranks_ *
                          static_cast<double>(s_.traffic->input_tokens - s_.traffic->cached_tokens);
    const double budget = static_cast<double>(s_.serving->limits.max_tokens_per_step) -
                          (costs_.prompts_first() ? 0.0 : micro(slots_));
    if (!costs_.prompts_first() && tokens > budget) {
      return false;
    }
    return rate * (decodes_ * pass.interval + pass.met) <= decoding;
  }

  // Probabilities of the numbers that decode, and what follows from them.
  void states() {
    const double present = mean_present();
    const double stay = present / rate_;
    const double spread =
        bursts_.dispersion(Seconds::from_si(std::max(stay, costs_.prompts(0.0).own)));
    const auto bounded = [](double z) { return std::clamp(z, kLeastDispersion, kMostDispersion); };
    const double inside = bounded(1.0 + (spread - 1.0) / (1.0 + output_scv_));
    const double beyond = bounded(0.5 * (spread + output_scv_));
    const double held = std::max(1.0, slots_ - rate_ * costs_.prompts(micro(slots_)).own);
    // States in logarithms; `sum` and the rest relative to the likeliest so far.
    double log_p = 0.0;
    double top = 0.0;
    double sum = 0.0;
    double sequences = 0.0;
    double rate = 0.0;
    double met = 0.0;
    double intervals = 0.0;  // by sequences
    double interval_squares = 0.0;
    double first = 0.0;
    double first_square = 0.0;
    const auto add = [&](double n, double weight, const PromptTimes& p, const Pass& pass) {
      const double t = first_token(n, rate_, p, pass);
      sum += weight;
      sequences += weight * n;
      rate += n > 0.0 ? weight * n / pass.interval : 0.0;
      met += weight * pass.met;
      first += weight * t;
      first_square += weight * (t * t + first_token_variance(n, rate_, p, pass));
      if (n > 0.0) {
        intervals += weight * n * pass.interval;
        interval_squares += weight * n * pass.interval * pass.interval;
      }
    };
    Pass lone;  // who comes when nobody decodes
    lone.met = pass_at(1.0, rate_, costs_.prompts(micro(1.0))).met;
    add(0.0, 1.0, costs_.prompts(0.0), lone);
    double last = 0.0;   // weight of the last state
    double ratio = 0.0;  // of the states beyond it
    if (decodes_ > 0.0) {
      for (double n = 1.0;; n += 1.0) {
        const PromptTimes p = costs_.prompts(micro(n));
        const Pass pass = pass_at(n, rate_, p);
        const double up = rate_ * (decodes_ * pass.interval + pass.met) / n;
        log_p += std::log(up) / inside;
        if (log_p > top) {
          const double scale = std::exp(top - log_p);
          for (double* each : {&sum, &sequences, &rate, &met, &intervals, &interval_squares, &first,
                               &first_square}) {
            *each *= scale;
          }
          top = log_p;
        }
        last = std::exp(log_p - top);
        add(n, last, p, pass);
        if (n >= held) {
          ratio = std::pow(std::min(up, kMostRatio), 1.0 / beyond);
          break;
        }
        if (last < kNegligible && up < 1.0) {
          break;
        }
      }
    }
    // Those who wait for a slot: a geometric tail.
    double queued = 0.0;
    if (ratio > 0.0) {
      const double tail = last * ratio / (1.0 - ratio);
      const PromptTimes p = costs_.prompts(micro(held));
      const Pass pass = pass_at(held, rate_, p);
      add(held, tail, p, pass);
      queued = tail / (1.0 - ratio);
      waits_ = (last + tail) / sum;
    }
    if (decodes_ > 0.0) {
      // Short answers are slowed more by what their first passes meet.
      const double interval = sequences / rate;
      tpot_ = interval + met / sum * inverse_decodes();
      present_ = rate_ * (decodes_ * interval + met / sum);
    }
    slot_ = queued / sum / rate_;
    first_ = first / sum;
    first_variance_ = std::max(0.0, first_square / sum - first_ * first_);
    if (sequences > 0.0) {
      const double mean = intervals / sequences;
      interval_variance_ = std::max(0.0, interval_squares / sequences - mean * mean);
    }
  }

  // Mean of 1 / (O − 1).
  double inverse_decodes() const {
    const workloads::Traffic& t = *s_.traffic;
    if (t.output.shape == workloads::Lengths::Shape::fixed) {
      return 1.0 / decodes_;
    }
    double sum = 0.0;
    for (const workloads::WeightedLength& node : workloads::nodes_of(t.output)) {
      sum += node.weight / std::max(1.0, std::round(node.tokens) - 1.0);
    }
    return sum;
  }

  // Little's law with everybody at the mean.
  double mean_present() {
    if (decodes_ == 0.0) {
      return 0.0;
    }
    const auto grows = [&](double n) {
      const Pass pass = pass_at(n, rate_, costs_.prompts(micro(n)));
      return rate_ * (decodes_ * pass.interval + pass.met) > n;
    };
    // The least of them: what starts empty stays there.
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

  SteadyState result(SteadyState r) {
    const workloads::Stack& stack = s_.serving->stack;
    const workloads::Traffic& t = *s_.traffic;
    const Seconds intake = workloads::intake_time(stack, static_cast<double>(t.input_tokens));
    Seconds front = stack.request_overhead + intake;
    const double tokenising = (intake - stack.intake_overhead).si();
    double variance = input_scv_ * tokenising * tokenising + first_variance_;
    const auto add_wait = [&](Seconds wait, double probability) {
      if (probability > 0.0) {
        variance += wait.si() * wait.si() * (2.0 / probability - 1.0);
      }
    };
    if (front_end_time() > Seconds{}) {
      const base::queueing::Queue queue =
          base::queueing::mg1(workloads::mean_rate(*t.arrivals), front_end_time(), input_scv_);
      front += queue.wait;
      add_wait(queue.wait, queue.wait_probability);
    }
    add_wait(Seconds::from_si(slot_), waits_);
    const Seconds slot = Seconds::from_si(slot_);
    const Seconds first = Seconds::from_si(first_);
    r.ttft_mean = front + slot + first;
    r.ttft_p50 = percentile(r.ttft_mean, variance, stack.request_overhead, 0.0);
    r.ttft_tail = tail_of(r.ttft_mean, variance, stack.request_overhead);
    r.tpot = Seconds::from_si(tpot_);
    if (decodes_ > 0.0) {
      // The batch moves as slowly as its requests: over a stay it averages out to 2/e of its variance.
      const PromptTimes p = costs_.prompts(micro(present_));
      const double met = rate_ * tpot_ * p.extra_square * inverse_decodes();
      r.tpot_tail = tail_of(r.tpot, 2.0 / std::exp(1.0) * interval_variance_ + met,
                            Seconds::from_si(costs_.decode(micro(1.0)).latency));
    }
    r.end_to_end = r.ttft_mean + decodes_ * r.tpot;
    r.tokens_per_step = 1.0;
    if (decodes_ > 0.0) {
      // From passes to tokens.
      const double a_token = decodes_ / static_cast<double>(t.output_tokens - 1);
      r.tokens_per_step = s_.serving->speculation.tokens_per_step();
      r.tpot *= a_token;
      r.tpot_tail = {a_token * r.tpot_tail.p95, a_token * r.tpot_tail.p99};
    }
    r.requests_per_second = rate_ * replicas_;
    r.decode_batch = present_ / ranks_;
    r.running = (present_ + rate_ * first_) / ranks_;
    passes(r);
    return r;
  }

  // The passes behind the numbers: power, spreads, limits.
  void passes(SteadyState& r) {
    const auto d = static_cast<std::int64_t>(std::llround(std::max(1.0, micro(present_))));
    r.decode_pass = costs_.decode_batch(decodes_ > 0.0 ? d : 0);
    r.prefill_pass = costs_.prompt_batch(d, 1);
    const StepCost mixed = step_cost(s_, r.prefill_pass, workspace_);
    const StepCost decode = decodes_ > 0.0 ? step_cost(s_, r.decode_pass, workspace_) : mixed;
    const PromptTimes p = costs_.prompts(micro(present_));
    const Pass pass = pass_at(std::max(1.0, present_), rate_, p);
    const double with = decodes_ > 0.0 ? std::min(1.0, rate_ * pass.mean * p.passes) : 1.0;
    r.prefill_share = with;
    r.decode_clock = decode.clock;
    r.prefill_clock = mixed.clock;
    const PassMix mix{decode, mixed};
    const double mixed_rate = rate_ / ranks_ * p.passes;
    const double all_rate = rate_ / ranks_ * decodes_ / std::max(1.0, micro(present_));
    r.power = mix.power(std::max(0.0, all_rate - mixed_rate), mixed_rate, stages_,
                        s_.platform->machine.power);
    const models::Uncertainty& u = s_.platform->machine.uncertainty;
    r.tpot_spread = mix.tpot_spread(with, u);
    r.ttft_spread =
        mix.ttft_spread(first_ / r.ttft_mean.si(), slot_ / r.ttft_mean.si(), r.tpot_spread, u);
    r.ttft_limit = mixed.limit();
    const double own = p.own;
    if (slot_ > std::max(first_ - own, own)) {
      r.ttft_limit = Limit::slots;
    } else if (first_ - own > own) {
      r.ttft_limit = Limit::waiting;
    } else if (r.ttft_mean.si() - slot_ - first_ > own) {
      r.ttft_limit = Limit::host;
    }
    r.tpot_limit = mix.limit(with);
    r.throughput_limit = Limit::arrivals;
  }

  const ScenarioView& s_;
  Workspace& workspace_;
  PassCosts costs_;
  workloads::Burstiness bursts_;
  double replicas_ = 1;
  double rate_ = 0;  // requests per second of one replica
  double ranks_ = 1;
  double stages_ = 1;
  double slots_ = 1;  // of a replica
  double decodes_ = 0;
  double output_scv_ = 0;
  double input_scv_ = 0;
  double tpot_ = 0;
  double present_ = 0;
  double slot_ = 0;
  double waits_ = 0;
  double first_ = 0;
  double first_variance_ = 0;     // s²
  double interval_variance_ = 0;  // s², of the time between tokens by how many decode
};

}  // namespace

SteadyState open_loop(const ScenarioView& scenario, double slots, Workspace& workspace) {
  return Solver(scenario, slots, workspace).solve();
}

}  // namespace roofcast::sim
