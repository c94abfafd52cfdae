// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/iteration_cycles.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

constexpr int kRounds = 8;           // of Steffensen's method
constexpr int kClientRounds = 30;    // of the fixed point of clustered()
constexpr int kMostIterations = 60;  // of prompts, one after the other
constexpr double kEnough = 1e-4;     // share of an iteration that a chain may leave out
constexpr double kMostLoad = 0.98;   // of prompts; formulas divide by 1 − load

double square(double x) { return x * x; }

// Moves a towards b by `share`.
void mix(MeanIteration& a, const MeanIteration& b, double share) {
  for (const auto of :
       {&MeanIteration::mean, &MeanIteration::length_biased, &MeanIteration::rest,
        &MeanIteration::others, &MeanIteration::share, &MeanIteration::prefill_interference,
        &MeanIteration::mean_prefill_interference}) {
    a.*of += share * (b.*of - a.*of);
  }
}

}  // namespace

IterationCycles::IterationCycles(const ScenarioView& s, IterationCosts& costs,
                                 const workloads::Burstiness& bursts)
    : costs_(costs),
      bursts_(bursts),
      ranks_(static_cast<double>(s.mapping->data_parallel)),
      stages_(static_cast<double>(s.mapping->pipeline_parallel)),
      spacing_(s.serving->replicas > 1
                   ? 0.0
                   : workloads::intake_time(s.serving->stack,
                                            static_cast<double>(s.traffic->input_tokens))
                         .si()) {
  const workloads::Traffic& t = *s.traffic;
  const auto steps = [&](double tokens) {
    return s.serving->speculation.steps(std::llround(tokens) - 1);
  };
  if (t.output.shape == workloads::Lengths::Shape::fixed) {
    answers_.push_back({steps(static_cast<double>(t.output_tokens)), 1.0});
    return;
  }
  double all = 0.0;
  for (const workloads::WeightedLength& cell : workloads::cells_of(t.output)) {
    if (cell.tokens > 1.0) {
      answers_.push_back({steps(cell.tokens), cell.weight});
      all += cell.weight;
    }
  }
  for (Answer& answer : answers_) {
    answer.weight /= all;
  }
}

double IterationCycles::micro(double present) const {
  return present / ranks_ / in_flight(present);
}
double IterationCycles::in_flight(double present) const {
  return std::clamp(present / ranks_, 1.0, stages_);
}

double IterationCycles::inverse_decodes() const {
  double sum = 0.0;
  for (const Answer& answer : answers_) {
    sum += answer.decodes > 0.0 ? answer.weight / answer.decodes : 0.0;
  }
  return sum;
}

MeanIteration IterationCycles::at(double present, double rate, const PromptTimes& p,
                                  double client_delay) {
  const IterationTime t = costs_.decode(micro(present));
  const Cycle cycle{p, costs_.prompt_group(micro(present)), rate, t.period.si()};
  MeanIteration iteration;
  if (costs_.prompts_first()) {
    prompts_first(cycle, iteration);
  } else {
    mixed(cycle, iteration);
  }
  // A request that arrives is half-way through an iteration on average. `others` are the requests that arrived before
  // it in that iteration, and later ones that still fit.
  const double half = 0.5 * iteration.length_biased;
  iteration.rest = half;
  iteration.others = std::max(0.0, rate * half + bursts_.beyond(base::Seconds::from_si(half)));
  iteration.others *= 1.0 + p.fits;
  add_interference(cycle, iteration);
  if (client_delay < kByThemselves && rate > 0.0) {
    // The share of the picture of clusters: all if the longest iteration is longer than d, none below d/2.
    const double longest = t.period.si() + p.extra;
    const double share = std::max(std::clamp(2.0 * longest / client_delay - 1.0, 0.0, 1.0),
                                  std::clamp(2.0 * t.period.si() / client_delay - 1.0, 0.0, 1.0));
    mix(iteration, clustered(cycle, client_delay), share);
  }
  iteration.interval =
      std::max(t.latency, in_flight(present) * t.period).si() * (iteration.mean / t.period.si());
  return iteration;
}

