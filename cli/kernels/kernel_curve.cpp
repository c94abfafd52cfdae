// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/kernel_curve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "base/units/unit_text.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kMostPoints = 10000;
constexpr double kLargest = 1e15;

struct Varied {
  std::string name;
  std::vector<std::string> values;
};

// "1..16384" of a dimension.
std::vector<std::string> doubled(const std::string& text, std::size_t dots, Unit unit,
                                 const base::Place& place, base::Problems& problems) {
  const std::string ends[] = {text.substr(0, dots), text.substr(dots + 2)};
  double numbers[2] = {};
  for (int i = 0; i < 2; ++i) {
    const bool bytes = unit == Unit::bytes;
    const base::ParsedQuantity end = base::parse_quantity(
        ends[i], bytes ? base::dimension_of<base::Bytes>() : base::Dimension{});
    if (!end.ok() || end.si <= 0.0 || end.si > kLargest) {
      problems.add(
          place, "",
          !end.ok() ? end.error : "a range begins and ends with numbers above 0, at most 1e15");
      return {};
    }
    numbers[i] = end.si;
  }
  if (numbers[0] > numbers[1]) {
    problems.add(place, "", "the range is upside down");
    return {};
  }
  const auto text_of = [&](double value) {
    return unit == Unit::bytes ? fmt::format("{:.15g} B", value) : fmt::format("{:.15g}", value);
  };
  std::vector<std::string> values;
  for (double value = numbers[0]; value < numbers[1]; value *= 2.0) {
    values.push_back(text_of(value));
  }
  values.push_back(text_of(numbers[1]));
  return values;
}

Varied varied_of(const KernelQuestion& q, base::Problems& problems) {
  const base::Place place{std::make_shared<const base::Source>(base::Source{"--vary", q.vary, {}}),
                          {}};
  const std::size_t equals = q.vary.find('=');
  Varied varied{q.vary.substr(0, equals), {}};
  std::vector<std::string> names = {"chip", "system", "stack"};
  Unit unit = Unit::format;  // words
  for (const Dimension& d : q.kind->dimensions) {
    names.push_back(d.name);
    unit = d.name == varied.name ? d.unit : unit;
  }
  if (std::find(names.begin(), names.end(), varied.name) == names.end()) {
    const auto near = base::nearest_name(varied.name, names);
    problems.add(
        place, "",
        near ? fmt::format("there is no \"{}\" to vary; did you mean \"{}\"?", varied.name, *near)
             : fmt::format("there is no \"{}\" to vary ({})", varied.name, fmt::join(names, ", ")));
    return varied;
  }
  if (equals == std::string::npos || equals + 1 == q.vary.size()) {
    problems.add(place, "", "expects NAME=A..B, or NAME=A,B,C");
    return varied;
  }
  const std::string text = q.vary.substr(equals + 1);
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos &&
      (unit == Unit::whole || unit == Unit::bytes || unit == Unit::number)) {
    varied.values = doubled(text, dots, unit, place, problems);
    return varied;
  }
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    varied.values.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  if (std::count(varied.values.begin(), varied.values.end(), "") > 0 ||
      varied.values.size() > kMostPoints) {
    problems.add(place, "", "expects a list without gaps, of at most 10,000 values: a,b");
  }
  return varied;
}

}  // namespace

KernelCurve kernel_curve(const KernelQuestion& question) {
  base::Problems problems;
  Varied varied{{}, {""}};
  if (!question.vary.empty()) {
    varied = varied_of(question, problems);
  }
  problems.throw_if_any();
  const bool of_platform =
      varied.name == "chip" || varied.name == "system" || varied.name == "stack";
  KernelCurve curve;
  curve.varied = varied.name;
  for (const std::string& value : varied.values) {
    KernelPoint point;
    point.value = value;
    point.shape = question.shape;
    PlatformNames names = question.platform;
    if (varied.name == "chip" || varied.name == "system") {
      names.chip = varied.name == "chip" ? value : "";
      names.system = varied.name == "system" ? value : "";
    } else if (varied.name == "stack") {
      names.stack = value;
    } else if (!varied.name.empty()) {
      point.shape[varied.name] = value;
    }
    const Shape shape(*question.kind, point.shape, problems);
    problems.throw_if_any();
    point.platform = of_platform || curve.points.empty() ? kernel_platform(names)
                                                         : curve.points.front().platform;
    point.op = question.kind->make(shape);
    point.kernel = explain_kernel(point.op, point.platform, question.choices);
    curve.points.push_back(std::move(point));
  }
  return curve;
}

}  // namespace roofcast::cli
