// SPDX-License-Identifier: Apache-2.0
#include "workloads/architecture/scores.hpp"

#include <algorithm>

namespace roofcast::workloads {

std::span<const base::CatalogEntry> embedded_scores();

base::Catalog score_catalog() { return {"scores", "score", embedded_scores()}; }

namespace {

constexpr base::Range kPercent{0.0, 100.0};

const base::Choices<Selection>& selections() {
  static const base::Choices<Selection> all = {{"vote", Selection::vote},
                                               {"coverage", Selection::coverage}};
  return all;
}

void read_point(base::Fields& g, ScorePoint& point) {
  g.text("benchmark", point.benchmark);
  g.text("effort", point.effort, base::optional);
  g.integer("samples", point.samples, base::at_least_one, base::optional);
  g.choice("select", point.select, selections(), base::optional);
  g.number("score", point.score, kPercent);
  g.number("tokens", point.tokens, base::positive, base::optional);
}

}  // namespace

void read(base::Fields& f, Scores& scores) {
  f.each("reports", [&](base::Fields& g) {
    ScorePoint common;
    std::string conditions;
    g.source();
    g.text("precision", common.precision);
    g.text("checkpoint", common.checkpoint, base::optional);
    g.text("conditions", conditions);
    g.each("points", [&](base::Fields& p) {
      ScorePoint point = common;
      read_point(p, point);
      scores.points.push_back(point);
    });
  });
}

Scores read_scores(const base::Node& document) {
  base::Problems problems;
  base::Fields fields(document, "", problems);
  Scores scores;
  read(fields, scores);
  fields.end();
  problems.throw_if_any();
  return scores;
}

void read(base::Fields& f, Accuracy& accuracy) {
  const bool own = f.has("curve");
  f.text("benchmark", accuracy.benchmark, own ? base::optional : base::required);
  f.integer("samples", accuracy.samples, base::at_least_one, base::optional);
  f.choice("select", accuracy.select, selections(), base::optional);
  if (!own) {
    f.text("checkpoint", accuracy.checkpoint, base::optional);
    f.text("effort", accuracy.effort, base::optional);
    f.text("measured_in", accuracy.measured_in, base::optional);
    f.number("tokens", accuracy.tokens, base::positive, base::optional);
    return;
  }
  f.each("curve", [&](base::Fields& g) {
    CurvePoint point;
    g.number("tokens", point.tokens, base::positive);
    g.number("score", point.score, kPercent);
    g.integer("samples", point.samples, base::at_least_one, base::optional);
    accuracy.curve.push_back(point);
  });
  std::stable_sort(accuracy.curve.begin(), accuracy.curve.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.tokens < b.tokens; });
}

}  // namespace roofcast::workloads
