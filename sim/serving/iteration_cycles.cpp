// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/iteration_cycles.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

constexpr int kRounds = 8;  // of Steffensen's method
constexpr int kClientRounds = 30;
constexpr int kMostPasses = 60;     // of prompts, one after the other
constexpr double kEnough = 1e-4;    // of a pass
constexpr double kMostLoad = 0.98;  // of prompts, where formulas have its distance from 1

double square(double x) { return x * x; }

// `share` of b.
void mix(Pass& a, const Pass& b, double share) {
  for (const auto of : {&Pass::mean, &Pass::seen, &Pass::rest, &Pass::others, &Pass::share,
                        &Pass::met, &Pass::met_each}) {
    a.*of += share * (b.*of - a.*of);
  }
}

}  // namespace

PassRounds::PassRounds(const ScenarioView& s, PassCosts& costs, const workloads::Burstiness& bursts)
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

double PassRounds::micro(double present) const { return present / ranks_ / in_flight(present); }
double PassRounds::in_flight(double present) const {
  return std::clamp(present / ranks_, 1.0, stages_);
}

double PassRounds::inverse_decodes() const {
  double sum = 0.0;
  for (const Answer& answer : answers_) {
    sum += answer.decodes > 0.0 ? answer.weight / answer.decodes : 0.0;
  }
  return sum;
}

Pass PassRounds::at(double present, double rate, const PromptTimes& p, double lag) {
  const PassTime t = costs_.decode(micro(present));
  const Round round{p, costs_.crowd(micro(present)), rate, t.period};
  Pass pass;
  if (costs_.prompts_first()) {
    prompts_first(round, pass);
  } else {
    mixed(round, pass);
  }
  // Those that came before it in that pass, and those after that still fit.
  const double half = 0.5 * pass.seen;
  pass.rest = half;
  pass.others = std::max(0.0, rate * half + bursts_.beyond(base::Seconds::from_si(half)));
  pass.others *= 1.0 + p.fits;
  meet(round, pass);
  if (lag < kByThemselves && rate > 0.0) {
    const double longest = t.period + p.extra;
    const double share = std::max(std::clamp(2.0 * longest / lag - 1.0, 0.0, 1.0),
                                  std::clamp(2.0 * t.period / lag - 1.0, 0.0, 1.0));
    mix(pass, clustered(round, lag), share);
  }
  pass.interval = std::max(t.latency, in_flight(present) * t.period) * (pass.mean / t.period);
  return pass;
}

// The front end lets requests out one by one: the rest of a gap as after a service of M/D/1.
double PassRounds::none(const Round& round, double seconds) const {
  const double busy = std::min(round.rate * spacing_, kMostLoad);
  return seconds < spacing_ ? 1.0 - busy * seconds / spacing_
                            : (1.0 - busy) * std::exp(-round.rate * (seconds - spacing_));
}

double PassRounds::adds(const Round& round, double seconds) const {
  const double number = round.rate * seconds;
  const double poisson = round.crowd.at(number).mean;
  const double busy = std::min(round.rate * spacing_, 1.0);
  const double some = 1.0 - none(round, seconds);
  if (busy <= 0.0 || some <= 0.0) {
    return poisson;
  }
  return (1.0 - busy) * poisson + busy * some * round.crowd.together(std::max(1.0, number / some));
}

// Variance of the number that arrives in a time beyond Poisson's, each of which adds `slope`.
double PassRounds::unevenness(double rate, double seconds, double slope) const {
  return (bursts_.dispersion(base::Seconds::from_si(seconds)) - 1.0) * rate * seconds * slope *
         slope;
}

