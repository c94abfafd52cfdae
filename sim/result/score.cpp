// SPDX-License-Identifier: Apache-2.0
#include "sim/result/score.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "sim/scenario/accuracy.hpp"
#include "sim/scenario/scenario.hpp"

namespace roofcast::sim {
namespace {

using workloads::ScorePoint;
using workloads::Selection;

bool matches(const std::string& wanted, const std::string& has) {
  return wanted.empty() || wanted == has;
}

// The share of questions that k samples solve, in percent: c(k) = exp(a·k^−b) through two points (arXiv 2407.21787,
// section 3). log(−log c) is linear in log k. NaN if a point has no question or all questions solved.
double coverage(double k, double from_k, double from, double to_k, double to) {
  const double log_from = std::log(-std::log(from / 100.0));
  const double log_to = std::log(-std::log(to / 100.0));
  const double share = std::log(k / from_k) / std::log(to_k / from_k);
  const double percent = 100.0 * std::exp(-std::exp(log_from + share * (log_to - log_from)));
  return std::isfinite(log_from) && std::isfinite(log_to) ? percent : std::nan("");
}

// Scores by number of samples. Only coverage is interpolated between them.
using BySamples = std::map<std::int64_t, double>;

double at_samples(const BySamples& scores, const workloads::Accuracy& a) {
  const auto above = scores.lower_bound(a.samples);
  if (above == scores.end()) {
    return std::nan("");
  }
  if (above->first == a.samples) {
    return above->second;
  }
  if (above == scores.begin() || a.select != Selection::coverage) {
    return std::nan("");
  }
  const auto below = std::prev(above);
  return coverage(static_cast<double>(a.samples), static_cast<double>(below->first), below->second,
                  static_cast<double>(above->first), above->second);
}

// Whether a point is about the benchmark, checkpoint and effort that are asked for. For coverage, points with other
// numbers of samples are used too.
bool concerns(const ScorePoint& point, const workloads::Accuracy& a) {
  const bool selected =
      point.samples == 1 || a.select == Selection::unsaid || point.select == a.select;
  return point.benchmark == a.benchmark && matches(a.checkpoint, point.checkpoint) &&
         matches(a.effort, point.effort) && selected &&
         (point.samples == a.samples || a.select == Selection::coverage);
}

KnownScore published(const ScenarioView& s, const workloads::Accuracy& a) {
  const auto entry = score_book().models.find(s.model->id);
  if (entry == score_book().models.end() || !same_network(entry->second.model, *s.model)) {
    return {.gap = ScoreGap::model};
  }
  const ScorePoint* first = nullptr;
  BySamples scores;
  double tokens = std::nan("");
  ScoreGap gap = ScoreGap::model;
  for (const ScorePoint& point : entry->second.points) {
    if (!concerns(point, a)) {
      continue;
    }
    const bool same_precision =
        a.measured_in.empty()
            ? same_formats(score_book().precisions.find(point.precision)->second, *s.precision)
            : a.measured_in == point.precision;
    if (!same_precision) {
      gap = ScoreGap::precision;
      continue;
    }
    first = first == nullptr ? &point : first;
    const bool other = first->checkpoint != point.checkpoint || first->effort != point.effort ||
                       (point.samples == first->samples && first->select != point.select);
    if (other) {
      return {.gap = ScoreGap::several};
    }
    scores.emplace(point.samples, point.score);
    tokens = std::isnan(tokens) && point.tokens > 0.0 ? point.tokens : tokens;
  }
  const double percent = at_samples(scores, a);
  if (std::isnan(percent)) {
    return {.gap = gap};
  }
  tokens = std::isnan(tokens) && a.tokens > 0.0 ? a.tokens : tokens;
  return {.gap = ScoreGap::known, .percent = percent, .tokens = tokens};
}

// Score of the curve with this number of samples, linear in the logarithm of tokens. NaN outside the points.
double on_curve(const std::vector<workloads::CurvePoint>& curve, std::int64_t samples,
                double tokens) {
  const workloads::CurvePoint* below = nullptr;
  for (const workloads::CurvePoint& point : curve) {
    if (point.samples != samples) {
      continue;
    }
    if (point.tokens == tokens) {
      return point.score;
    }
    if (below != nullptr && point.tokens > tokens) {
      const double share =
          std::log(tokens / below->tokens) / std::log(point.tokens / below->tokens);
      return below->score + share * (point.score - below->score);
    }
    below = point.tokens < tokens ? &point : nullptr;
  }
  return std::nan("");
}

KnownScore own(const workloads::Accuracy& a, double tokens) {
  BySamples scores;
  for (const workloads::CurvePoint& point : a.curve) {
    const double percent = on_curve(a.curve, point.samples, tokens);
    if (!std::isnan(percent)) {
      scores.emplace(point.samples, percent);
    }
  }
  const double percent = at_samples(scores, a);
  if (std::isnan(percent)) {
    return {.gap = ScoreGap::curve};
  }
  return {.gap = ScoreGap::known, .percent = percent, .tokens = tokens};
}

}  // namespace

std::string_view reason(ScoreGap gap) {
  switch (gap) {
    case ScoreGap::not_requested:
    case ScoreGap::known:
      return {};
    case ScoreGap::model:
      return "no score of this benchmark is published for this model, effort and number of samples";
    case ScoreGap::precision:
      return "scores are published in other precisions only (accuracy.measured_in)";
    case ScoreGap::several:
      return "several scores are published: name accuracy.effort, accuracy.checkpoint or "
             "accuracy.select";
    case ScoreGap::curve:
      return "accuracy.curve does not reach this number of output tokens and samples";
  }
  return {};
}

KnownScore score_of(const ScenarioView& s) {
  if (s.accuracy == nullptr || (s.accuracy->benchmark.empty() && s.accuracy->curve.empty())) {
    return {};
  }
  const workloads::Accuracy& a = *s.accuracy;
  KnownScore score =
      a.curve.empty() ? published(s, a) : own(a, static_cast<double>(s.traffic->output_tokens));
  score.samples = static_cast<double>(a.samples);
  if (!s.traffic->arrivals) {
    score.rounds = std::ceil(score.samples / static_cast<double>(s.traffic->concurrency));
  }
  return score;
}

workloads::Traffic sampled_traffic(const workloads::Traffic& traffic, std::int64_t samples) {
  workloads::Traffic shared = traffic;
  const std::int64_t found = traffic.input_tokens - (traffic.input_tokens + samples - 1) / samples;
  shared.cached_tokens = std::max(traffic.cached_tokens, found);
  return shared;
}

}  // namespace roofcast::sim