// z(L) of the header. `busy` is λS.
double IterationCycles::none(const Cycle& cycle, double seconds) const {
  const double busy = std::min(cycle.rate * spacing_, kMostLoad);
  return seconds < spacing_ ? 1.0 - busy * seconds / spacing_
                            : (1.0 - busy) * std::exp(-cycle.rate * (seconds - spacing_));
}

// Φ(L). The front end is idle with probability 1 − λS; the number is then Poisson. Otherwise requests come one by one:
// some come with probability 1 − z(L), λL / (1 − z(L)) of them on average.
double IterationCycles::adds(const Cycle& cycle, double seconds) const {
  const double number = cycle.rate * seconds;
  const double poisson = cycle.prompt_group.at(number).mean;
  const double busy = std::min(cycle.rate * spacing_, 1.0);
  const double some = 1.0 - none(cycle, seconds);
  if (busy <= 0.0 || some <= 0.0) {
    return poisson;
  }
  return (1.0 - busy) * poisson +
         busy * some * cycle.prompt_group.together(std::max(1.0, number / some));
}

// Variance of φ by bursts: the part of the variance of the number of arrivals beyond Poisson's, times slope². The slope
// is that of E[φ] by this number.
double IterationCycles::unevenness(double rate, double seconds, double slope) const {
  return (bursts_.dispersion(base::Seconds::from_si(seconds)) - 1.0) * rate * seconds * slope *
         slope;
}

// Iterations that carry decodes and prompts together. `with` is a, the fixed point of the header's second equation,
// found by Steffensen's method.
//
//   name          meaning                                                                              unit
//   begins        p of the header                                                                      –
//   quiet         λt, mean number of requests that arrive in an iteration without prompts              –
//   quiet_adds    Φ(t)                                                                                 –
//   most          largest a that is tried                                                              s
//   share         π                                                                                    –
//   next(a)       right side of the equation for a                                                     s
//   first, second   next(a) and next(next(a))                                                          s
//   gone, bend    first and second difference of a, first, second                                      s
//   jump          Aitken's extrapolation of these three                                                s
//   added         (1−π)·Φ(t) + π·Φ(a): mean of φ over all iterations                                   –
//   squares       E[φ²] over all iterations, bursts included                                           –
//   second        E[C²] = t² + 2te·added + e²·squares                                                  s²
//   of_prompts    E[a²] over iterations with prompts; variance = of_prompts − a²                       s²
//   slope         λe·dE[φ]/dn: how much longer the next iteration is per second of this one            –
void IterationCycles::mixed(const Cycle& cycle, MeanIteration& iteration) const {
  const double t = cycle.decode;
  const double e = cycle.prompts.extra;
  const double quiet = cycle.rate * t;
  const PromptGroup::Added after_quiet = cycle.prompt_group.at(quiet);
  const double begins = 1.0 - none(cycle, t);
  const double quiet_adds = adds(cycle, t);
  const double most = (t + e) / (1.0 - kMostLoad);
  double share = 0.0;
  const auto next = [&](double with) {
    share = begins / std::max(begins + none(cycle, with), 1e-30);
    const double added = (1.0 - share) * quiet_adds + share * adds(cycle, with);
    return std::min(most, t + e * added / std::max(share, 1e-30));
  };
  double with = next(t + e);
  for (int i = 0; i < kRounds; ++i) {
    const double first = next(with);
    const double second = next(first);
    const double bend = second - 2.0 * first + with;
    const double gone = first - with;
    const double jump = bend != 0.0 ? with - gone * gone / bend : second;
    const double before = with;
    with = jump >= std::min(with, second) && jump <= most ? jump : second;
    if (std::abs(with - before) < 1e-6 * with) {
      break;
    }
  }
  next(with);
  const PromptGroup::Added after = cycle.prompt_group.at(cycle.rate * with);
  const double added = (1.0 - share) * quiet_adds + share * adds(cycle, with);
  const double squares =
      (1.0 - share) * (after_quiet.square + unevenness(cycle.rate, t, after_quiet.slope)) +
      share * (after.square + unevenness(cycle.rate, with, after.slope));
  iteration.share = share;
  iteration.mean = t + e * added;
  double second = t * t + 2.0 * t * e * added + e * e * std::max(squares, added * added);
  // Iterations with prompts differ in length, and the iterations after them differ with them: the variance of one is
  // passed on with slope². The sum over all that follow is a geometric series, continued with probability π.
  const double of_prompts = (second - (1.0 - share) * t * t) / std::max(share, 1e-30);
  const double slope = std::min(cycle.rate * e * after.slope, kMostLoad);
  const double variance = std::max(0.0, of_prompts - with * with);
  second += share * variance * share * slope * slope / (1.0 - share * slope * slope);
  iteration.length_biased = second / iteration.mean;
}