void PassRounds::mixed(const Round& round, Pass& pass) const {
  const double t = round.decode;
  const double e = round.prompts.extra;
  const double quiet = round.rate * t;
  const PromptCrowd::Added after_quiet = round.crowd.at(quiet);
  const double begins = 1.0 - none(round, t);
  const double quiet_adds = adds(round, t);
  const double most = (t + e) / (1.0 - kMostLoad);
  double share = 0.0;
  // Mean length of a pass with prompts, by that of the last.
  const auto next = [&](double with) {
    share = begins / std::max(begins + none(round, with), 1e-30);
    const double added = (1.0 - share) * quiet_adds + share * adds(round, with);
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
  const PromptCrowd::Added after = round.crowd.at(round.rate * with);
  const double added = (1.0 - share) * quiet_adds + share * adds(round, with);
  const double squares =
      (1.0 - share) * (after_quiet.square + unevenness(round.rate, t, after_quiet.slope)) +
      share * (after.square + unevenness(round.rate, with, after.slope));
  pass.share = share;
  pass.mean = t + e * added;
  double second = t * t + 2.0 * t * e * added + e * e * std::max(squares, added * added);
  // Passes with prompts differ among each other, and those after them with them.
  const double of_prompts = (second - (1.0 - share) * t * t) / std::max(share, 1e-30);
  const double slope = std::min(round.rate * e * after.slope, kMostLoad);
  const double variance = std::max(0.0, of_prompts - with * with);
  second += share * variance * share * slope * slope / (1.0 - share * slope * slope);
  pass.seen = second / pass.mean;
}

PassRounds::Chain PassRounds::chain(const Round& round, double first) const {
  Chain chain;
  const double e = round.prompts.extra;
  double length = first;
  double chance = 1.0;  // that they have gone on so far
  for (int i = 0; i < kMostPasses && chance * length > kEnough * round.decode; ++i) {
    const double number = round.rate * length;
    const PromptCrowd::Added added = round.crowd.at(number);
    const double on = 1.0 - none(round, length);
    if (on <= 0.0) {
      break;
    }
    chain.time += chance * e * adds(round, length);
    chain.square +=
        chance * e * e * std::max(0.0, added.square + unevenness(round.rate, length, added.slope));
    length = e * adds(round, length) / on;
    chance *= on;
  }
  return chain;
}

void PassRounds::prompts_first(const Round& round, Pass& pass) const {
  const double t = round.decode;
  const Chain prompts = chain(round, t);
  pass.mean = t + prompts.time;
  pass.seen = (square(t) + prompts.square) / pass.mean;
  pass.share = 1.0 - none(round, t);
}

// What clients send after a pass comes `lag` later, so that long passes gather what the short ones before them and
// their own beginning let them send, and none comes for as long after them.
Pass PassRounds::clustered(const Round& round, double lag) const {
  const double t = round.decode;
  const double e = round.prompts.extra;
  const double gap = std::max(0.0, lag / t - 0.5 * std::min(1.0, lag / t));  // passes
  const double begun = costs_.prompts_first() ? 0.0 : 1.0;  // passes of prompts end decodes, too
  // By the prompts of a pass, r = λC; C grows with r more slowly than r.
  double c = t;
  double passes = 1.0;
  double sends = 0.0;
  double one = 0.0;
  double gathered = 0.0;
  double most = 0.0;
  double goes_on = 0.0;
  for (int i = 0; i < kClientRounds; ++i) {
    sends = std::max(round.rate * c, 1e-12);
    const double p = -std::expm1(-sends);
    const double group = sends * (gap + begun);
    one = e * round.crowd.at(sends).mean / p;
    gathered = group > 0.0 ? -std::expm1(-group) : 0.0;
    most = group > 0.0 ? e * round.crowd.at(group).mean : 0.0;
    goes_on = begun * gathered / std::max(1.0 - p, 1e-6);
    passes = gap + 1.0 / p + begun + goes_on;
    const double now = t + (one + most + goes_on * p * one) / passes;
    const bool same = std::abs(now - c) < 1e-5 * c;
    c = i < 3 ? now : 0.5 * (c + now);
    if (same) {
      break;
    }
  }
  const double p = -std::expm1(-sends);
  const double with = begun * t;  // of passes with prompts, beside what prompts add
  const double second = gathered > 0.0 ? most / gathered : 0.0;
  const double cluster = one + most + goes_on * p * one;
  Pass pass;
  pass.mean = c;
  pass.share = std::min(1.0, (1.0 + gathered + goes_on * p) / passes);
  pass.seen = ((passes - begun * pass.share * passes) * square(t) +
               (1.0 + goes_on * p) * square(with + one) + gathered * square(with + second)) /
              (passes * c);
  // Of requests: those that begin a cluster, those that are gathered and those that follow.
  const double rests[] = {
      t > lag ? t - lag : 0.5 * t,
      std::max(0.0, with + one - lag * (0.5 * gap + begun) / std::max(gap + begun, 1e-9)),
      std::max(0.0, with + one - lag)};
  const double shares[] = {1.0 / p / passes, (gap + begun) / passes, goes_on / passes};
  const double others[] = {sends, sends * (gap + begun), sends};
  const double after[] = {most + goes_on * p * one, begun * p * one / std::max(1.0 - p, 1e-6),
                          begun * p * one / std::max(1.0 - p, 1e-6)};
  double follows = 0.0;
  for (int i = 0; i < 3; ++i) {
    pass.rest += shares[i] * rests[i];
    pass.others += 0.5 * shares[i] * others[i];
    follows += shares[i] * after[i];
  }
  pass.others *= 1.0 + round.prompts.fits;
  // Right after a cluster the next is farther away than at any time: a renewal process.
  const double late = 0.5 * (1.0 - std::min(1.0, (1.0 - p) / square(p * passes)));
  for (const Answer& answer : answers_) {
    if (answer.decodes > 0.0) {
      const double of = follows - cluster * std::min(late, answer.decodes / passes);
      pass.met += answer.weight * of;
      pass.met_each += answer.weight * of / answer.decodes;
    }
  }
  return pass;
}

// Prompts that came while a request's own was computed are met by its first decodes, in place of those that come in
// a usual pass.
void PassRounds::meet(const Round& round, Pass& pass) const {
  const PromptTimes& p = round.prompts;
  double length = p.own + p.extra * (round.crowd.together(1.0 + pass.others) - 1.0) +
                  (1.0 - p.fits) * pass.rest;
  std::vector<double> met;  // by 1, 2, … decodes
  double sum = 0.0;
  if (costs_.prompts_first()) {
    sum = chain(round, length).time - chain(round, round.decode).time;
    met.push_back(sum);
  } else {
    // Chances of a pass with prompts and mean length of one, pass after pass.
    const double t = round.decode;
    const double quiet = adds(round, t);
    const double begins = 1.0 - none(round, t);
    double share = 1.0;
    for (int i = 0; i < kMostPasses; ++i) {
      const double now = t + p.extra * (share * adds(round, length) + (1.0 - share) * quiet);
      share = share * (1.0 - none(round, length)) + (1.0 - share) * begins;
      length = t + (now - t) / share;
      sum += now - pass.mean;
      met.push_back(sum);
      if (std::abs(now - pass.mean) < 1e-3 * pass.mean) {
        break;
      }
    }
  }
  for (const Answer& answer : answers_) {
    if (answer.decodes > 0.0) {
      const double most = std::min(answer.decodes, static_cast<double>(met.size()));
      const double of = met[static_cast<std::size_t>(std::max(1.0, std::round(most))) - 1];
      pass.met += answer.weight * of;
      pass.met_each += answer.weight * of / answer.decodes;
    }
  }
}

double PassRounds::first_token(double present, double rate, const PromptTimes& p,
                               const Pass& pass) {
  const PromptCrowd& crowd = costs_.crowd(micro(present));
  if (present < 1.0) {
    const double busy = std::min(rate * p.own * crowd.last_slope(), 0.98);
    // Kingman's ratio of the wait to that of Poisson arrivals.
    const double scv = std::max(0.0, p.own_square / (p.own * p.own) - 1.0);
    const double uneven = (bursts_.limit + scv) / (1.0 + scv);
    return uneven * rate * crowd.last_slope() * p.own_square / (2.0 * (1.0 - busy)) + p.own;
  }
  return pass.rest + p.own + p.extra * (crowd.together(1.0 + pass.others) - 1.0);
}

// The rest of a pass is taken as even, waits of an idle replica as exponential.
double PassRounds::first_token_variance(double present, double rate, const PromptTimes& p,
                                        const Pass& pass) {
  const PromptCrowd& crowd = costs_.crowd(micro(present));
  const double own = std::max(0.0, p.own_square - p.own * p.own);
  if (present < 1.0) {
    const double busy = std::min(rate * p.own * crowd.last_slope(), 0.98);
    const double wait = rate * crowd.last_slope() * p.own_square / (2.0 * (1.0 - busy));
    return own + (busy > 0.0 ? wait * wait * (2.0 / busy - 1.0) : 0.0);
  }
  const double slope = crowd.last_slope();
  return own + pass.seen * pass.seen / 12.0 + pass.others * slope * slope * p.extra_square;
}

}  // namespace roofcast::sim
