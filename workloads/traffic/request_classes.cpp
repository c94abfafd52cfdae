// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/request_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/document/problems.hpp"

namespace roofcast::workloads {
namespace {

constexpr base::Range kPriority{0.0, 1e6};
constexpr base::Range kWeight{1.0, 1e9};

void read(base::Fields& f, Objectives& o) {
  f.quantity("ttft", o.ttft);
  f.quantity("tpot", o.tpot);
  f.quantity("end_to_end", o.end_to_end);
}

bool has_priority(const RequestClasses& classes, std::int64_t priority) {
  return std::any_of(classes.begin(), classes.end(),
                     [&](const RequestClass& each) { return each.priority == priority; });
}

RequestClasses read_priorities(base::Fields& f) {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> weights;
  f.integers("values", values, kPriority, base::required);
  f.integers("weights", weights, kWeight, base::required);
  if (f.has("values") && f.has("weights") && (values.empty() || values.size() != weights.size())) {
    f.problem("weights", "must be as many as values: how often each is drawn");
  }
  RequestClasses classes;
  for (std::size_t i = 0; i < std::min(values.size(), weights.size()); ++i) {
    if (has_priority(classes, values[i])) {
      f.problem("values", fmt::format("{} is there twice", values[i]));
    }
    classes.push_back({std::to_string(values[i]), values[i], static_cast<double>(weights[i]), {}});
  }
  return classes;
}

// `others` are the classes before it.
RequestClass read_class(base::Fields& f, const RequestClasses& others) {
  RequestClass c;
  f.text("name", c.name);
  f.integer("priority", c.priority, kPriority);
  std::int64_t weight = 1;
  f.integer("weight", weight, kWeight);
  c.share = static_cast<double>(weight);
  f.group(
      "objectives", [&](base::Fields& g) { read(g, c.objectives); }, base::optional);
  for (const RequestClass& other : others) {
    if (f.has("priority") && other.priority == c.priority) {
      f.problem("priority", fmt::format("class \"{}\" has it too; it tells which class a request "
                                        "is of",
                                        other.name));
    }
    if (f.has("name") && other.name == c.name) {
      f.problem("name", "another class has it too");
    }
  }
  return c;
}

}  // namespace

bool any_objective(const RequestClasses& classes) {
  return std::any_of(classes.begin(), classes.end(),
                     [](const RequestClass& each) { return each.objectives.any(); });
}

std::size_t class_of(const RequestClasses& classes, std::int64_t priority) {
  if (classes.size() <= 1) {
    return 0;
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].priority == priority) {
      return i;
    }
  }
  throw base::InputError(fmt::format(
      "error: a request has the priority {}, which none of traffic.classes has\n", priority));
}

RequestClasses read_objectives(base::Fields& f) {
  Objectives all;
  f.group(
      "objectives", [&](base::Fields& g) { read(g, all); }, base::optional);
  return all.any() ? RequestClasses{{.objectives = all}} : RequestClasses{};
}

RequestClasses read_classes(base::Fields& f) {
  const RequestClasses all = read_objectives(f);
  RequestClasses classes;
  if (f.has("priorities")) {
    f.group("priorities", [&](base::Fields& g) { classes = read_priorities(g); });
    if (f.has("classes")) {
      f.problem("priorities", "is not for a traffic with classes: they say their priorities");
    }
  }
  f.each(
      "classes", [&](base::Fields& g) { classes.push_back(read_class(g, classes)); },
      base::optional);
  double weights = 0.0;
  for (const RequestClass& each : classes) {
    weights += each.share;
  }
  for (RequestClass& each : classes) {
    each.share /= weights;
    if (!each.objectives.any() && !all.empty()) {
      each.objectives = all.front().objectives;
    }
  }
  return classes.empty() ? all : classes;
}

}  // namespace roofcast::workloads