// Iterations of prompts that follow each other, after an iteration of length `first`, until no request arrives in one.
//
//   length   s, mean length of the current iteration        number   λ·length, requests that arrive in it
//   chance   probability that the chain has come this far   on       1 − z(length), probability that it continues
IterationCycles::Chain IterationCycles::chain(const Cycle& cycle, double first) const {
  Chain chain;
  const double e = cycle.prompts.extra;
  double length = first;
  double chance = 1.0;
  for (int i = 0; i < kMostIterations && chance * length > kEnough * cycle.decode; ++i) {
    const double number = cycle.rate * length;
    const PromptGroup::Added added = cycle.prompt_group.at(number);
    const double on = 1.0 - none(cycle, length);
    if (on <= 0.0) {
      break;
    }
    chain.time += chance * e * adds(cycle, length);
    chain.square +=
        chance * e * e * std::max(0.0, added.square + unevenness(cycle.rate, length, added.slope));
    length = e * adds(cycle, length) / on;
    chance *= on;
  }
  return chain;
}

void IterationCycles::prompts_first(const Cycle& cycle, MeanIteration& iteration) const {
  const double t = cycle.decode;
  const Chain prompts = chain(cycle, t);
  iteration.mean = t + prompts.time;
  iteration.length_biased = (square(t) + prompts.square) / iteration.mean;
  iteration.share = 1.0 - none(cycle, t);
}

