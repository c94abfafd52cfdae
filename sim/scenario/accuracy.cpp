// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "sim/scenario/references.hpp"
#include "sim/scenario/section_readers.hpp"

namespace roofcast::sim {
namespace {

using workloads::ScorePoint;

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

ScoreBook load_book() {
  ScoreBook book;
  for (const std::string& id : base::catalog_ids(workloads::score_catalog())) {
    const workloads::Scores scores =
        workloads::read_scores(base::load_entry(workloads::score_catalog(), id));
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

}  // namespace

const ScoreBook& score_book() {
  static const ScoreBook loaded = load_book();
  return loaded;
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
    for (const auto& [id, precision] : score_book().precisions) {
      precisions.insert(id);
    }
    if (accuracy.curve.empty()) {
      check("benchmark", accuracy.benchmark, score_book().benchmarks);
    }
    check("measured_in", accuracy.measured_in, precisions);
  } catch (const base::InputError& error) {
    problems.add(error);
  }
  return accuracy;
}

}  // namespace roofcast::sim
