// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/decode_pool.hpp"

#include <algorithm>
#include <cmath>

#include "base/integers.hpp"
#include "sim/iteration/memory.hpp"
#include "workloads/traffic/length_cells.hpp"

namespace roofcast::sim {
namespace {

using base::as_double;
using base::Seconds;

constexpr double kStep = 1.2;         // between nodes of many sequences
constexpr double kRare = 1e-9;        // probability of a state, relative to the most probable one
constexpr double kLeastSpread = 0.1;  // of z and of the exponent of the tail
constexpr double kMostSpread = 100.0;
constexpr double kMostRatio = 0.9999;

// Sequences that the KV cache of a rank holds.
double held_by(const ScenarioView& s, base::Bytes cache) {
  const workloads::Traffic& t = *s.traffic;
  const auto input = as_double(t.input_tokens);
  const double answer = as_double(t.output_tokens) * (1.0 + workloads::squared_variation(t.output));
  const bool reserves = s.serving->policy.reserves == workloads::Reservation::request;
  const double ahead = reserves ? s.serving->policy.reserved_output : 0.0;
  const double drafted = as_double(s.serving->speculation.verified());
  const base::Bytes mean =
      states_of(s) + keys_of(input + 0.5 * (1.0 + ahead) * answer + drafted, s);
  const base::Bytes next =
      states_of(s) + keys_of(input + ahead * as_double(t.output_tokens) + drafted, s);
  if (mean.si() <= 0.0) {
    return as_double(s.serving->limits.max_sequences);
  }
  const bool drawn =
      workloads::squared_variation(t.input) + workloads::squared_variation(t.output) > 0.0;
  return std::max(1.0,
                  drawn ? (cache - 0.5 * next) / mean : std::floor(1.0 + (cache - next) / mean));
}

// Mean over requests of 2 (e^−x − 1 + x) / x²: the share of the variance of a process with correlation e^−s that is
// left in its mean over x. x is the answer over the mean answer.
double averaged_over(const workloads::Traffic& t) {
  const auto left = [](double x) { return x < 1e-3 ? 1.0 : 2.0 * (std::expm1(-x) + x) / (x * x); };
  if (t.output.shape == workloads::Lengths::Shape::fixed) {
    return left(1.0);
  }
  double sum = 0.0;
  for (const workloads::WeightedLength& cell : workloads::cells_of(t.output)) {
    sum += cell.weight * left(cell.tokens / as_double(t.output_tokens));
  }
  return sum;
}

}  // namespace

DecodePool::DecodePool(const ScenarioView& s, base::Bytes cache, Workspace& workspace)
    : s_(s),
      workspace_(workspace),
      iterations_(s.serving->speculation.iterations(s.traffic->output_tokens - 1)),
      stages_(as_double(s.mapping->pipeline_parallel)),
      groups_(as_double(s.mapping->data_parallel)),
      replicas_(as_double(s.serving->replicas)),
      ranks_(replicas_ * groups_),
      output_scv_(workloads::squared_variation(s.traffic->output)),
      averaged_(averaged_over(*s.traffic)) {
  const workloads::SchedulerLimits& limits = s.serving->limits;
  const std::int64_t verified = s.serving->speculation.query_tokens();
  places_ =
      ranks_ * std::max(1.0, std::min({held_by(s, cache), as_double(limits.max_sequences),
                                       as_double(limits.max_tokens_per_iteration / verified)}));
  const double most = places_ / replicas_;
  for (double n = 1.0; n < most; n = std::max(n + 1.0, std::floor(kStep * n))) {
    nodes_.push_back(n);
  }
  nodes_.push_back(std::max(1.0, most));
  times_.resize(nodes_.size());
}

workloads::Batch DecodePool::iteration(double present) const {
  const double replica = std::max(1.0, present / replicas_);
  workloads::Batch batch;
  batch.groups = std::clamp<std::int64_t>(std::llround(replica), 1, std::llround(groups_));
  batch.decode_sequences =
      std::max<std::int64_t>(1, std::llround(replica / as_double(batch.groups) / stages_));
  batch.query_tokens = s_.serving->speculation.query_tokens();
  batch.context = std::llround(workloads::mean_context(*s_.traffic));
  return batch;
}

Seconds DecodePool::time(std::size_t node) {
  Seconds& known = times_[node];
  if (known == Seconds{}) {
    const workloads::Batch batch = iteration(nodes_[node] * replicas_);
    const IterationCost cost = iteration_cost(s_, batch, workspace_);
    const double each = nodes_[node] / as_double(batch.groups);
    known = base::max(cost.latency, std::min(std::max(each, 1.0), stages_) * cost.period);
  }
  return known;
}

Seconds DecodePool::interval(double present) {
  const double replica = std::clamp(present / replicas_, 1.0, nodes_.back());
  const auto above = std::lower_bound(nodes_.begin(), nodes_.end(), replica);
  const auto node = static_cast<std::size_t>(above - nodes_.begin());
  if (node == 0 || *above == replica) {
    return time(node);
  }
  const double share = (replica - nodes_[node - 1]) / (nodes_[node] - nodes_[node - 1]);
  return (1.0 - share) * time(node - 1) + share * time(node);
}

double DecodePool::rate(double present) { return present / (iterations_ * interval(present).si()); }

double DecodePool::busy(double others) const {
  double term = std::exp(-others);
  double fewer = 0.0;
  for (double n = 0.0; n < replicas_; n += 1.0) {
    fewer += term;
    term *= others / (n + 1.0);
  }
  return std::clamp(1.0 - fewer, 0.0, 1.0);
}

// The states one after the other, D = n at most, then the geometric tail.
//
//   symbol        meaning                                                                     unit
//   inside        z                                                                           –
//   beyond        (Δ + scv)/2, whose inverse is the exponent of the tail's ratio              –
//   up            births over deaths, λ·I·t/D                                                 –
//   log_p, top    ln of the weight of a state, and the largest so far; sums are relative to   –
//                 that
//   sum, present  Σ weight; Σ weight · D                                                      –
//   seen, square  Σ weight · D · t; Σ weight · D · t²                                         s, s²
//   completed     Σ weight · deaths                                                           1/s
//   tail, queued  weight of the states with a queue; Σ of weight · queue                      –
DecodePool::Load DecodePool::load(double rate, double dispersion) {
  const auto bounded = [](double z) { return std::clamp(z, kLeastSpread, kMostSpread); };
  const double inside = bounded(1.0 + (dispersion - 1.0) / (1.0 + output_scv_));
  const double beyond = bounded(0.5 * (dispersion + output_scv_));
  const double least = std::min(places_, rate * iterations_ * interval(places_).si());
  double log_p = 0.0;
  double top = 0.0;
  double sum = 1.0;
  double idle = replicas_ >= 1.0 ? 1.0 : 0.0;  // a replica has no sequence
  double present = 0.0;
  double seen = 0.0;
  double square = 0.0;
  double completed = 0.0;
  double last = 0.0;
  double ratio = 0.0;
  for (double n = 1.0;; n += 1.0) {
    const double here = std::min(n, places_);
    const double t = interval(here).si();
    const double up = rate * iterations_ * t / here;
    log_p += std::log(up) / inside;
    if (log_p > top) {
      const double scale = std::exp(top - log_p);
      for (double* each : {&sum, &idle, &present, &seen, &square, &completed}) {
        *each *= scale;
      }
      top = log_p;
    }
    last = std::exp(log_p - top);
    sum += last;
    idle += n < replicas_ ? last : 0.0;
    present += last * here;
    seen += last * here * t;
    square += last * here * t * t;
    completed += last * here / (iterations_ * t);
    if (n >= places_) {
      ratio = std::pow(std::min(up, kMostRatio), 1.0 / beyond);
      break;
    }
    if (last < kRare && n > least && up < 1.0) {
      break;
    }
  }
  Load r;
  double queued = 0.0;
  if (ratio > 0.0) {
    const double tail = last * ratio / (1.0 - ratio);
    const double t = interval(places_).si();
    sum += tail;
    present += tail * places_;
    seen += tail * places_ * t;
    square += tail * places_ * t * t;
    completed += tail * places_ / (iterations_ * t);
    queued = tail / (1.0 - ratio);
    r.waits = (last + tail) / sum;
  }
  r.interval = Seconds::from_si(present / (iterations_ * completed));
  r.running = std::min(places_, rate * iterations_ * r.interval.si());
  const double mean = seen / present;
  r.interval_variance = base::SquareSeconds::from_si(std::max(0.0, square / present - mean * mean));
  r.busy = 1.0 - idle / sum;
  r.wait = Seconds::from_si(queued / sum / rate);
  return r;
}

}  // namespace roofcast::sim