// Clusters of prompts in a closed loop: clients send at the end of an iteration, and the scheduler has the request a
// time d later (see the header). A cycle has one cluster of iterations with prompts and the iterations until the next
// cluster:
//
//   gap               iterations without prompts, about d/t
//   1/p               iterations until one end lets clients send; the last of them begins the cluster
//   begun             1, the second iteration of the cluster; the beginning of the first one lets clients send, too.
//                     0 if prompts run first: iterations of prompts carry no decodes, so they are not counted
//   goes_on           further iterations, until one has no prompts
//
//   name              meaning                                                                          unit
//   c                 C, mean iteration; found by fixed point. It grows more slowly with r than r      s
//   sends             r = λC                                                                           –
//   p                 1 − e^(−r), probability that the end of an iteration lets clients send           –
//   iterations        gap + 1/p + begun + goes_on, iterations of a cycle                               –
//   group             r·(gap + begun), mean number of prompts of the second iteration                  –
//   gathered          1 − e^(−group), probability that it has prompts                                  –
//   one               what prompts add to the first iteration of a cluster                             s
//   most              what prompts add to the second iteration, times `gathered`                       s
//   second            the same, given that it has prompts                                              s
//   cluster           what prompts add to all iterations of a cluster                                  s
//   with              decodes' part of an iteration with prompts: t, or 0 if prompts run first         s
//
// Requests are of three kinds: those that begin a cluster, those that the second iteration gathers, and those that
// follow.
//
//   rests             rest of the iteration in progress, by kind                                       s
//   shares            share of the requests, by kind                                                   –
//   others            prompts in the same iteration, by kind                                           –
//   after             what later prompts of the cluster add, by kind; `follows` is their mean          s
//   late              clusters that a request misses because one has just ended: (1 − scv)/2 of a
//                     renewal process, scv = (1−p)/(p·iterations)²                                     –
MeanIteration IterationCycles::clustered(const Cycle& cycle, double client_delay) const {
  const double t = cycle.decode;
  const double e = cycle.prompts.extra;
  const double gap = std::max(0.0, client_delay / t - 0.5 * std::min(1.0, client_delay / t));
  const double begun = costs_.prompts_first() ? 0.0 : 1.0;
  double c = t;
  double iterations = 1.0;
  double sends = 0.0;
  double one = 0.0;
  double gathered = 0.0;
  double most = 0.0;
  double goes_on = 0.0;
  for (int i = 0; i < kClientRounds; ++i) {
    sends = std::max(cycle.rate * c, 1e-12);
    const double p = -std::expm1(-sends);
    const double group = sends * (gap + begun);
    one = e * cycle.prompt_group.at(sends).mean / p;
    gathered = group > 0.0 ? -std::expm1(-group) : 0.0;
    most = group > 0.0 ? e * cycle.prompt_group.at(group).mean : 0.0;
    goes_on = begun * gathered / std::max(1.0 - p, 1e-6);
    iterations = gap + 1.0 / p + begun + goes_on;
    const double now = t + (one + most + goes_on * p * one) / iterations;
    const bool same = std::abs(now - c) < 1e-5 * c;
    c = i < 3 ? now : 0.5 * (c + now);
    if (same) {
      break;
    }
  }
  const double p = -std::expm1(-sends);
  const double with = begun * t;
  const double second = gathered > 0.0 ? most / gathered : 0.0;
  const double cluster = one + most + goes_on * p * one;
  MeanIteration iteration;
  iteration.mean = c;
  iteration.share = std::min(1.0, (1.0 + gathered + goes_on * p) / iterations);
  iteration.length_biased =
      ((iterations - begun * iteration.share * iterations) * square(t) +
       (1.0 + goes_on * p) * square(with + one) + gathered * square(with + second)) /
      (iterations * c);
  const double rests[] = {
      t > client_delay ? t - client_delay : 0.5 * t,
      std::max(0.0, with + one - client_delay * (0.5 * gap + begun) / std::max(gap + begun, 1e-9)),
      std::max(0.0, with + one - client_delay)};
  const double shares[] = {1.0 / p / iterations, (gap + begun) / iterations, goes_on / iterations};
  const double others[] = {sends, sends * (gap + begun), sends};
  const double after[] = {most + goes_on * p * one, begun * p * one / std::max(1.0 - p, 1e-6),
                          begun * p * one / std::max(1.0 - p, 1e-6)};
  double follows = 0.0;
  for (int i = 0; i < 3; ++i) {
    iteration.rest += shares[i] * rests[i];
    iteration.others += 0.5 * shares[i] * others[i];
    follows += shares[i] * after[i];
  }
  iteration.others *= 1.0 + cycle.prompts.fits;
  const double late = 0.5 * (1.0 - std::min(1.0, (1.0 - p) / square(p * iterations)));
  for (const Answer& answer : answers_) {
    if (answer.decodes > 0.0) {
      const double of = follows - cluster * std::min(late, answer.decodes / iterations);
      iteration.prefill_interference += answer.weight * of;
      iteration.mean_prefill_interference += answer.weight * of / answer.decodes;
    }
  }
  return iteration;
}

