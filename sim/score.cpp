// SPDX-License-Identifier: Apache-2.0
#include "sim/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/nearest.hpp"
#include "sim/scenario.hpp"

namespace roofcast::sim {
namespace {

using workloads::ScorePoint;

struct Entry {
  workloads::Architecture model;  // as the catalog has it
  std::vector<ScorePoint> points;
};

struct Book {
  std::map<std::string, Entry, std::less<>> models;
  std::map<std::string, workloads::Precision, std::less<>> precisions;
  std::set<std::string> benchmarks;
};

template <class T>
T section(const std::string& name, const std::string& id,
          T (*read)(const base::Node&, base::Problems&)) {
  base::Problems problems;
  base::Node document = base::parse_document(id, fmt::format("{}: \"{}\"", name, id));
  load_references(document, problems);
  T value = read(document, problems);
  problems.throw_if_any();
  return value;
}

Book load_book() {
  Book book;
  for (const std::string& id : base::catalog_ids(workloads::score_catalog())) {
    base::Problems problems;
    const base::Node document = base::load_entry(workloads::score_catalog(), id);
    base::Fields fields(document, "", problems);
    workloads::Scores scores;
    read(fields, scores);
    fields.end();
    problems.throw_if_any();
    book.models[id] = {section("model", id, read_model), scores.points};
    for (const ScorePoint& point : scores.points) {
      book.benchmarks.insert(point.benchmark);
      if (book.precisions.count(point.precision) == 0) {
        book.precisions[point.precision] = section("precision", point.precision, read_precision);
      }
    }
  }
  return book;
}

const Book& book() {
  static const Book loaded = load_book();
  return loaded;
}

bool matches(const std::string& asked, const std::string& has) {
  return asked.empty() || asked == has;
}

KnownScore published(const ScenarioView& s, const workloads::Accuracy& a) {
  const auto entry = book().models.find(s.model->id);
  if (entry == book().models.end() || !same_network(entry->second.model, *s.model)) {
    return {.gap = ScoreGap::model};
  }
  const ScorePoint* found = nullptr;
  ScoreGap gap = ScoreGap::model;
  for (const ScorePoint& point : entry->second.points) {
    if (point.benchmark != a.benchmark || point.samples != a.samples ||
        !matches(a.checkpoint, point.checkpoint) || !matches(a.effort, point.effort)) {
      continue;
    }
    const bool same_precision =
        a.measured_in.empty()
            ? same_formats(book().precisions.find(point.precision)->second, *s.precision)
            : a.measured_in == point.precision;
    if (!same_precision) {
      gap = ScoreGap::precision;
    } else if (found == nullptr) {
      found = &point;
    } else if (found->checkpoint != point.checkpoint || found->effort != point.effort) {
      return {.gap = ScoreGap::several};
    }
  }
  if (found == nullptr) {
    return {.gap = gap};
  }
  return {.gap = ScoreGap::known,
          .percent = found->score,
          .tokens = found->tokens > 0.0 ? found->tokens : std::nan(""),
          .samples = static_cast<double>(found->samples)};
}

KnownScore on_curve(const workloads::Accuracy& a, double tokens) {
  const workloads::CurvePoint* below = nullptr;
  for (const workloads::CurvePoint& point : a.curve) {
    if (point.samples != a.samples) {
      continue;
    }
    if (point.tokens == tokens || (below != nullptr && point.tokens > tokens)) {
      const double share =
          below == nullptr || point.tokens == tokens
              ? 1.0
              : std::log(tokens / below->tokens) / std::log(point.tokens / below->tokens);
      const double from = below == nullptr ? point.score : below->score;
      return {.gap = ScoreGap::known,
              .percent = from + share * (point.score - from),
              .tokens = tokens,
              .samples = static_cast<double>(a.samples)};
    }
    below = point.tokens < tokens ? &point : nullptr;
  }
  return {.gap = ScoreGap::curve};
}

}  // namespace

std::string_view reason(ScoreGap gap) {
  switch (gap) {
    case ScoreGap::not_asked:
    case ScoreGap::known:
      return {};
    case ScoreGap::model:
      return "no score of this benchmark is published for this model and effort";
    case ScoreGap::precision:
      return "scores are published in other precisions only (accuracy.measured_in)";
    case ScoreGap::several:
      return "several scores are published: name accuracy.effort or accuracy.checkpoint";
    case ScoreGap::curve:
      return "accuracy.curve does not reach this number of output tokens";
  }
  return {};
}

KnownScore score_of(const ScenarioView& s) {
  if (s.accuracy == nullptr || (s.accuracy->benchmark.empty() && s.accuracy->curve.empty())) {
    return {};
  }
  return s.accuracy->curve.empty()
             ? published(s, *s.accuracy)
             : on_curve(*s.accuracy, static_cast<double>(s.traffic->output_tokens));
}

workloads::Accuracy read_accuracy(const base::Node& document, base::Problems& problems) {
  workloads::Accuracy accuracy;
  const base::Node* node = document.find("accuracy");
  if (node == nullptr || node->is_null()) {
    return accuracy;
  }
  base::Fields fields(*node, "accuracy", problems);
  read(fields, accuracy);
  fields.end();
  const auto check = [&](std::string_view key, const std::string& name, auto&& known) {
    std::vector<std::string> names;
    for (const auto& each : known) {
      names.push_back(each);
    }
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      const auto near = base::nearest_name(name, names);
      fields.problem(key, fmt::format("there is no score of \"{}\"{} (there are: {})", name,
                                      near ? fmt::format("; did you mean \"{}\"?", *near) : "",
                                      fmt::join(names, ", ")));
    }
  };
  try {
    std::set<std::string> precisions;
    for (const auto& [id, precision] : book().precisions) {
      precisions.insert(id);
    }
    if (accuracy.curve.empty()) {
      check("benchmark", accuracy.benchmark, book().benchmarks);
    }
    check("measured_in", accuracy.measured_in, precisions);
  } catch (const base::InputError& error) {
    problems.add_text(error.what());
  }
  return accuracy;
}

}  // namespace roofcast::sim
