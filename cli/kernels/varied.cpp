// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels/varied.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/nearest.hpp"
#include "base/units/unit_text.hpp"
#include "sim/decide/solve.hpp"

namespace roofcast::cli {
namespace {

using Of = Varied::Of;

constexpr std::size_t kMostPoints = 10000;
constexpr double kLargest = 1e15;
constexpr double kEndRounding = 1e-9;
constexpr std::string_view kForm = "expects NAME=A..B, NAME=A..B+STEP or NAME=A,B,C";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string()
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// A text of --vary, in parts without blanks around them, and where its problems go.
struct VaryText {
  base::Source source;
  std::string name;
  std::string values;  // empty: there is none
  std::string step;    // behind a range: "+256"; empty: it doubles
  bool range = false;
  base::Problems& problems;

  VaryText(const std::string& text, base::Problems& all)
      : source{"--vary", text, {}}, problems(all) {
    const std::size_t equals = std::min(text.find('='), text.size());
    name = trimmed(text.substr(0, equals));
    values = trimmed(text.substr(std::min(equals + 1, text.size())));
    const std::size_t dots = values.find("..");
    range = dots != std::string::npos;
    // The plus of 1e+3 is part of a number.
    const std::size_t plus = range ? values.rfind('+') : std::string::npos;
    if (plus != std::string::npos && plus > dots + 2 && values[plus - 1] != 'e') {
      step = trimmed(values.substr(plus + 1));
      values = trimmed(values.substr(0, plus));
      problem_if(step.empty(), "expects a step behind +: A..B+STEP");
    }
  }
  void problem_if(bool wrong, std::string_view message) const {
    if (wrong) {
      problems.add({std::make_shared<const base::Source>(source), {}}, "", std::string(message));
    }
  }
};

// low, low + step … or 2 · low …, and high.
std::vector<std::string> values_between(const VaryText& text, double low, double high, double step,
                                        const std::function<std::string(double)>& text_of) {
  std::vector<std::string> values;
  if (!text.step.empty() && !(step > 0.0)) {
    text.problem_if(true, "expects a step above 0");
    return values;
  }
  const double end = high * (1.0 - kEndRounding);
  double value = low;
  for (double i = 1.0; value < end && values.size() <= kMostPoints; i += 1.0) {
    values.push_back(text_of(value));
    value = text.step.empty() ? 2.0 * value : low + i * step;
  }
  values.push_back(text_of(high));
  return values;
}

std::vector<std::string> range_of(const VaryText& text, Unit unit) {
  const std::size_t dots = text.values.find("..");
  const std::string ends[] = {trimmed(text.values.substr(0, dots)),
                              trimmed(text.values.substr(dots + 2)),
                              text.step.empty() ? "1" : text.step};
  double numbers[3] = {};
  const bool bytes = unit == Unit::bytes;
  for (int i = 0; i < (text.step.empty() ? 2 : 3); ++i) {
    const base::ParsedQuantity end = base::parse_quantity(
        ends[i], bytes ? base::dimension_of<base::Bytes>() : base::Dimension{});
    if (!end.ok() || end.si <= 0.0 || end.si > kLargest) {
      text.problem_if(true, !end.ok()
                                ? end.error
                                : "a range begins and ends with numbers above 0, at most 1e15");
      return {};
    }
    numbers[i] = end.si;
  }
  if (numbers[0] > numbers[1]) {
    text.problem_if(true, "the range is upside down");
    return {};
  }
  return values_between(text, numbers[0], numbers[1], numbers[2], [&](double value) {
    return bytes ? fmt::format("{:.15g} B", value) : fmt::format("{:.15g}", value);
  });
}

// A step has the unit of the range, or none: "50 W", "x0.25", "8".
double step_of(const VaryText& text, sim::KnobRange& range) {
  std::string_view step = text.step;
  if (step.starts_with(range.before)) {
    step.remove_prefix(range.before.size());
  }
  if (step.ends_with(range.after)) {
    step.remove_suffix(range.after.size());
    step = step.substr(0, step.find_last_not_of(' ') + 1);
  }
  double value = 0.0;
  const auto [end, fault] = std::from_chars(step.data(), step.data() + step.size(), value);
  text.problem_if(!text.step.empty() && (fault != std::errc() || end != step.data() + step.size()),
                  fmt::format("expects a step in the unit of the range, not \"{}\"", text.step));
  range.whole = range.whole && value == std::floor(value);
  return value;
}

std::vector<std::string> knob_values(const VaryText& text, const PlatformNames& on) {
  const base::Node document = text.range ? kernel_document(on) : base::Node();
  const std::size_t before = text.problems.size();
  sim::KnobRange range =
      sim::parse_knob_range({"--vary", text.name + "=" + text.values, {}}, document, text.problems);
  if (text.problems.size() > before || !text.range) {
    return range.listed;
  }
  const double step = step_of(text, range);
  return values_between(text, range.low, range.high, step,
                        [&](double value) { return range.text(value); });
}

std::vector<std::string> list_of(const VaryText& text) {
  std::vector<std::string> values;
  for (std::size_t from = 0; from <= text.values.size();) {
    const std::size_t to = std::min(text.values.find(',', from), text.values.size());
    values.push_back(trimmed(text.values.substr(from, to - from)));
    from = to + 1;
  }
  text.problem_if(std::count(values.begin(), values.end(), "") > 0 || values.size() > kMostPoints,
                  "expects a list without gaps, of at most 10,000 values: a,b");
  return values;
}

}  // namespace

std::vector<Varied> varied_of(const std::vector<std::string>& texts, const KernelKind& kind,
                              const PlatformNames& on) {
  base::Problems problems;
  std::map<std::string, std::pair<Of, Unit>> kinds = {{"system", {Of::system, Unit::format}},
                                                      {"stack", {Of::stack, Unit::format}}};
  if (kind.sends) {
    kinds["algorithm"] = {Of::algorithm, Unit::format};
    kinds["protocol"] = {Of::protocol, Unit::format};
  } else {
    kinds["chip"] = {Of::chip, Unit::format};
  }
  if (kind.tiles) {
    kinds["tile"] = {Of::tile, Unit::format};
  }
  std::vector<std::string> names;
  for (const Dimension& d : kind.dimensions) {
    kinds[d.name] = {Of::dimension, d.unit};
  }
  for (const auto& [name, of] : kinds) {
    names.push_back(name);
  }
  PlatformNames first = on;
  std::vector<Varied> all;
  double count = 1.0;
  for (const std::string& written : texts) {
    const VaryText text(written, problems);
    const auto found = kinds.find(text.name);
    const bool knob = found == kinds.end() && is_kernel_knob(text.name);
    if (found == kinds.end() && !knob) {
      const auto near = base::nearest_name(text.name, names);
      text.problem_if(
          true,
          near ? fmt::format("there is no \"{}\" to vary; did you mean \"{}\"?", text.name, *near)
               : fmt::format("there is no \"{}\" to vary ({}, or a knob of the system: "
                             "system.chip.compute.sms)",
                             text.name, fmt::join(names, ", ")));
      continue;
    }
    text.problem_if(text.values.empty(), kForm);
    text.problem_if(
        std::any_of(all.begin(), all.end(), [&](const Varied& v) { return v.name == text.name; }),
        fmt::format("varies {} twice", text.name));
    if (problems.size() > 0) {
      continue;
    }
    Varied& varied = all.emplace_back();
    varied.name = text.name;
    varied.of = knob ? Of::knob : found->second.first;
    const Unit unit = knob ? Unit::format : found->second.second;
    const bool number = unit == Unit::whole || unit == Unit::bytes || unit == Unit::number;
    varied.values = knob                   ? knob_values(text, first)
                    : text.range && number ? range_of(text, unit)
                                           : list_of(text);
    if (!varied.values.empty()) {
      vary(first, varied, varied.values.front());
    }
    count *= static_cast<double>(varied.values.size());
    text.problem_if(count > kMostPoints, "makes more than 10,000 points");
  }
  if (texts.size() > 2) {
    problems.add_text("error: at most two --vary\n");
  }
  problems.throw_if_any();
  return all;
}

void vary(PlatformNames& names, const Varied& varied, const std::string& value) {
  if (varied.of == Of::chip || varied.of == Of::system) {
    names.chip = varied.of == Of::chip ? value : "";
    names.system = varied.of == Of::system ? value : "";
  } else if (varied.of == Of::stack) {
    names.stack = value;
  } else if (varied.of == Of::knob) {
    names.varied.push_back(fmt::format("{}={}", varied.name, value));
  }
}

}  // namespace roofcast::cli