// Prefill interference. Requests that arrived while a request's own prompt was computed slow its first decodes. They
// take the place of the requests that arrive in a mean iteration.
//
//   length   s, first the time of the request's own prompt, then the mean iteration with prompts, one by one
//   share    probability that the iteration has prompts
//   now      s, mean of this iteration
//   quiet    Φ(t)                                  begins   1 − z(t)
//   sum      s, by which the decodes so far took longer than mean iterations
//   of       s, sum for an answer of this many decodes
void IterationCycles::add_interference(const Cycle& cycle, MeanIteration& iteration) const {
  const PromptTimes& p = cycle.prompts;
  double length = p.own + p.extra * (cycle.prompt_group.together(1.0 + iteration.others) - 1.0) +
                  (1.0 - p.fits) * iteration.rest;
  std::vector<double> prefill_interference;  // s, after 1, 2, … decodes
  double sum = 0.0;
  if (costs_.prompts_first()) {
    sum = chain(cycle, length).time - chain(cycle, cycle.decode).time;
    prefill_interference.push_back(sum);
  } else {
    const double t = cycle.decode;
    const double quiet = adds(cycle, t);
    const double begins = 1.0 - none(cycle, t);
    double share = 1.0;
    for (int i = 0; i < kMostIterations; ++i) {
      const double now = t + p.extra * (share * adds(cycle, length) + (1.0 - share) * quiet);
      share = share * (1.0 - none(cycle, length)) + (1.0 - share) * begins;
      length = t + (now - t) / share;
      sum += now - iteration.mean;
      prefill_interference.push_back(sum);
      if (std::abs(now - iteration.mean) < 1e-3 * iteration.mean) {
        break;
      }
    }
  }
  for (const Answer& answer : answers_) {
    if (answer.decodes > 0.0) {
      const double most =
          std::min(answer.decodes, static_cast<double>(prefill_interference.size()));
      const double of =
          prefill_interference[static_cast<std::size_t>(std::max(1.0, std::round(most))) - 1];
      iteration.prefill_interference += answer.weight * of;
      iteration.mean_prefill_interference += answer.weight * of / answer.decodes;
    }
  }
}

// Time to the first token in the engine. A request that finds no decodes waits as in M/G/1: busy is the utilisation by
// prompts, scv that of their times, and uneven Kingman's ratio of the wait to that of Poisson arrivals. A request that
// finds decodes waits for the rest of an iteration and shares the next one with `others`.
double IterationCycles::first_token(double present, double rate, const PromptTimes& p,
                                    const MeanIteration& iteration) {
  const PromptGroup& prompt_group = costs_.prompt_group(micro(present));
  if (present < 1.0) {
    const double busy = std::min(rate * p.own * prompt_group.last_slope(), 0.98);
    const double scv = std::max(0.0, p.own_square / (p.own * p.own) - 1.0);
    const double uneven = (bursts_.limit + scv) / (1.0 + scv);
    return uneven * rate * prompt_group.last_slope() * p.own_square / (2.0 * (1.0 - busy)) + p.own;
  }
  return iteration.rest + p.own + p.extra * (prompt_group.together(1.0 + iteration.others) - 1.0);
}

// Variance of first_token(), in s². The rest of an iteration is taken as evenly distributed: variance X²/12. The wait
// of an idle replica is taken as exponential with probability `busy`: variance wait²·(2/busy − 1). `own` is the
// variance by the prompt's own length.
double IterationCycles::first_token_variance(double present, double rate, const PromptTimes& p,
                                             const MeanIteration& iteration) {
  const PromptGroup& prompt_group = costs_.prompt_group(micro(present));
  const double own = std::max(0.0, p.own_square - p.own * p.own);
  if (present < 1.0) {
    const double busy = std::min(rate * p.own * prompt_group.last_slope(), 0.98);
    const double wait = rate * prompt_group.last_slope() * p.own_square / (2.0 * (1.0 - busy));
    return own + (busy > 0.0 ? wait * wait * (2.0 / busy - 1.0) : 0.0);
  }
  const double slope = prompt_group.last_slope();
  return own + iteration.length_biased * iteration.length_biased / 12.0 +
         iteration.others * slope * slope * p.extra_square;
}

}  // namespace roofcast::sim
